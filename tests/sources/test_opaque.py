"""What cannot be read is an unknown value: the rest of its unit is judged, and it is said what depends on it."""

from __future__ import annotations

import pytest

from relax_lint.judging.report import check_parsed
from relax_lint.results.check import Check
from relax_lint.results.problem import Problem
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.settings.config import Config
from relax_lint.sources.lowering import lower_unit
from relax_lint.sources.opaque.reading import read_unit
from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import ParsedUnit

HEAD = """from tvm.script import ir as I, relax as R, tirx as T
from helpers import helper, SIZE, NAME
import mine

@I.ir_module
class M:
"""
TOO_SMALL = """
    @R.function(pure=False)
    def small(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        s = R.memory.alloc_storage(R.shape([8]), 0, "global", "float32")
        a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
        return a
"""
MAIN = """
    @R.function
    def main(x: R.Tensor((4,), "float32")):
{0}        return x
"""
KERNEL = """
    @T.prim_func
    def k(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        {0}
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        y = R.call_tir(cls.k, (x,), out_ty=R.Tensor((4,), "float32"))
        return y
"""


def body(*lines: str) -> str:
    return MAIN.format("".join(f"        {line}\n" for line in lines))


UNKNOWN = {
    "an operator": body("y = R.nn.later(x)", "z = R.add(y, x)"),
    "an operator with a type": body('y: R.Tensor((4,), "float32") = R.later(x)', "z = R.add(y, x)"),
    "an operator in a block": body(
        "with R.dataflow():",
        '    y: R.Tensor((4,), "float32") = R.later(x, axis=1)',
        "    z = R.add(y, x)",
        "    R.output(z)",
    ),
    "an operator of a pair": body("a, b = R.later(x)", "z = R.add(x, x)"),
    "an operator of no result": body("R.later(x)"),
    "an attribute of an operator": body("y = R.nn.relu(x, later=3)"),
    "an attribute of a function": body('R.func_attr({"a": 1, "b": helper(3)})'),
    "a helper function": body("y = helper(x)", "z = R.add(y, y)"),
    "the name of a packed function": body(
        'y = R.call_packed(NAME, x, ty_args=R.Tensor((4,), "float32"))', "z = R.add(y, x)"
    ),
    "an extent": body("y = R.zeros(R.shape([SIZE]), 'float32')").replace(
        'x: R.Tensor((4,), "float32")', 'x: R.Tensor((SIZE, 4), "float32")'
    ),
    "a shape": body().replace('x: R.Tensor((4,), "float32")', 'x: R.Tensor(SIZE, "float32")'),
    "a condition": body("if helper(x):", "    y = R.add(x, x)", "else:", "    y = R.multiply(x, x)"),
    "a constant without a type": body('y = R.add(x, metadata["ir.GenericConst"][0])'),
    "a constant with a type": body('y: R.Tensor((4,), "float32") = R.add(x, metadata["ir.GenericConst"][0])'),
    "a target": KERNEL.format(
        'T.func_attr({"target": T.target("later")})\n        for i in range(4):\n            B[i] = A[i]'
    ),
    "an intrinsic": KERNEL.format("T.later(A.data)"),
    "a device": '    I.module_global_infos({"vdevice": [I.vdevice("later")]})\n'
    + body('y = R.to_vdevice(x, "later:0")').replace('"float32")', '"float32", "later:0")'),
    "an allocation": body(
        's = R.memory.alloc_storage(R.shape([SIZE]), 0, "global", "float32")',
        'a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")',
    ).replace("@R.function", "@R.function(pure=False)"),
    "a decorator": body().replace("@R.function", "@helper"),
}


def unit_of(text: str) -> ParsedUnit | Problem:
    found = read_units(text.encode(), "m.py")
    assert found.problems == ()
    return read_unit(found.units[0])


def checks_of(text: str) -> tuple[Check, ...]:
    return check_parsed(unit_of(text), "m.py", Config()).checks


def told(checks: tuple[Check, ...]) -> list[Check]:
    return [check for check in checks if check.severity is not Severity.NONE]


@pytest.mark.parametrize("what", sorted(UNKNOWN))
def test_what_is_not_known_costs_nothing_else(what: str) -> None:
    text = HEAD + UNKNOWN[what] + TOO_SMALL
    assert isinstance(parse_unit(read_units(text.encode(), "m.py").units[0]), Problem)
    checks = told(checks_of(text))
    (note,) = [check for check in checks if check.rule.startswith("RLX9")]
    assert (note.rule, note.severity, note.verdict) == (
        "RLX902",
        Severity.NOTE,
        Verdict.NEEDS_RUNTIME_CHECK,
    )
    assert "judged in part" in note.message
    assert "`main`" in note.notes[-1]
    # The other function is judged as if it were alone.
    alone = [(c.rule, c.message) for c in told(checks_of(HEAD + TOO_SMALL))]
    assert [(c.rule, c.message) for c in checks if c.function == "small"] == alone


@pytest.mark.parametrize("what", sorted(UNKNOWN))
def test_nothing_worse_than_a_note_is_said_of_what_is_not_known(what: str) -> None:
    checks = told(checks_of(HEAD + UNKNOWN[what] + TOO_SMALL))
    assert {check.severity for check in checks if check.function != "small"} == {Severity.NOTE}


def test_verdicts_list_what_was_not_read() -> None:
    text = HEAD + body(
        "y = helper(x)",
        's = R.memory.alloc_storage(R.shape([16]), 0, "global", "float32")',
        'a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")',
    ).replace("@R.function", "@R.function(pure=False)")
    checks = [check for check in checks_of(text + TOO_SMALL) if check.verdict is Verdict.ALWAYS_FINE]
    assert checks
    for check in checks:
        expected = ["`helper` is unknown" in fact for fact in check.assumes]
        assert any(expected) is (check.function == "main")


def test_callers_depend_on_what_they_call() -> None:
    text = (
        HEAD
        + """
    @R.function
    def apart(x: R.Tensor((4,), "float32")):
        y = R.add(x, x)
        return y

    @R.function
    def inner(x: R.Tensor((4,), "float32")):
        y = R.later(x)
        return y

    @R.function
    def outer(x: R.Tensor((4,), "float32")):
        cls = M
        y = cls.inner(x)
        return y
"""
    )
    parsed = unit_of(text)
    assert isinstance(parsed, ParsedUnit)
    assert set(parsed.depends) == {"inner", "outer"}
    lowered = lower_unit(parsed, "llvm")
    assert isinstance(lowered, ParsedUnit)
    assert set(lowered.depends) >= {"apart", "inner", "outer"}


WRONG = (
    HEAD
    + """
    @R.function
    def wrong(x: R.Tensor((2, 3), "float32")):
        y = R.matmul(x, x)
        z = R.add(y, y)
        return z

    @R.function
    def typo(x: R.Tensor((4,), "float32")):
        y = R.add(x, xx)
        return y
"""
)


def test_what_is_wrong_stays_an_error_and_costs_nothing_else() -> None:
    checks = told(checks_of(WRONG + TOO_SMALL))
    problems = [(c.rule, c.severity.value, c.location.line) for c in checks if c.location and c.rule > "RLX9"]
    # What follows from a mistake is not another one.
    assert problems == [("RLX901", "error", 10), ("RLX902", "error", 16)]
    assert [c.rule for c in checks if c.function == "small"] == ["RLX101", "RLX205"]


def test_what_would_be_executed_stays_refused() -> None:
    text = HEAD + body('y = __import__("os").getpid()', "z = mine.helper(x)") + TOO_SMALL
    checks = told(checks_of(text))
    assert [c.rule for c in checks if c.rule > "RLX9"] == ["RLX903", "RLX903"]
    assert "RLX101" in {c.rule for c in checks}


def test_a_unit_of_which_nothing_is_left() -> None:
    (check,) = told(checks_of(HEAD + body("while x:", "    y = R.add(x, x)")))
    assert (check.rule, check.severity) == ("RLX901", Severity.ERROR)
    assert check.proof == "the block cannot be analysed"


def test_names_of_underscores_are_names() -> None:
    text = HEAD + body("__ = R.add(x, x)", "___ = R.add(__, x)", "_ = R.add(___, x)")
    found = unit_of(text)
    assert isinstance(found, ParsedUnit)
    assert found.skipped == ()


def test_many_unknown_operators_are_one_note() -> None:
    lines = [f"y{i} = R.later(x)" for i in range(150)] + [f"z{i} = R.later{i}(x)" for i in range(20)]
    (note,) = told(checks_of(HEAD + body(*lines)))
    assert "and 20 more" in note.message


def test_a_kernel_that_is_not_read_still_fills_what_the_machine_allocates() -> None:
    parsed = unit_of(HEAD + UNKNOWN["an intrinsic"])
    assert isinstance(parsed, ParsedUnit)
    (binding,) = parsed.ir_module["main"].body.blocks[0].bindings
    assert binding.value.op.name == "relax.call_dps_packed"
