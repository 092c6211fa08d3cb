"""A tensor is overwritten by one call and, before it is read there, by the call that reads it."""

from tests.oracle.program import Function, Kernel, Program, Storage, Tensor

PROGRAM = Program(
    (
        Function(
            "f",
            (
                Storage("s0_memory", "memory", "128"),
                Tensor("t1", "memory", "s0_memory", "0", ("4",)),
                Kernel("w2", "fill", ("t1",)),
                Tensor("t3", "memory", "s0_memory", "8", ("4",)),
                Kernel("w4", "fill", ("t3",)),
                Kernel("w5", "accumulate", ("t1", "t3")),
            ),
            ("x",),
        ),
    )
)
