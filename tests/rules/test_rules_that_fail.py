"""A rule of another package that fails costs what it would have said, and nothing that other rules say."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import relax_lint
from relax_lint import cli, rule
from tests.rules.checking import parse

GROUP = rule.ENTRY_POINT_GROUP
PROGRAM = """
@R.function(pure=False)
def main(x: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
    m = T.int64()
    storage = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("float32"))
    alloc = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([m]), R.dtype("float32"))
    R.call_packed("fill", x, alloc, ty_args=R.Tuple())
    return alloc
"""
MODULE = """
import sympy
from relax_lint.rules import Claim, Judgement, Message, Rule

def check(facts):
    for op in facts.tensors:
        decision = facts.judge(Claim(sympy.false, facts.entry))
        {body}

def rule(**others):
    kept = dict(code="ACME101", name="acme-rule", family="acme", summary="a summary", since="1.0.0")
    return Rule(**{{**kept, "source": __file__, "check": check, **others}})

RULES = {rules}
"""
SAID = "yield Judgement(op.place, decision, Message('of acme'))"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module with rules beside the built-in ones; the tests write it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    entries = [*rule._entry_points(), EntryPoint("acme", "failing_rules", GROUP)]
    monkeypatch.setattr(rule, "_entry_points", lambda: entries)
    rule.load_rules.cache_clear()
    yield tmp_path / "failing_rules.py"
    sys.modules.pop("failing_rules", None)
    rule.load_rules.cache_clear()


def _findings(package: Path, body: str) -> dict[str, list[str]]:
    package.write_text(MODULE.format(body=body, rules="(rule(),)"), encoding="utf-8")
    report = relax_lint.check(parse(PROGRAM), {"select": ["RLX101", "ACME"]})
    found: dict[str, list[str]] = {}
    for one in report.findings:
        found.setdefault(one.rule, []).append(one.message)
    return found


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("raise ValueError('no\\nyes')", "ValueError: no ({}:8)"),
        ("raise ValueError", "ValueError ({}:8)"),
        ("raise SystemExit(3)", "SystemExit: 3 ({}:8)"),
        ("check(facts).__next__(); yield", "RecursionError: maximum recursion depth exceeded"),
        ("yield facts.no_such_fact", "'FunctionFacts' object has no attribute 'no_such_fact' ({}:8)"),
        ("yield Judgement(op.place, facts.judge(5), Message('x'))", "({}:8)"),
        ("yield 42", "it yields an int, not a `Judgement`"),
        ("yield None", "it yields a NoneType, not a `Judgement`"),
        ("yield Judgement(op, decision, Message('x'))", "with an AllocTensor as its `place`"),
        ("yield Judgement(op.place, True, Message('x'))", "with a bool as its `decision`"),
        ("yield Judgement(op.place, decision, 'x')", "with a str as its `message`"),
        (
            "yield Judgement(op.place, decision, Message('x'), location=1)",
            "with an int as its `location`",
        ),
        ("yield Judgement(op.place, decision, Message(5))", "a `Message` with an int in its `text`"),
        ("yield Judgement(op.place, decision, Message('x', label=5))", "with an int in its `label`"),
        ("yield Judgement(op.place, decision, Message('x', help='do'))", "with a str as its `help`"),
        ("yield Judgement(op.place, decision, Message('x', notes=(5,)))", "with an int in its `notes`"),
    ],
)
def test_a_failure_is_told_beside_what_others_say(package: Path, body: str, told: str) -> None:
    found = _findings(package, body)
    assert found.keys() == {"RLX101", "RLX904"}
    (message,) = found["RLX904"]
    assert message.startswith("the rule ACME101 failed on `main`: ")
    assert told.format(package) in message
    assert "\n" not in message


def test_what_it_said_before_it_failed_is_kept(package: Path) -> None:
    found = _findings(package, f"{SAID}\n        raise KeyError('x')")
    assert found["ACME101"] == ["of acme"]
    assert found.keys() == {"RLX101", "RLX904", "ACME101"}


def test_one_that_does_not_end_is_stopped(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relax_lint.judging.asking.MAX_JUDGEMENTS", 3)
    found = _findings(package, f"while True: {SAID}")
    assert len(found["ACME101"]) == 3
    assert found["RLX904"] == ["the rule ACME101 failed on `main`: more than 3 judgements"]


def test_one_that_works_is_no_failure(package: Path) -> None:
    assert _findings(package, SAID).keys() == {"RLX101", "ACME101"}


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ("(rule(code=5),)", "whose code is 5, which is not made of capital letters and digits"),
        ("(rule(code='acme-1'),)", "whose code is 'acme-1', which is not"),
        ("(rule(code=''),)", "whose code is '', which is not"),
        ("(rule(code='RLX777'),)", "whose code is RLX777: the prefix `RLX` is that of the rules that come"),
        ("(rule(name='two\\nlines'),)", "(ACME101) whose `name` is not one line of text"),
        ("(rule(summary=3),)", "(ACME101) whose `summary` is not one line of text"),
        ("(rule(check=None),)", "(ACME101) whose `check` is not a function"),
        ("(rule(severity='warning'),)", "(ACME101) whose `severity` does not map verdicts to severities"),
        ("(rule(severity={1: 2}),)", "(ACME101) whose `severity` does not map verdicts to severities"),
    ],
)
def test_a_declaration_that_cannot_be_used_is_told(
    package: Path, rules: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    package.write_text(MODULE.format(body=SAID, rules=rules), encoding="utf-8")
    assert cli.main(["rules"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("relax-lint: error: the rule package `failing_rules` has a `Rule` in `RULES` ")
    assert told in error
    assert error.count("\n") == 1
