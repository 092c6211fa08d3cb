"""Disagreement: missed: ('f', 'RLX201', 'd10') at Point(m=0, n=0, k=-2, c=False): evaluator says wrong, []"""

from tests.oracle.program import Branch, Function, Kill, Other, Program, Storage, Tensor

PROGRAM = Program(
    functions=(
        Function(
            name="f",
            steps=(
                Storage(name="s0_memory", level="memory", size="m * 4 + 64", dtype="uint8"),
                Tensor(
                    name="t1",
                    level="memory",
                    storage="s0_memory",
                    offset="0",
                    shape=("m + 1",),
                    dtype="float32",
                ),
                Other(name="o3", kind="alias", source="t1"),
                Branch(
                    name="b15",
                    then=(),
                    other=(
                        Branch(name="b11", then=(), other=(Kill(name="d10", kind="tensor", target="t1"),)),
                    ),
                ),
            ),
            result=("t1", "o3", "o3"),
            upper=(),
        ),
    )
)
