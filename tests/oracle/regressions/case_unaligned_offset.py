"""A kernel works on other bytes than those of a tensor whose offset is no multiple of an element."""

from tests.oracle.program import Function, Kernel, Program, Storage, Tensor

PROGRAM = Program(
    (
        Function(
            "f",
            (
                Storage("s0_memory", "memory", "n * 16 + 1"),
                Tensor("t1", "memory", "s0_memory", "n", ("(n + 3) // 2",)),
                Kernel("w6", "fill", ("t1",)),
            ),
            ("t1",),
        ),
    )
)
