"""What it takes to serve a module from one device: weights, objects such as caches, and the worst function.

Symbols of the same name in several functions are one. Formulas are read from the report; sympy is loaded for
them only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from relax_lint.results.memory_figures import Amount, MemoryTotals
from relax_lint.totals.comparison import parsed_formula

if TYPE_CHECKING:
    import sympy

_MOST = 1 << 40
_HOST_TARGETS = ("llvm", '"c"')


@dataclass(frozen=True)
class Serving:
    """One module on a device with `device_memory` bytes.

    `parameters` (with constants) and `working` are those of the function that needs most, `objects` what all
    functions make that outlives their calls. `left` is what remains, negative where it does not fit. They are
    None where a symbol has neither a value nor a bound (`missing`). `values` are those of the symbols here,
    `largest` is the largest value of a symbol that fits, the others being those; None: not even the least.
    `reasons` say what is in none of the numbers.
    """

    path: str
    module: str | None
    device_memory: int
    function: str = ""
    parameters: int | None = None
    working: int | None = None
    objects: int | None = None
    left: int | None = None
    values: Mapping[str, int] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    largest: Mapping[str, int | None] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()


def serving(memory: Iterable[MemoryTotals], device_memory: int, target: str) -> Iterator[Serving]:
    """Each module of a report. On a CPU what objects take on the host counts as well."""
    with_host = any(name in target for name in _HOST_TARGETS)
    for (path, module), totals in groupby(memory, key=lambda total: (total.path, total.module)):
        functions = list(totals)
        needs = [_Need(total, with_host) for total in functions]
        yield _served(path, module, needs, device_memory, _values(functions))


def _served(
    path: str, module: str | None, needs: Sequence[_Need], device_memory: int, values: Mapping[str, int]
) -> Serving:
    reasons = tuple(dict.fromkeys(reason for need in needs for reason in need.reasons))
    known = [need for need in needs if need.is_known]
    names = sorted({name for need in known for name in need.symbols})
    missing = tuple(name for name in names if name not in values)
    largest: dict[str, int | None] = {}
    for name in names:
        if set(missing) <= {name} and all(need.grows_with(name, values) for need in known):
            largest[name] = _largest(known, name, values, device_memory)
    used = {name: values[name] for name in names if name in values}
    if missing or not known:
        return Serving(
            path, module, device_memory, values=used, missing=missing, largest=largest, reasons=reasons
        )
    worst = max(known, key=lambda need: need.parameters(values) + need.working(values))
    objects = sum(need.objects(values) for need in known)
    parameters, working = worst.parameters(values), worst.working(values)
    return Serving(
        path,
        module,
        device_memory,
        worst.name,
        parameters,
        working,
        objects,
        device_memory - parameters - working - objects,
        used,
        (),
        largest,
        reasons,
    )


def _largest(known: Sequence[_Need], name: str, values: Mapping[str, int], memory: int) -> int | None:
    def fits(value: int) -> bool:
        here = {**values, name: value}
        worst = max(need.parameters(here) + need.working(here) for need in known)
        return worst + sum(need.objects(here) for need in known) <= memory

    good, bad = -1, _MOST + 1
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if fits(middle) else (good, middle)
    return None if good < 0 else good


def _values(functions: Sequence[MemoryTotals]) -> dict[str, int]:
    """The value of each symbol: that of the request, else the end of its range, else its least bound."""
    found: dict[str, int] = {}
    for total in functions:
        for symbol in total.symbols:
            if symbol.high is not None:
                found[symbol.name] = min(symbol.high, found.get(symbol.name, symbol.high))
    for total in functions:
        for over in total.over_range.values():
            found |= {each.name: each.high for each in over.within if each.high is not None}
    for total in functions:
        found |= total.bindings
    return found


class _Need:
    """The formulas of one function."""

    def __init__(self, total: MemoryTotals, with_host: bool) -> None:
        self.name = total.function
        self.reasons: list[str] = []
        key = "workspaces.together.pooled"
        known = None if total.workspaces is None else total.workspaces.together.get("pooled")
        # Without a formula there is at best a number that holds at the binding alone.
        together = total.at_most.get(key) if key in total.unknown else known
        self.is_limit = key in total.unknown
        if together is None:
            reason = total.unknown.get("workspaces.together.pooled") or total.unknown.get("reserved.pooled")
            self.reasons.append(f"`{total.function}`: {reason or 'what it takes is not known'}")
        packed = total.packed
        objects: list[Amount | None] = [] if packed is None else [packed.device]
        objects += [packed.host] if packed is not None and with_host else []
        for name, why in {} if packed is None else packed.not_counted.items():
            self.reasons.append(f"`{name}`: {why}")
        self._parameters = [_read(total.parameter_bytes), _read(total.constant_bytes)]
        self._working = [_read(together)]
        self._objects = [_read(amount) for amount in objects]
        self._all = [*self._parameters, *self._working, *self._objects]

    @property
    def is_known(self) -> bool:
        """Whether everything has a formula."""
        return all(expr is not None for expr in self._all)

    @property
    def symbols(self) -> set[str]:
        """The symbols in the formulas."""
        return {symbol.name for expr in self._all if expr is not None for symbol in expr.free_symbols}

    def grows_with(self, name: str, values: Mapping[str, int]) -> bool:
        """Whether everything is seen to grow with a symbol, the others having these values."""
        from sympy import Integer

        from relax_lint.totals.ranges import grows

        for expr in self._all:
            if expr is not None:
                others = {
                    s: Integer(values[s.name])
                    for s in expr.free_symbols
                    if s.name != name and s.name in values
                }
                if not grows(expr.xreplace(others)):
                    return False
        return True

    def parameters(self, values: Mapping[str, int]) -> int:
        """Bytes of parameters and constants."""
        return _sum(self._parameters, values)

    def working(self, values: Mapping[str, int]) -> int:
        """Bytes that the allocator and the workspace pool hold at most during a call."""
        return _sum(self._working, values)

    def objects(self, values: Mapping[str, int]) -> int:
        """Bytes of the objects that a call makes."""
        return _sum(self._objects, values)


def _read(amount: Amount | None) -> sympy.Expr | None:
    return None if amount is None else parsed_formula(amount.expr)


def _sum(formulas: Sequence[sympy.Expr | None], values: Mapping[str, int]) -> int:
    from relax_lint.totals.quantities import evaluate

    return sum(evaluate(expr, values) for expr in formulas if expr is not None)
