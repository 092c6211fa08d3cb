"""What TVM's parser refuses because of memory is a finding of the rule about it, beside RLX901."""

from __future__ import annotations

import pytest

from relax_lint.judging.report import check_parsed
from relax_lint.results.verdict import Severity
from relax_lint.settings.config import Config
from relax_lint.sources.opaque.reading import read_unit
from relax_lint.sources.reading import read_units

TEXT = """from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class M:
    @T.prim_func
    def k(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i]

    @R.function(pure=False)
    def callee(x: R.Tensor((4,), "float32")):
        return x

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((8,), "float32"), i: R.Tensor((4,), "int32")):
        cls = M
        {0}
        return x
"""


def told(text: str, config: Config) -> list[tuple[str, str, int]]:
    found = read_units(text.encode(), "m.py")
    checks = check_parsed(read_unit(found.units[0]), "m.py", config).checks
    return [
        (check.rule, check.severity.value, check.location.line)
        for check in checks
        if check.location is not None and check.severity is Severity.ERROR
    ]


@pytest.mark.parametrize(
    ("statement", "rule"),
    [
        ("z = R.memory.view(x, R.shape([8]))", "RLX304"),
        ('z = R.memory.view(x, R.shape([2]), "float32", 12)', "RLX304"),
        ("z = R.reshape(x, R.shape([3]))", "RLX304"),
        ("z = cls.k(x)", "RLX301"),
        ("z = cls.callee(x, y)", "RLX301"),
        ("z = cls.callee(y)", "RLX301"),
        ("z = cls.callee(i)", "RLX302"),
    ],
)
def test_a_refusal_carries_the_rule_about_memory(statement: str, rule: str) -> None:
    text = TEXT.format(statement)
    assert told(text, Config()) == [(rule, "error", 17), ("RLX901", "error", 17)]
    assert told(text, Config(select=("RLX3",), ignore=("RLX901",))) == [(rule, "error", 17)]
    assert told(text, Config(ignore=("RLX3",))) == [("RLX901", "error", 17)]


@pytest.mark.parametrize("result", ["R.Tensor((5,), 'float32')", "R.Tensor((4,), 'int32')"])
def test_a_kernel_that_does_not_fit_is_found_once(result: str) -> None:
    text = TEXT.format(f"z = R.call_tir(cls.k, (x,), out_ty={result})")
    assert len([rule for rule, _, _ in told(text, Config()) if rule.startswith("RLX3")]) == 1


@pytest.mark.parametrize("statement", ["z = R.matmul(x, y)", "z = R.add(x, y)", "z = R.add(x, i)"])
def test_other_refusals_carry_none(statement: str) -> None:
    assert {rule for rule, _, _ in told(TEXT.format(statement), Config())} == {"RLX901"}
