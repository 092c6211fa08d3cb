"""What the tests of a rule package call: the judgements of a rule on a program and on its page's examples.

from relax_lint.rules.testing import assert_judgements, judgements, page_examples
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from relax_lint.api import check
from relax_lint.results.check import Check
from relax_lint.rule import Rule, load_rules

_MARKER = re.compile(
    r"# (?P<rule>[A-Z]+\d+): (?P<verdict>always-wrong|always-fine|needs-runtime-check)"
    r"(?:, safe iff (?P<condition>.+))?$"
)
_EXAMPLE = re.compile(r"^```python\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, order=True)
class LineJudgement:
    """What a rule says of the operation on one line (1-based); `condition` is the safe region."""

    line: int
    rule: str
    verdict: str
    condition: str = ""


def judgements(rule: Rule, program: str | Path, settings: Mapping[str, Any] | None = None) -> list[Check]:
    """Every judgement of a rule on a program, safe ones too, in the order of the text.

    `program` is the text of a TVMScript file, or its path; `settings` are keys of `[tool.relax-lint]`.
    Raises AssertionError where the rule is not installed or part of the program cannot be read.
    """
    assert load_rules().get(rule.code) is rule, (
        f"{rule.code} is not installed: run `pip install -e .` in the folder of the package"
    )
    wanted = {**(settings or {}), "select": [rule.code]}
    if isinstance(program, Path):
        checks = check(program, wanted).checks
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "program.py")
            path.write_text(program, encoding="utf-8")
            checks = check(path, wanted).checks
    unread = [one for one in checks if one.rule != rule.code]
    assert not unread, "\n".join(f"{one.rule}: {one.message}" for one in unread)
    return sorted(checks, key=lambda one: (_line(one), one.binding or ""))


def assert_judgements(rule: Rule, program: str, settings: Mapping[str, Any] | None = None) -> None:
    """Compare the judgements of a rule on a program with the comments in its text.

    A comment `# CODE: VERDICT` or `# CODE: VERDICT, safe iff CONDITION` at the end of a line states the
    judgement on the operation of that line. An operation without a comment has to be `always-fine` or
    not judged. Raises AssertionError with both lists where they differ.
    """
    found = [_judgement(one) for one in judgements(rule, program, settings)]
    stated = sorted(_stated(program))
    lines = {one.line for one in stated}
    said = sorted({one for one in found if one.line in lines or one.verdict != "always-fine"})
    assert said == stated, f"{rule.code} says\n  {said}\nthe comments say\n  {stated}"


def page_examples(rule: Rule) -> list[str]:
    """The Python blocks on the page of a rule, each a whole program for `assert_judgements`."""
    return [match["text"] for match in _EXAMPLE.finditer(rule.page.read_text(encoding="utf-8"))]


def _stated(program: str) -> Iterator[LineJudgement]:
    for number, line in enumerate(program.splitlines(), start=1):
        if match := _MARKER.search(line):
            yield LineJudgement(number, match["rule"], match["verdict"], match["condition"] or "")


def _judgement(found: Check) -> LineJudgement:
    return LineJudgement(_line(found), found.rule, found.verdict.value, found.safe_when or "")


def _line(found: Check) -> int:
    return 0 if found.location is None else found.location.line
