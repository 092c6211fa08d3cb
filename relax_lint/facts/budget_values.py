"""Which values of the symbols keep to a budget: one after the other, the others fixed or at their bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import sympy
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from relax_lint.facts.fitting import MAX_STEPS, Span, bracketed, solution, solved
from relax_lint.model.program import Function, Program
from relax_lint.settings.config import Config
from relax_lint.settings.memory_request import MemoryRequest
from relax_lint.symbolic.printing import condition_text
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.bounded import with_bounds
from relax_lint.totals.compute import measure
from relax_lint.totals.kernel_memory import KernelMemory
from relax_lint.totals.pool_limits import PoolLimits, concrete_pool, pool_limits, with_kernels
from relax_lint.totals.quantities import Quantity
from relax_lint.totals.ranges import grows
from relax_lint.totals.workspaces import concrete_workspaces, measure_workspaces
from relax_lint.vm.allocators import Allocator

_FRONTIER = (1, 4, 16, 64)
"""Values of a symbol without a bound at which another one is solved for."""
_MOST_SOLVED = 4
_NOTHING: Mapping[str, int] = MappingProxyType({})


class BudgetValues:
    """The values of the symbols of one function, those of a request or all, against a number of bytes."""

    def __init__(
        self,
        program: Program,
        function: Function,
        config: Config,
        kernels: KernelMemory | None,
        request: MemoryRequest,
    ) -> None:
        self._program = program
        self._function = function
        self._config = config
        self._kernels = kernels
        self._point = request.point
        self._asked = with_bounds(function, request)

    def limits(self, allocator: Allocator, reserved: Quantity | Unknown) -> PoolLimits | Unknown:
        """What the allocator, which obtains `reserved` if that is known, takes at least and at most, together
        with the workspaces that count.
        """
        point = self._point
        found: PoolLimits | Unknown
        if not isinstance(reserved, Unknown) and grows(sympy.sympify(reserved)):
            found = PoolLimits(reserved, reserved)
        elif allocator is Allocator.NAIVE:
            found = (
                reserved
                if isinstance(reserved, Unknown)
                else Unknown("what is alive at one time is not known")
            )
        else:
            found = pool_limits(self._program, self._function, self._config.page_size)
        if not isinstance(found, Unknown) and self._kernels is not None:
            found = with_kernels(found, self._program, self._function, self._kernels)
        if isinstance(found, Unknown):
            return found
        given = {s: point[s.name] for s in _symbols(found.least) | _symbols(found.most) if s.name in point}
        return PoolLimits(_at(found.least, given), _at(found.most, given))

    def of_one_symbol(
        self, limits: PoolLimits, limit: int, allocator: Allocator, symbol: sympy.Symbol | None
    ) -> Boolean | Unknown:
        """The values of the only symbol, if there is any, for which the allocator keeps to a budget."""
        if symbol is None:
            return self._of_none(limits, limit, allocator)
        span = self.span(symbol)
        quick = self._followed(span, allocator)
        if quick is None:
            return bracketed(
                limits, limit, span, lambda value: self._measured({span.symbol.name: value}, allocator)
            )
        exact, steps = quick
        return bracketed(limits, limit, span, exact, MAX_STEPS // steps)

    def _of_none(self, limits: PoolLimits, limit: int, allocator: Allocator) -> Boolean | Unknown:
        """Where every symbol has its value."""
        size: int | None = int(limits.most)
        if size is not None and size > limit >= int(limits.least):
            size = self._measured({}, allocator)
        if size is None:
            return Unknown("what it takes is not known")
        return sympy.true if size <= limit else sympy.false

    def brackets(self, limits: PoolLimits, limit: int, allocator: Allocator) -> str:
        """For each symbol which values keep to a budget, the others fixed: exactly, or up to where it is kept
        and from where on it is not.
        """
        symbols = sorted({*_symbols(limits.least), *_symbols(limits.most)}, key=str)
        found = []
        for symbol, others in self._fixed(symbols):
            there = PoolLimits(_at(limits.least, others), _at(limits.most, others))
            text = self._bracket(there, limit, allocator, self.span(symbol), others)
            if text is not None:
                found.append(f"{text} at {_values(others)}")
        return "; ".join(found)

    def _bracket(
        self,
        limits: PoolLimits,
        limit: int,
        allocator: Allocator,
        span: Span,
        others: Mapping[sympy.Symbol, int],
    ) -> str | None:
        quick = self._followed(span, allocator, {symbol.name: value for symbol, value in others.items()})
        if quick is None:
            found = bracketed(limits, limit, span, lambda value: None, most=0)
        else:
            found = bracketed(limits, limit, span, quick[0], MAX_STEPS // quick[1])
        if not isinstance(found, Unknown):
            values = solved(found, span)
            return None if values is None else f"fits for {values}"
        return found.reason.removeprefix("it ") if found.reason.startswith("it ") else None

    def _fixed(
        self, symbols: Sequence[sympy.Symbol]
    ) -> Iterator[tuple[sympy.Symbol, dict[sympy.Symbol, int]]]:
        """Each symbol with the others at their bound; where two have none, the second at values of the
        first.
        """
        bounded = {symbol for symbol in symbols if self._asked.named(symbol.name)}
        for symbol in symbols[:_MOST_SOLVED]:
            others = [each for each in symbols if each != symbol]
            if bounded.issuperset(others):
                yield symbol, {each: self._asked.named(each.name)[0].high for each in others}
        if not bounded and len(symbols) == 2:
            yield from ((symbols[1], {symbols[0]: value}) for value in _FRONTIER)

    def span(self, symbol: sympy.Symbol) -> Span:
        """The values of a symbol that count: within what was asked for, else within its bounds."""
        (wanted,) = self._asked.named(symbol.name) or (None,)
        if wanted is None:
            return Span(symbol, 0, self._config.max_extent)
        return Span(symbol, wanted.low, wanted.high)

    def text(self, found: Boolean) -> str:
        """`fits iff n <= 1830`, `fits for` some values of one symbol, or for each of several how far, the
        others having a value.
        """
        symbols = sorted(found.free_symbols, key=str)
        if len(symbols) == 1:
            text = None if isinstance(found, Relational) else solution(found, self.span(symbols[0]))
            return f"fits iff {condition_text(found)}" if text is None else text
        return "; ".join(self._solved(found)) or f"fits iff {condition_text(found)}"

    def _solved(self, found: Boolean) -> Iterator[str]:
        """Each symbol with the others fixed."""
        for symbol, others in self._fixed(sorted(found.free_symbols, key=str)):
            text = solved(_at(found, others), self.span(symbol))
            if text is not None:
                yield f"fits for {text} at {_values(others)}"

    def _measured(self, values: Mapping[str, int], allocator: Allocator) -> int | None:
        binding = {**self._point, **values}
        page = self._config.page_size
        if self._kernels is not None:
            together = measure_workspaces(
                self._program, self._function, self._kernels, page_size=page, binding=binding
            ).together[allocator]
            if isinstance(together, int):
                return together
        size = measure(self._program, self._function, page_size=page, binding=binding)
        reserved = size.reserved[allocator]
        return reserved if isinstance(reserved, int) else None

    def _followed(
        self, span: Span, allocator: Allocator, others: Mapping[str, int] = _NOTHING
    ) -> tuple[Callable[[int], int], int] | None:
        """What is taken at a value, and the steps of that, where a function has one path."""
        page, name, pool = self._config.page_size, "reserved.pooled", None
        if allocator is Allocator.POOLED:
            pool = concrete_pool(self._program, self._function, page)
        if self._kernels is not None:
            both = concrete_workspaces(self._program, self._function, self._kernels, page_size=page)
            pool, name = (pool, name) if both is None else (both, f"workspaces.together.{allocator.value}")
        point = {**self._point, **others}
        if pool is None or not pool.is_single:
            return None
        if not {symbol.name for symbol in pool.symbols} <= {span.symbol.name, *point}:
            return None
        chosen = pool
        return lambda value: chosen.at({**point, span.symbol.name: value})[name], chosen.steps


def _symbols(size: Quantity) -> set[sympy.Symbol]:
    return set() if isinstance(size, int) else size.free_symbols


def _at(expr: Any, values: Mapping[sympy.Symbol, int]) -> Any:
    """An expression or a condition with numbers for some symbols."""
    found = sympy.sympify(expr).xreplace({symbol: sympy.Integer(value) for symbol, value in values.items()})
    return int(found) if found.is_Integer else found


def _values(values: Mapping[sympy.Symbol, int]) -> str:
    return ", ".join(f"{symbol.name} = {value:,}" for symbol, value in values.items())
