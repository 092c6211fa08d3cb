"""One finding for one cause: what a module declares once and says in several functions is told once. Imports
neither TVM nor sympy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace

from relax_lint.results.check import Check, Related, is_finding
from relax_lint.results.verdict import Severity
from relax_lint.rule import load_rules

_NAMED = 3
_BOUNDS = "bounds"


def one_finding_per_cause(checks: Iterable[Check]) -> tuple[Check, ...]:
    """The checks, of which those of one cause are reported with the first of them, which counts them."""
    found = list(checks)
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for index, check in enumerate(found):
        if is_finding(check) and (rule := load_rules().get(check.rule)) is not None and rule.once_per_module:
            groups[check.rule, check.path, check.module, check.label].append(index)
    for first, *others in groups.values():
        if others:
            found[first] = _told_for_all(found[first], [found[index] for index in others])
        for index in others:
            found[index] = replace(found[index], severity=Severity.NONE)
    return tuple(_one_per_source(found))


def _one_per_source(found: list[Check]) -> Iterator[Check]:
    """The notes on sizes whose symbols are computed in one place are one note."""
    groups: dict[Hashable, list[Check]] = defaultdict(list)
    for check in found:
        if (source := _source(check)) is not None:
            groups[source].append(check)
    for check in found:
        group = groups.get(_source(check), [])
        if len(group) < 2:
            yield check
        elif check is group[0]:
            conditions = [one.safe_when for one in group[1:] if one.safe_when not in (None, check.safe_when)]
            further = tuple(f"another needs {condition}" for condition in dict.fromkeys(conditions))
            count = f"{len(group)} checks depend on what is computed here"
            yield replace(check, notes=(*check.notes, count, *further))
        else:
            yield replace(check, severity=Severity.NONE)


def _source(check: Check) -> Hashable:
    """Where the symbols of a note on a size come from; None for any other check."""
    rule = load_rules().get(check.rule)
    is_note = is_finding(check) and check.severity is Severity.NOTE and check.safe_when is not None
    if not is_note or rule is None or rule.family != _BOUNDS or not check.origins:
        return None
    places = frozenset(origin.message.partition(" comes from ")[2] for origin in check.origins)
    return (check.path, check.module, check.function, places)


def _told_for_all(first: Check, others: list[Check]) -> Check:
    elsewhere = list(dict.fromkeys(o.function for o in others if o.function not in (None, first.function)))
    if not elsewhere:
        return first
    names = ", ".join(f"`{name}`" for name in elsewhere[:_NAMED])
    more = f" and {len(elsewhere) - _NAMED} more" if len(elsewhere) > _NAMED else ""
    functions = f"{len(elsewhere)} more function{'' if len(elsewhere) == 1 else 's'}"
    places = {o.function: Related(f"the same in `{o.function}`", o.location) for o in reversed(others)}
    related = [places[name] for name in elsewhere[:_NAMED] if places[name].location is not None]
    return replace(
        first,
        related=(*first.related, *related),
        notes=(*first.notes, f"the same in {functions}: {names}{more}"),
    )
