"""Disagreement: not always wrong: ('f', 'RLX205', 't0') at Point(m=0, n=0, k=-2, c=False): evaluator says fine, [Check(rule='RLX205', name='uninitialised-read', verdict=<Verdict.ALWAYS_WRONG: 'always-wrong'>, severity=<Severity.ERROR: 'error'>, message='`t0` is returned before anything is written to i"""

from tests.oracle.program import Function, Kill, Program, Storage, Tensor

PROGRAM = Program(
    functions=(
        Function(
            name="f",
            steps=(
                Tensor(name="t0", level="builtin", storage=None, offset="0", shape=("4",), dtype="float32"),
                Storage(name="s2_memory", level="memory", size="m * 8 + 32", dtype="uint8"),
                Tensor(
                    name="t3", level="memory", storage="s2_memory", offset="0", shape=("4",), dtype="float32"
                ),
                Kill(name="d4", kind="tensor", target="t3"),
            ),
            result=("t0", "x", "t3"),
            upper=(),
        ),
    )
)
