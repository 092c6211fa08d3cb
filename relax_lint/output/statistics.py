"""How many findings each rule has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from relax_lint.output.style import Style
from relax_lint.results.check import Check


def rule_lines(findings: Iterable[Check], style: Style) -> Iterator[str]:
    """A line for each rule, the most frequent first: how often, its code, whether `--fix` mends all (`*`) or
    some (`-`) of it, and its name; then what the marks mean, where there are any.
    """
    found = list(findings)
    counts = Counter(check.rule for check in found)
    fixable = Counter(check.rule for check in found if _is_fixable(check))
    names = {check.rule: check.name for check in found}
    width = max((len(f"{number:,}") for number in counts.values()), default=0)
    for rule, number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        mark = " " if not fixable[rule] else "*" if fixable[rule] == number else "-"
        yield f"{number:{width},}  {style.paint('strong', rule)}  [{mark}] {names[rule]}"
    if fixable:
        meant = (
            " ([-]: some of them)" if any(fixable[rule] not in (0, counts[rule]) for rule in counts) else ""
        )
        yield f"[*] can be fixed with `--fix`{meant}"


def _is_fixable(check: Check) -> bool:
    return any(fix.edits and fix.applicability == "safe" for fix in check.fixes)
