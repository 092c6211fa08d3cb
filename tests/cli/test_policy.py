"""What the configuration makes of findings: severities, ignores by file, assumptions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import relax_lint
from relax_lint.results.check import Check
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.settings.assumption import AssumptionError, symbols_in
from relax_lint.settings.config import Config, with_options
from tests.cli.conftest import OVERFLOW, Run

Write = Callable[[str, str | bytes], str]


@pytest.fixture(scope="module")
def overflow() -> Any:
    from tvm.script import from_source

    return from_source(OVERFLOW.split("\n\n\n")[1])


def the_overflow(module: Any, options: dict[str, Any]) -> Check:
    report = relax_lint.check(module, with_options(Config(), options))
    (check,) = [check for check in report.checks if check.rule == "RLX101"]
    return check


def test_the_longest_code_decides_the_severity(overflow: Any) -> None:
    assert the_overflow(overflow, {}).severity is Severity.WARNING
    assert the_overflow(overflow, {"severities": {"RLX1": "note"}}).severity is Severity.NOTE
    both = {"RLX101": "error", "RLX1": "note"}
    assert the_overflow(overflow, {"severities": both}).severity is Severity.ERROR
    assert the_overflow(overflow, {"severities": {"RLX102": "error"}}).severity is Severity.WARNING


def test_what_is_fine_has_no_severity(overflow: Any) -> None:
    report = relax_lint.check(overflow, with_options(Config(), {"severities": {"RLX": "error"}}))
    fine = [check for check in report.checks if check.verdict is Verdict.ALWAYS_FINE]
    assert fine
    assert {check.severity for check in fine} == {Severity.NONE}


@pytest.mark.parametrize(
    "options",
    [
        {"assume": ["m <= 4"]},
        {"assume": ["m < 100", "m * m <= 24"]},
        {"assume-in": {"main": ["m <= 4"]}},
        {"assume-in": {"main": ["0 < m <= 4 or m == 2"]}},
        {"assume": ["m <= 4"], "trust-declared-bounds": False},
    ],
)
def test_a_verdict_lists_the_assumptions_that_it_needs(overflow: Any, options: dict[str, Any]) -> None:
    check = the_overflow(overflow, options)
    assert check.verdict is Verdict.ALWAYS_FINE
    assert len(check.assumes) == 1
    assert check.assumes[0].endswith(" (configuration, not enforced)")
    # What an allocator does when nobody keeps to it.
    assert check.allocators["naive"].first_failure == {"m": 5}


def test_an_assumption_about_another_function_is_not_used(overflow: Any) -> None:
    assert the_overflow(overflow, {"assume-in": {"other": ["m <= 4"]}}).verdict is not Verdict.ALWAYS_FINE


def test_assumptions_of_a_file(run: Run, write: Write) -> None:
    write("model.py", OVERFLOW)
    write("pyproject.toml", '[tool.relax-lint.assume-in]\nModule.main = ["m <= 4"]\n')
    assert run("model.py").returncode == 0
    result = run("model.py", "--assume", "k <= 9", "--assume", "m < 0")
    assert result.returncode == 1
    assert "the assumption `k <= 9` matches no function: none has its symbols\n" in result.stdout
    assert (
        "model.py: the assumption `m < 0`, `m <= 4` in `Module.main` excludes every input of `main`: ignored there\n"
        in result.stdout
    )
    wrong = run("model.py", "--assume", "m <= open('x')")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "`open('x')` is not an integer expression" in wrong.stderr


def test_ignores_by_file_are_relative_to_the_file_that_has_them(
    run: Run, write: Write, tmp_path: Path
) -> None:
    for name in ("a/model.py", "a/b/model.py", "a/other.py"):
        write(name, OVERFLOW)
    write("lint.toml", '[tool.relax-lint.per-file-ignores]\n"a/b/*" = ["RLX1"]\n"other.py" = ["RLX101"]\n')
    result = run("--quiet", "--config", "lint.toml", "a")
    assert [line for line in result.stdout.splitlines() if "-->" in line] == ["  --> a/model.py:10:17"]
    # What is ignored by file is off even where it is selected by its whole code.
    assert run("--config", "lint.toml", "--select", "RLX101", str(tmp_path / "a" / "b")).returncode == 0


def test_codes_of_the_configuration_must_exist(run: Run, write: Write) -> None:
    write("a.py", "")
    for text in ('severities = {RLX777 = "note"}', 'per-file-ignores = {"a.py" = ["RLX777"]}'):
        write("pyproject.toml", f"[tool.relax-lint]\n{text}\n")
        result = run("a.py")
        assert result.returncode == 2
        assert "unknown rule `RLX777`" in result.stderr


EXPRESSIONS = st.recursive(
    st.sampled_from(["n", "m", "0", "7"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%", "/", "&", "**"]), inner).map(" ".join),
        st.tuples(st.sampled_from(["min", "Max", "abs"]), inner, inner).map(
            lambda p: "{}({}, {})".format(*p)
        ),
        inner.map("-({})".format),
        inner.map("({}) ** 2".format),
    ),
    max_leaves=6,
)
COMPARISONS = st.tuples(EXPRESSIONS, st.sampled_from(["<", "<=", "==", "!=", "is"]), EXPRESSIONS).map(
    " ".join
)
CONDITIONS = st.recursive(
    COMPARISONS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(" ".join),
        inner.map("not ({})".format),
        st.tuples(inner, inner).map(lambda p: "({}) & ({})".format(*p)),
    ),
    max_leaves=3,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(CONDITIONS)
def test_whatever_is_accepted_can_be_read(text: str) -> None:
    import sympy

    from relax_lint.symbolic.parsing import parse_condition

    try:
        names = symbols_in(text)
    except AssumptionError:
        return
    parse_condition(text, {name: sympy.Symbol(name, integer=True) for name in names})
