"""The totals of several functions, by name as well as by position."""

from __future__ import annotations

from typing import SupportsIndex, overload

from relax_lint.results.memory_figures import MemoryTotals
from relax_lint.results.notebook import memory_html
from relax_lint.results.plain import to_json


class MemoryReport(tuple[MemoryTotals, ...]):
    """A tuple of totals; `report["main"]` is that of a function, `report["Module.main"]` where several
    modules have one.
    """

    __slots__ = ()

    @overload
    def __getitem__(self, key: SupportsIndex) -> MemoryTotals: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[MemoryTotals, ...]: ...
    @overload
    def __getitem__(self, key: str) -> MemoryTotals: ...
    def __getitem__(self, key: SupportsIndex | slice | str) -> MemoryTotals | tuple[MemoryTotals, ...]:
        """Totals by position, or by the name of the function. Raises KeyError where no function, or more than
        one, has it.
        """
        if not isinstance(key, str):
            return super().__getitem__(key)
        found = [each for each in self if key in (each.function, f"{each.module}.{each.function}")]
        if len(found) != 1:
            names = ", ".join(".".join(filter(None, (each.module, each.function))) for each in self)
            number = "no function is" if not found else f"{len(found)} functions are"
            raise KeyError(f"{number} named `{key}`; there are: {names or 'none'}")
        return found[0]

    def to_json(self) -> str:
        """The totals as JSON, field for field."""
        return to_json(tuple(self))

    def _repr_html_(self) -> str:
        return memory_html(self)
