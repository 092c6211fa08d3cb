"""Symbols of one function: identity, names, provenance, and the facts known at entry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.program import BoundKind, DeclaredBound, Origin, Provenance, SymbolInfo
from relax_lint.symbolic.domain import Fact
from relax_lint.symbolic.intervals import Bounds
from relax_lint.symbolic.polynomial import NotPolynomial
from relax_lint.symbolic.printing import expr_text
from relax_lint.symbolic.translate import Untranslatable, range_of_type
from relax_lint.symbolic.wrapping import may_wrap
from relax_lint.vm.facts import FactSource


class SymbolTable:
    """Maps TVM's variables, by identity, to sympy symbols with names unique in the function."""

    def __init__(self, max_extent: int) -> None:
        self._max_extent = max_extent
        self._symbols: dict[Any, sympy.Symbol] = {}
        self._infos: dict[sympy.Symbol, SymbolInfo] = {}
        self._names: set[str] = set()

    def symbol_of(self, var: Any) -> sympy.Symbol:
        """The symbol of a variable; one that is not yet defined is new and undefined."""
        symbol = self._symbols.get(var)
        if symbol is None:
            symbol = self.fresh(str(var.name))
            self._symbols[var] = symbol
            self._infos[symbol] = SymbolInfo(
                symbol, Provenance.UNDEFINED, Origin("nothing"), in_signature=False
            )
        return symbol

    def fresh(self, name: str) -> sympy.Symbol:
        """A new symbol whose name is `name`, with a number where that is taken."""
        unique, count = name, 0
        while unique in self._names:
            count += 1
            unique = f"{name}_{count}"
        self._names.add(unique)
        return sympy.Symbol(unique, integer=True)

    def fits(self, value: sympy.Expr, bits: int) -> bool:
        """Whether a value is a signed number of so many bits, whatever numbers the symbols are."""
        found, end = self.range_of(value), 1 << (bits - 1)
        return found is not None and -end <= found[0] <= found[1] < end

    def range_of(self, value: sympy.Expr) -> tuple[int, int] | None:
        """The smallest and the largest number that a value is, whatever numbers the symbols are; None where
        that is not known.
        """
        return self._range(value, lambda var: str(var.ty.dtype))

    def held_range_of(self, value: sympy.Expr) -> tuple[int, int] | None:
        """The same where the symbols are any int64, as for the virtual machine."""
        return self._range(value, lambda _: "int64")

    def _range(self, value: sympy.Expr, dtype_of: Callable[[Any], str]) -> tuple[int, int] | None:
        used = value.free_symbols
        try:
            box = {
                symbol: self._range_of(dtype_of(var), symbol)
                for var, symbol in self._symbols.items()
                if symbol in used
            }
            return Bounds(box).expr(value)
        except (NotPolynomial, Untranslatable):
            return None

    def _range_of(self, dtype: str, symbol: sympy.Symbol) -> tuple[int, int]:
        low, high = range_of_type(dtype)
        is_extent = self._infos[symbol].provenance is Provenance.EXTENT
        return (max(low, 0) if is_extent else low, high)

    def is_defined(self, symbol: sympy.Symbol) -> bool:
        """Whether something has given a symbol its value."""
        known = self._infos.get(symbol)
        return known is not None and known.provenance is not Provenance.UNDEFINED

    def origin_of(self, symbol: sympy.Symbol) -> str | None:
        """Where a symbol gets its value, in words; None for one that is not defined."""
        return str(self._infos[symbol].origin) if self.is_defined(symbol) else None

    def define(
        self, symbol: sympy.Symbol, provenance: Provenance, origin: Origin, *, in_signature: bool
    ) -> tuple[Fact, ...]:
        """Record where a symbol gets its value; returns the facts that this gives.

        An extent read from a real tensor wins over a value that was passed in with it; one that is read later
        says nothing about the operations before, or in other branches.
        """
        known = self._infos.get(symbol)
        passed = known is not None and known.provenance is Provenance.VALUE and not in_signature
        if known is None or (known.provenance not in (Provenance.EXTENT, provenance) and not passed):
            signature = in_signature or (known is not None and known.in_signature)
            self._infos[symbol] = SymbolInfo(symbol, provenance, origin, signature)
        return self.extent_facts(symbol, origin) if provenance is Provenance.EXTENT else ()

    def extent_facts(self, extent: sympy.Expr, origin: Origin) -> tuple[Fact, ...]:
        """What holds for the extent of a real tensor: 0 <= extent <= max-extent."""
        return (
            self.fact(FactSource.EXTENT_SIGN, extent >= 0, f"{expr_text(extent)} >= 0", str(origin)),
            self.fact(
                FactSource.MAX_EXTENT,
                extent <= self._max_extent,
                f"{expr_text(extent)} <= {self._max_extent}",
                "max-extent",
            ),
        )

    def fact(
        self, source: FactSource, condition: Boolean, text: str, why: str, *, simplified: bool = False
    ) -> Fact:
        """What the VM compares: an assumption where its arithmetic may wrap around. `simplified` is what
        TVM's analyzer sees before: a condition, for which TVM makes a function with parameters of the types
        of its scalars. Of a number beyond such a type it gets the low bits.
        """
        free = frozenset(
            symbol for symbol in condition.free_symbols if self._provenance(symbol) is not Provenance.EXTENT
        )
        narrow = simplified and any(map(self._is_narrow, free))
        if narrow or (free and may_wrap(condition, free, self._max_extent, simplified=simplified)):
            told = f"{text} ({why}, if it does not wrap around)"
            return Fact.of(FactSource.WRAPPING, condition, told, text)
        return Fact.of(source, condition, f"{text} ({why})", text)

    def _is_narrow(self, symbol: sympy.Symbol) -> bool:
        """Whether a symbol has a type that does not hold each int64."""
        return any(
            one == symbol and str(getattr(var.ty, "dtype", "int64")) != "int64"
            for var, one in self._symbols.items()
        )

    def _provenance(self, symbol: sympy.Symbol) -> Provenance:
        known = self._infos.get(symbol)
        return Provenance.UNDEFINED if known is None else known.provenance

    def infos(self) -> tuple[SymbolInfo, ...]:
        """All symbols in the order in which they were first seen."""
        variables = {symbol: var for var, symbol in self._symbols.items()}
        return tuple(replace(info, var=variables.get(info.symbol)) for info in self._infos.values())

    def in_signature(self, name: str) -> list[sympy.Symbol]:
        """The symbols of the function's signature that carry a name."""
        return [s for s, info in self._infos.items() if info.in_signature and s.name == name]


def declared_bounds(attributes: Mapping[str, Any], symbols: SymbolTable) -> tuple[DeclaredBound, ...]:
    """The bounds that a function's attributes declare.

    TVM's planner matches them by name, against symbols of the function's signature only, and
    nothing checks them at run time.
    """
    found: list[DeclaredBound] = []
    for kind in BoundKind:
        declared = attributes.get(kind.value)
        if declared is None:
            continue
        entries: Iterable[tuple[str, Any]]
        entries = ((str(n), 0) for n in declared) if kind is BoundKind.NON_NEGATIVE else declared.items()
        for name, raw in sorted((str(name), raw) for name, raw in entries):
            value = _integer(raw)
            matched = symbols.in_signature(name)
            if not matched:
                found.append(DeclaredBound(kind, name, value, None, None))
            for symbol in matched:
                found.append(DeclaredBound(kind, name, value, symbol, _bound_fact(kind, symbol, value)))
    return tuple(found)


def _bound_fact(kind: BoundKind, symbol: sympy.Symbol, value: int | None) -> Fact | None:
    if value is None:
        return None
    condition: Boolean = symbol <= value if kind is BoundKind.UPPER else symbol >= value
    relation = "<=" if kind is BoundKind.UPPER else ">="
    text = f"{symbol} {relation} {value} ({kind.value}, not enforced)"
    return Fact.of(FactSource.DECLARED_BOUND, condition, text)


def _integer(raw: Any) -> int | None:
    value = getattr(raw, "value", raw)
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else None
