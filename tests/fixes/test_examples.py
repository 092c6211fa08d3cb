"""Every fix on every example of every rule page: the finding goes away, and nothing else comes."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from relax_lint.repair.apply import apply_edits, proposals
from relax_lint.results.check import Check, Fix
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config, with_options
from tests.fixes.fixing import findings, fixed, judged, judged_once
from tests.pages.page import Example, Page, examples, pages

_VALUES: dict[str, Any] = {"true": True, "false": False}
# What cannot be analysed has no fix, and TVM crashes on some of it.
EXAMPLES = [example for example in examples() if not example.planned and not example.name.startswith("RLX90")]
# A bound that TVM knows from now on is a bound that nothing enforces.
_COMES_WITH_A_RENAMED_BOUND = "RLX501"
# What a page says of fixes that none of its examples has.
_WITHOUT_EXAMPLE = {
    "RLX101": {"unsafe"},  # Giving up a memory plan.
    "RLX404": {"safe", "unsafe"},  # A check of a symbolic extent of `uint1`.
    "RLX905": {"safe"},  # Comments are not changed in what these tests fix.
}


def _config(example: Example) -> Config:
    return with_options(Config(), {key: _VALUES.get(value, [value]) for key, value in example.options})


def _subject(check: Check) -> tuple[str, str | None, str | None]:
    return check.rule, check.function, check.binding


def _tally(checks: list[Check]) -> Counter[tuple[str, str | None, str | None]]:
    return Counter(map(_subject, checks))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_all_fixes_together_leave_nothing_that_has_a_fix(example: Example) -> None:
    config = _config(example)
    before = findings(example.text, config)
    file = fixed(example.text, config, unsafe=True)
    after = findings(file.text, config)
    assert not proposals(after, unsafe=True)
    assert not _tally(after) - _tally(before)
    fixable = [check for check in before if any(fix.edits for fix in check.fixes)]
    assert file.fixed >= len({_subject(check) for check in fixable})
    verdicts = {_subject(check): check.verdict for check in judged(file.text, config).checks}
    gone = _tally(before) - _tally(after)
    assert {verdicts.get(subject, Verdict.ALWAYS_FINE) for subject in gone} <= {Verdict.ALWAYS_FINE}
    assert all(gone[_subject(check)] for check in fixable)
    assert fixed(file.text, config, unsafe=True).text == file.text


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.code)
def test_a_page_tells_how_safe_its_fixes_are(page: Page) -> None:
    (said,) = re.findall(
        r"^Automatic fix: (.*?)\n\n", page.path.read_text(encoding="utf-8"), re.DOTALL | re.M
    )
    offered = {
        fix.applicability
        for example in page.examples
        if example in EXAMPLES
        for check in findings(example.text, _config(example))
        for fix in check.fixes
        if check.rule == page.code and fix.edits
    }
    told = set(re.findall(r"\bsafe\b|\bunsafe\b", said))
    assert offered == told - _WITHOUT_EXAMPLE.get(page.code, set())
    assert bool(told) == (said != "none.")


def before_forks() -> None:
    """What is said with a fault in the engine is not what was said without."""
    judged_once.cache_clear()


def _single_fixes() -> list[Any]:
    found = []
    for example in EXAMPLES:
        for number, check in enumerate(findings(example.text, _config(example))):
            for fix in check.fixes:
                if fix.edits:
                    name = f"{example.name}-{check.rule}-{number}-{fix.title[:20]}"
                    found.append(pytest.param(example, check, fix, id=name.replace(" ", "_")))
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The single fixes are known only after judging every example."""
    if "fix" in metafunc.fixturenames:
        metafunc.parametrize(("example", "check", "fix"), _single_fixes())


def test_a_fix_alone_does_what_it_says(example: Example, check: Check, fix: Fix) -> None:
    config = _config(example)
    text = apply_edits(example.text, fix.edits)
    before, after = _tally(findings(example.text, config)), _tally(findings(text, config))
    assert after[_subject(check)] < before[_subject(check)] or after.total() < before.total()
    came = {rule for rule, *_ in after - before}
    if check.rule == "RLX502":
        came -= {_COMES_WITH_A_RENAMED_BOUND}
    assert not came
