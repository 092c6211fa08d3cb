"""Checks that made an assertion of the author's redundant were taken back, and the finding stayed."""

from tests.oracle.program import Function, Guard, Kernel, Program, Storage, Tensor

PROGRAM = Program(
    (
        Function(
            "f",
            (
                Storage("s0_memory", "memory", "16"),
                Tensor("t1", "memory", "s0_memory", "0", ("m",)),
                Kernel("w2", "fill", ("t1",)),
                Guard("g3", "m <= 5"),
            ),
            ("t1",),
        ),
    )
)
STRATEGY = "assert"
