"""The largest values of totals over ranges in two memory reports: where sizes have bounds these are what a
report says first, and a bound that is raised changes them and no formula.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from relax_lint.support.lazy_dataclass import record

Bounds: TypeAlias = tuple[tuple[str, "int | None", "int | None"], ...]
"""The ranges of symbols: name, least and greatest value."""


@record(frozen=True)
class Maximum:
    """The largest value of a total in bytes, over the ranges `within`: those that are `declared` in the
    function, or that were asked for.
    """

    bytes: int
    within: Bounds = ()
    declared: bool = True

    def is_comparable(self, other: Maximum) -> bool:
        """Whether the two are of the same ranges, or each of the one that its program declares."""
        return self.within == other.within or (self.declared and other.declared)


Maxima: TypeAlias = Mapping[str, "Maximum | None"]
"""By the name of the total; None where only a limit is known, which need not be reached."""


def is_declared(within: Bounds, symbols: Mapping[str, tuple[int | None, int | None]]) -> bool:
    """Whether ranges are those that a function declares of its symbols."""
    return all(
        name in symbols and (symbols[name][0] or 0, symbols[name][1]) == (low or 0, high)
        for name, low, high in within
    )


def changed_maxima(old: Maxima, new: Maxima) -> Iterator[tuple[str, int | None, int | None]]:
    """The totals whose largest value is not what it was, with the old one and the new one; None where nothing
    bounds it.
    """
    asked = any(one is not None and not one.declared for one in (*old.values(), *new.values()))
    for figure in dict.fromkeys((*old, *new)):
        before, after = old.get(figure), new.get(figure)
        if before is not None and after is not None:
            if before.is_comparable(after) and before.bytes != after.bytes:
                yield figure, before.bytes, after.bytes
        elif not asked and (before is None) != (after is None) and not (figure in old and figure in new):
            yield figure, None if before is None else before.bytes, None if after is None else after.bytes
