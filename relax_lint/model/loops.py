"""Loop variables of a kernel: their ranges, and the range of an index that is built from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sympy

from relax_lint.symbolic.functions import FloorDiv


@dataclass(frozen=True)
class Range:
    """The integers from `first` to `last`; it is empty when `last` < `first`."""

    first: sympy.Expr
    last: sympy.Expr

    @property
    def extent(self) -> sympy.Expr:
        """The number of integers."""
        return self.last - self.first + 1


class Loops:
    """The symbols of one kernel: those of its signature, and its loop variables with their ranges."""

    def __init__(self) -> None:
        self._symbols: dict[Any, sympy.Symbol] = {}
        self._names: set[str] = set()
        self._ranges: dict[sympy.Symbol, Range] = {}
        self._signature: frozenset[sympy.Symbol] = frozenset()

    def symbol_of(self, var: Any) -> sympy.Symbol:
        """The symbol of a variable."""
        symbol = self._symbols.get(var)
        if symbol is None:
            name, count = str(var.name), 0
            unique = name
            while unique in self._names:
                count += 1
                unique = f"{name}_{count}"
            self._names.add(unique)
            symbol = self._symbols[var] = sympy.Symbol(unique, integer=True)
        return symbol

    def close_signature(self) -> None:
        """The symbols seen so far are those of the signature."""
        self._signature = frozenset(self._symbols.values())

    def enter(self, symbol: sympy.Symbol, first: sympy.Expr, extent: sympy.Expr) -> None:
        """From here on a loop variable runs over `extent` integers from `first` on."""
        self._ranges[symbol] = Range(first, first + extent - 1)

    def extents(self, symbols: Iterable[sympy.Symbol]) -> tuple[sympy.Expr, ...] | None:
        """The extents of the loops of these variables; None where the signature does not tell one."""
        found = []
        for symbol in symbols:
            known = self._ranges.get(symbol)
            if known is None or not known.extent.free_symbols <= self._signature:
                return None
            found.append(known.extent)
        return tuple(found)

    def is_loop(self, symbol: sympy.Symbol) -> bool:
        """Whether the symbol is a loop variable."""
        return symbol in self._ranges

    def range_of(self, index: sympy.Expr) -> Range | None:
        """The exact range of an index over all loops, in the signature's terms.

        Sums of multiples of different loop variables, and their floor division by a positive constant, reach
        both ends of the range; of anything else None is said.
        """
        if index in self._ranges:
            found: Range | None = self._ranges[index]
        elif isinstance(index, FloorDiv) and index.args[1].is_Integer and index.args[1] > 0:
            inner = self.range_of(index.args[0])
            divisor = index.args[1]
            found = inner and Range(FloorDiv(inner.first, divisor), FloorDiv(inner.last, divisor))
        else:
            found = self._range_of_sum(index)
        if found is None or not (found.first.free_symbols | found.last.free_symbols) <= self._signature:
            return None
        return found

    def _range_of_sum(self, index: sympy.Expr) -> Range | None:
        first = last = sympy.Integer(0)
        seen: set[sympy.Symbol] = set()
        for term in sympy.Add.make_args(index):
            factor, rest = term.as_coeff_Mul()
            if rest in self._ranges and rest not in seen:
                seen.add(rest)
                one = self._ranges[rest]
                low, high = (one.first, one.last) if factor > 0 else (one.last, one.first)
                first, last = first + factor * low, last + factor * high
            elif term.free_symbols <= self._signature:
                first, last = first + term, last + term
            else:
                return None
        return Range(first, last)
