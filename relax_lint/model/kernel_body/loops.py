"""Loop variables of a kernel: their ranges, and the range of an index that is built from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import sympy

from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.functions import FloorDiv


@record(frozen=True)
class Range:
    """The integers from `first` to `last`; it is empty when `last` < `first`."""

    first: sympy.Expr
    last: sympy.Expr

    @cached_property
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
        self._extents: frozenset[sympy.Symbol] = frozenset()
        self._sums: tuple[sympy.Expr, ...] = ()
        """Extents of tensors that are no symbols, such as `w - k + 1`: no tensor has a negative one."""
        self._reached: dict[sympy.Expr, Range | None] = {}
        self.positions: dict[tuple[tuple[sympy.Expr, ...], tuple[sympy.Expr, ...]], sympy.Expr | None] = {}
        """The positions of elements by their indices and the shape, as long as no loop is added."""

    def symbol_of(self, var: Any) -> sympy.Symbol:
        """The symbol of a variable."""
        symbol = self._symbols.get(var)
        if symbol is None:
            symbol = self._symbols[var] = self.fresh(str(var.name))
        return symbol

    def fresh(self, name: str) -> sympy.Symbol:
        """A symbol that no variable has yet."""
        unique, count = name, 0
        while unique in self._names:
            count += 1
            unique = f"{name}_{count}"
        self._names.add(unique)
        return sympy.Symbol(unique, integer=True)

    def residues(self, extent: sympy.Symbol, divisor: int) -> Iterator[sympy.Expr]:
        """A symbol of the signature for each of its remainders, as `divisor * k + remainder`."""
        quotient = self.fresh("quotient")
        if extent in self._extents:
            self._extents |= {quotient}
        yield from (divisor * quotient + remainder for remainder in range(divisor))

    def close_signature(self, extents: Iterable[sympy.Expr] = ()) -> None:
        """The symbols seen so far are those of the signature; `extents` are those of its tensors."""
        self._reached.clear()
        self.positions.clear()
        self._signature = frozenset(self._symbols.values())
        given = dict.fromkeys(extents)
        self._extents = frozenset(extent for extent in given if extent.is_Symbol)
        self._sums = tuple(extent for extent in given if not (extent.is_Symbol or extent.is_Integer))

    @property
    def signature(self) -> dict[Any, sympy.Symbol]:
        """The variables of the signature, each with its symbol."""
        return {var: symbol for var, symbol in self._symbols.items() if symbol in self._signature}

    def is_not_negative(self, value: sympy.Expr) -> bool:
        """Whether a polynomial has no negative term and no symbol but extents of tensors, or is the product
        of such a one and the extent of a tensor.
        """
        expanded = sympy.expand(value)
        if all(self._is_not_negative(term) for term in sympy.Add.make_args(expanded)):
            return True
        return any(self._is_multiple(expanded, extent) for extent in self._sums)

    def _is_multiple(self, value: sympy.Expr, extent: sympy.Expr) -> bool:
        """Whether a value is an extent times what is not negative."""
        if not extent.free_symbols <= value.free_symbols:
            return False
        quotient, rest = sympy.div(value, extent)
        return bool(rest == 0 and self.is_not_negative(quotient))

    def _is_not_negative(self, term: sympy.Expr) -> bool:
        factor, rest = term.as_coeff_Mul()
        products = all(f.is_Integer or f.is_Symbol or f.is_Pow for f in sympy.Mul.make_args(rest))
        return bool(factor >= 0) and products and rest.free_symbols <= self._extents

    def enter(self, symbol: sympy.Symbol, first: sympy.Expr, extent: sympy.Expr) -> None:
        """From here on a loop variable runs over `extent` integers from `first` on."""
        self._ranges[symbol] = Range(first, first + extent - 1)
        self._reached.clear()
        self.positions.clear()

    def forget(self, symbol: sympy.Symbol) -> None:
        """The range of a loop variable is not known."""
        self._ranges.pop(symbol, None)
        self._reached.clear()
        self.positions.clear()

    def written_range_of(self, symbol: sympy.Symbol) -> Range | None:
        """The range of a loop variable in terms of the loops around it."""
        return self._ranges.get(symbol)

    def in_signature(self, value: sympy.Expr) -> bool:
        """Whether an expression has no symbols but those of the signature."""
        return bool(value.free_symbols <= self._signature)

    def is_inside(self, index: sympy.Expr | None, extent: sympy.Expr) -> bool:
        """Whether an index plainly stays on an axis."""
        reached = None if index is None else self.range_of(index)
        if reached is None:
            return False
        first, room = reached.first, sympy.expand(extent - 1 - reached.last)
        return bool(first.is_Integer and first >= 0 and room.is_Integer and room >= 0)

    def variables_of(self, indices: Iterable[sympy.Expr]) -> set[sympy.Symbol]:
        """The loop variables in some indices that take more than one value."""
        used = {symbol for index in indices for symbol in index.free_symbols}
        return {symbol for symbol in used & self._ranges.keys() if self._ranges[symbol].extent != 1}

    def range_of(self, index: sympy.Expr) -> Range | None:
        """The exact range of an index over all loops, in the signature's terms.

        Sums of multiples of different loop variables, and floor divisions of such sums by a positive
        constant, reach both ends of the range; of anything else None is said.
        """
        if index not in self._reached:
            found = self._range(index)
            told = found is not None and found.first.free_symbols | found.last.free_symbols <= self._signature
            self._reached[index] = found if told else None
        return self._reached[index]

    def _range(self, index: sympy.Expr) -> Range | None:
        if index in self._ranges:
            return self._ranges[index]
        if _by_a_constant(index):
            inner, divisor = self._range(index.args[0]), index.args[1]
            return inner and Range(FloorDiv(inner.first, divisor), FloorDiv(inner.last, divisor))
        return self._range_of_sum(index)

    def _range_of_sum(self, index: sympy.Expr) -> Range | None:
        first = last = sympy.Integer(0)
        seen: set[sympy.Symbol] = set()
        for term in sympy.Add.make_args(index):
            loops = term.free_symbols & self._ranges.keys()
            if not loops:
                first, last = first + term, last + term
                continue
            factor, rest = term.as_coeff_Mul()
            one = self._range(rest) if rest.is_Symbol or _by_a_constant(rest) else None
            if one is None or loops & seen:
                return None
            seen |= loops
            low, high = (one.first, one.last) if factor > 0 else (one.last, one.first)
            first, last = first + factor * low, last + factor * high
        return Range(first, last)


def _by_a_constant(index: sympy.Expr) -> bool:
    """Whether an index is a floor division by a positive constant."""
    return isinstance(index, FloorDiv) and index.args[1].is_Integer and bool(index.args[1].is_positive)
