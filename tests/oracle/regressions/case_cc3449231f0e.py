"""FlakyFailure: Hypothesis search(program=Program(functions=(Function(name='f',"""

from tests.oracle.program import Branch, Cast, Function, Guard, Kernel, Kill, Other, Program, Storage, Tensor

PROGRAM = Program(
    functions=(
        Function(
            name="f",
            steps=(
                Storage(name="s0_vm", level="vm", size="128", dtype="uint8"),
                Tensor(name="t1", level="vm", storage="s0_vm", offset="0", shape=("m",), dtype="float32"),
                Guard(name="g2", condition="T.And(m >= 0, m <= 1)"),
                Branch(
                    name="b10",
                    then=(
                        Kernel(name="w3", kernel="fill", arguments=("t1",)),
                        Tensor(
                            name="t4",
                            level="builtin",
                            storage=None,
                            offset="0",
                            shape=("m + 1",),
                            dtype="float32",
                        ),
                        Tensor(
                            name="t5", level="vm", storage="s0_vm", offset="8", shape=("m",), dtype="float32"
                        ),
                        Kernel(name="w6", kernel="fill", arguments=("t5",)),
                    ),
                    other=(
                        Kill(name="d7", kind="tensor", target="t1"),
                        Tensor(
                            name="t8", level="vm", storage="s0_vm", offset="0", shape=("4",), dtype="float32"
                        ),
                        Kernel(name="w9", kernel="fill", arguments=("t8",)),
                    ),
                ),
            ),
            result=("x",),
            upper=(("n", 4),),
        ),
        Function(
            name="g",
            steps=(
                Storage(name="s0_memory", level="memory", size="n - 1", dtype="uint8"),
                Tensor(
                    name="t1",
                    level="memory",
                    storage="s0_memory",
                    offset="0",
                    shape=("n % 1",),
                    dtype="float32",
                ),
                Kernel(name="w2", kernel="double", arguments=("t1", "t1")),
                Kill(name="d3", kind="tensor", target="t1"),
                Cast(name="u4", extent="n"),
                Other(name="o5", kind="copy", source="t1"),
                Guard(name="g6", condition="k * 4 <= 0"),
                Tensor(
                    name="t7", level="builtin", storage=None, offset="0", shape=("m - 5", "m"), dtype="int8"
                ),
                Cast(name="u8", extent="n + 1"),
            ),
            result=("t1", "o5"),
            upper=(("n", 2),),
        ),
    )
)
