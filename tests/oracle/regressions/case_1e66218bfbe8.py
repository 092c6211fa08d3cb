"""FlakyFailure: Hypothesis search(program=Program(functions=(Function(name='f',"""

from tests.oracle.program import Branch, Function, Kernel, Other, Program, Storage, Tensor

PROGRAM = Program(
    functions=(
        Function(
            name="f",
            steps=(
                Storage(name="s0_vm", level="vm", size="128", dtype="uint8"),
                Tensor(name="t1", level="vm", storage="s0_vm", offset="0", shape=("4",), dtype="float32"),
                Branch(
                    name="b8",
                    then=(
                        Kernel(name="w2", kernel="fill", arguments=("t1",)),
                        Tensor(
                            name="t3",
                            level="builtin",
                            storage=None,
                            offset="0",
                            shape=("m",),
                            dtype="float32",
                        ),
                        Kernel(name="w4", kernel="fill", arguments=("t3",)),
                        Other(name="o5", kind="alias", source="t3"),
                    ),
                    other=(
                        Storage(name="s6_vm", level="vm", size="m * 4 + 64", dtype="uint8"),
                        Tensor(
                            name="t7",
                            level="vm",
                            storage="s6_vm",
                            offset="0",
                            shape=("m + 1",),
                            dtype="float32",
                        ),
                    ),
                ),
            ),
            result=("x", "t1", "t1"),
            upper=(("m", 4),),
        ),
    )
)
