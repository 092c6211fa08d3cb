"""A kernel that works element by element on overlapping tensors is right where it writes behind what it reads."""

from tests.oracle.program import Function, Kernel, Program, Storage, Tensor

PROGRAM = Program(
    (
        Function(
            "f",
            (
                Storage("s0_memory", "memory", "64"),
                Tensor("t1", "memory", "s0_memory", "0", ("4",)),
                Tensor("t2", "memory", "s0_memory", "8", ("4",)),
                Kernel("w3", "fill", ("t2",)),
                Kernel("w4", "double", ("t2", "t1")),
            ),
            ("t1",),
        ),
    )
)
