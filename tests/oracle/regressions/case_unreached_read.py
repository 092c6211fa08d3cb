"""The only report of an unwritten tensor was at a read that no input reaches; its return was not reported."""

from tests.oracle.program import Branch, Function, Guard, Kernel, Program, Storage, Tensor

PROGRAM = Program(
    (
        Function(
            "f",
            (
                Storage("s0_memory", "memory", "m * 8 + 32"),
                Tensor("t1", "memory", "s0_memory", "0", ("m",)),
                Branch("b2", (), (Guard("g3", "n < n"), Kernel("w4", "double", ("t1", "t1")))),
            ),
            ("t1",),
        ),
    )
)
