"""Rules on a terminal: the list of them, and the Markdown page of one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from relax_lint.output.sarif_rules import page_of
from relax_lint.output.style import Style
from relax_lint.output.wrapping import fold, visible_width
from relax_lint.results.verdict import Verdict
from relax_lint.rule import FixAvailability, Rule
from relax_lint.support.escaping import json_text

_FIX = {FixAvailability.ALWAYS: "fix", FixAvailability.SOMETIMES: "fix?", FixAvailability.NEVER: ""}


def page_text(markdown: str, style: Style, folder: Path) -> str:
    """The page as a terminal shows it; the Markdown itself where there is neither a terminal nor colour.
    `folder` is where its relative links begin.
    """
    if style.color or style.columns is not None:
        from relax_lint.output.markdown import terminal_text

        return terminal_text(markdown, style, folder)
    return markdown if markdown.endswith("\n") else f"{markdown}\n"


def rules_text(rules: Iterable[Rule], style: Style) -> str:
    """One line for each rule: code, name, whether there is a fix, and what it is about."""
    all_rules = list(rules)
    name_width = max((len(rule.name) for rule in all_rules), default=0)
    lines = []
    for rule in all_rules:
        code = style.link(style.paint("strong", rule.code), page_address(rule))
        head = f"{code}  {rule.name:<{name_width}}  {_FIX[rule.fix]:<4}  "
        lines += fold(f"{head}{rule.summary}", style.columns, visible_width(head))
    return "".join(f"{line}\n" for line in lines)


def page_address(rule: Rule) -> str:
    """The address of the page of a rule, which is installed with it."""
    return rule.page.absolute().as_uri()


def rules_json(rules: Iterable[Rule]) -> str:
    """All rules as a JSON array."""
    described = [
        {
            "code": rule.code,
            "name": rule.name,
            "family": rule.family,
            "summary": rule.summary,
            "since": rule.since,
            "kind": rule.kind.value,
            "fix": rule.fix.value,
            "default": rule.default,
            "severity": {verdict.value: rule.severity_of(verdict).value for verdict in Verdict},
            "page": page_of(rule),
        }
        for rule in rules
    ]
    lines = ",\n".join(map(json_text, described))
    return f"[\n{lines}\n]\n"
