"""Write docs/rules.md, the index of the rules, and the pictures of the documentation.

python -m tools.doc_tables

`make pages` runs it; a test compares the index and the pictures with what it would write.
"""

from __future__ import annotations

import os
from pathlib import Path

from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import Kind, Rule, load_rules
from relax_lint_rules import RULES
from tools import pictures

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "rules.md"

_HEAD = """# Rules

<!-- Written by `make pages` from what the rules declare. -->

Every rule judges every operation that it concerns and gives [one of three verdicts](verdicts.md). `relax-lint explain CODE` prints the page of
a rule. The severities are those of `always-wrong` and of `needs-runtime-check`; what is only *undecided* is a note.

"""


def index() -> str:
    """The text of the page: a table for each family."""
    own = {rule.code for rule in RULES}
    rules = [rule for code, rule in load_rules().items() if code in own]
    families = list(dict.fromkeys(rule.family for rule in rules))
    parts = [_HEAD]
    for family in families:
        parts.append(
            f"## {family.capitalize()}\n\n| code | what | severity | fix | since |\n|---|---|---|---|---|\n"
        )
        parts += [_row(rule) for rule in rules if rule.family == family]
        parts.append("\n")
    parts.append("(1) off by default: `--select CODE` or `select` in the configuration switches it on.\n")
    return "".join(parts)


def _row(rule: Rule) -> str:
    page = os.path.relpath(rule.page, PAGE.parent).replace(os.sep, "/")
    off = "" if rule.default else " (1)"
    cells = (
        f"[{rule.code}]({page}) `{rule.name}`{off}",
        rule.summary,
        _severities(rule),
        rule.fix.value,
        rule.since,
    )
    return f"| {' | '.join(cells)} |\n"


def _severities(rule: Rule) -> str:
    wrong = rule.severity_of(Verdict.ALWAYS_WRONG)
    some = rule.severity_of(Verdict.NEEDS_RUNTIME_CHECK)
    if wrong is some or rule.kind is Kind.PROBLEM or some is Severity.NONE:
        return wrong.value
    return f"{wrong.value}, {some.value}"


def main() -> int:
    """Write the page and the pictures."""
    PAGE.write_text(index(), encoding="utf-8")
    return pictures.main()


if __name__ == "__main__":
    raise SystemExit(main())
