"""A bound on which a tensor relied only behind the other fixes stayed unchecked: its check makes an assertion
redundant.
"""

from tests.oracle.program import Function, Guard, Program, Storage, Tensor

PROGRAM = Program(
    (
        Function(
            "g",
            (
                Storage("s0_memory", "memory", "k - 3"),
                Tensor("t1", "memory", "s0_memory", "k", ("n*m",)),
                Guard("g2", "m <= 5"),
                Tensor("t8", "builtin", None, "0", ("k * 3",)),
            ),
            ("t1", "t1", "t8"),
            (("m", 4),),
        ),
    )
)
STRATEGY = "dynamic"
