from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import relax_lint
from relax_lint.results.check import Check
from relax_lint.results.problem import ProblemKind
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import FixAvailability, Kind, Rule, load_rules
from relax_lint.settings.config import Config, with_options

from .page import Example, Judgement, examples
from .planned import planned

EXAMPLES = examples()
_RARELY_FIXED = ("RLX404",)
"""Rules whose fix no page shows."""
_VALUES: dict[str, Any] = {"true": True, "false": False}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every example as a file of its own, one folder for each set of options."""
    root = tmp_path_factory.mktemp("examples")
    for example in EXAMPLES:
        file = _file(root, example)
        file.parent.mkdir(exist_ok=True)
        file.write_text(planned(example.text) if example.planned else example.text, encoding="utf-8")
    return root


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_judgements_are_those_that_are_marked(example: Example, folder: Path) -> None:
    found = _judgements(_file(folder, example).parent, example.options).get(example.name, [])
    marked = example.judgements
    if example.planned:
        # What was planned has no lines of its own.
        marked = [replace(judgement, line=0) for judgement in marked]
    reported = [judgement for judgement in found if judgement.verdict != "always-fine"]
    assert sorted(reported) == sorted(j for j in marked if j.verdict != "always-fine")
    assert {j for j in marked if j.verdict == "always-fine"} <= set(found)


def _file(root: Path, example: Example) -> Path:
    options = "_".join("-".join(option) for option in example.options) or "default"
    return root / options / f"{example.name}.{'json' if example.planned else 'py'}"


@cache
def _judgements(folder: Path, options: tuple[tuple[str, str], ...]) -> dict[str, list[Judgement]]:
    """What the linter says of every file in a folder, by the stem of the file."""
    found: dict[str, list[Judgement]] = {}
    for check in _checks(folder, options):
        saved = check.path.endswith(".json")
        assert saved or check.location is not None, check
        line = 0 if saved or check.location is None else check.location.line
        judgement = Judgement(line, check.rule, check.verdict.value, (check.safe_when or ""))
        found.setdefault(Path(check.path).stem, []).append(judgement)
    return found


@cache
def _checks(folder: Path, options: tuple[tuple[str, str], ...]) -> tuple[Check, ...]:
    settings = {key: _VALUES.get(value, [value]) for key, value in options}
    return relax_lint.check(str(folder), with_options(Config(), settings)).checks


@pytest.mark.parametrize("rule", load_rules().values(), ids=lambda rule: rule.code)
def test_a_rule_declares_what_it_reports(rule: Rule, folder: Path) -> None:
    """Its kind, and whether its findings come with a fix: over the examples of all pages."""
    folders = {(_file(folder, example).parent, example.options) for example in EXAMPLES}
    checks = [check for each in sorted(folders) for check in _checks(*each) if check.rule == rule.code]
    wrong = [check for check in checks if check.verdict is not Verdict.ALWAYS_FINE]
    assert wrong
    with_fix = [check for check in wrong if check.fixes]
    if rule.fix is FixAvailability.ALWAYS:
        assert with_fix == wrong
    elif rule.fix is FixAvailability.NEVER:
        assert with_fix == []
    elif rule.code not in _RARELY_FIXED:
        assert with_fix
    if rule.kind is Kind.NOTE:
        assert {check.severity for check in wrong} == {Severity.NOTE}
    assert (rule.kind is Kind.PROBLEM) == (rule.name in {kind.value for kind in ProblemKind})
