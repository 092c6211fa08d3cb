"""Rules on a terminal: the list of them, and the Markdown page of one."""

from __future__ import annotations

from collections.abc import Iterable

from relax_lint.output.style import Style
from relax_lint.rule import FixAvailability, Rule

_FIX = {FixAvailability.ALWAYS: "fix", FixAvailability.SOMETIMES: "fix?", FixAvailability.NEVER: ""}


def page_text(markdown: str, style: Style) -> str:
    """The page with headings and fences in colour. Without colour it is the Markdown itself."""
    lines = []
    in_code = False
    for line in markdown.splitlines():
        if line.startswith("```"):
            in_code = not in_code
            lines.append(style.paint("frame", line))
        elif line.startswith("#") and not in_code:
            lines.append(style.paint("strong", line))
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def rules_text(rules: Iterable[Rule], style: Style) -> str:
    """One line for each rule: code, name, whether there is a fix, and what it is about."""
    all_rules = list(rules)
    name_width = max((len(rule.name) for rule in all_rules), default=0)
    return "".join(
        f"{style.paint('strong', rule.code)}  {rule.name:<{name_width}}  {_FIX[rule.fix]:<4}  "
        f"{rule.summary}\n"
        for rule in all_rules
    )
