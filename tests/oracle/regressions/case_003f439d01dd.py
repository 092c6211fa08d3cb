"""FlakyFailure: Hypothesis search(program=Program(functions=(Function(name='f',"""

from tests.oracle.program import Branch, Cast, Function, Guard, Program, Storage, Tensor

PROGRAM = Program(
    functions=(
        Function(
            name="f",
            steps=(
                Tensor(name="t0", level="builtin", storage=None, offset="0", shape=("k * 4",), dtype="int8"),
                Storage(name="s1_memory", level="memory", size="m % 3 * 4", dtype="uint8"),
                Tensor(
                    name="t2",
                    level="memory",
                    storage="s1_memory",
                    offset="0",
                    shape=("3", "T.min(n, 8)"),
                    dtype="int8",
                ),
                Storage(name="s3_memory", level="memory", size="(k + 1) // 1 * 16", dtype="uint8"),
                Tensor(
                    name="t4", level="memory", storage="s3_memory", offset="0", shape=("1",), dtype="float64"
                ),
                Branch(
                    name="b14",
                    then=(Cast(name="u5", extent="n"),),
                    other=(
                        Branch(
                            name="b13",
                            then=(
                                Guard(name="g6", condition="k >= 1"),
                                Storage(name="s7_memory", level="memory", size="m - 4", dtype="uint8"),
                                Tensor(
                                    name="t8",
                                    level="memory",
                                    storage="s7_memory",
                                    offset="0",
                                    shape=("2",),
                                    dtype="float32",
                                ),
                            ),
                            other=(
                                Cast(name="u9", extent="n * 2"),
                                Storage(name="s10_memory", level="memory", size="n * m", dtype="uint8"),
                                Tensor(
                                    name="t11",
                                    level="memory",
                                    storage="s10_memory",
                                    offset="0",
                                    shape=("4", "n + 8"),
                                    dtype="float64",
                                ),
                                Guard(name="g12", condition="T.And(m >= 0, m <= 8)"),
                            ),
                        ),
                    ),
                ),
                Tensor(name="t15", level="builtin", storage=None, offset="0", shape=("m",), dtype="float32"),
            ),
            result=("t15", "x", "x"),
            upper=(),
        ),
    )
)
