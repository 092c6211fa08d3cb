"""What it takes to serve a module from one device: weights, objects such as caches, and the worst function.

Symbols of the same name in several functions are one. Formulas are read from the report; sympy is loaded for
them only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import groupby
from typing import TYPE_CHECKING

from relax_lint.results.memory_figures import Amount, MemoryTotals
from relax_lint.support.lazy_dataclass import record
from relax_lint.totals.comparison import parsed_formula

if TYPE_CHECKING:
    import sympy

_MOST = 1 << 40
_CONTEXT = ("max_total_seq", "total_seq", "context", "seq", "len")
"""Parts of the names of a context, the most telling first."""
_BATCH = ("max_batch", "batch")
_LARGEST_BATCH = 64
_HOST_TARGETS = ("llvm", '"c"')


@record(frozen=True)
class FrontierPoint:
    """The largest value of the second symbol that fits at a value of the first; None: not even the least."""

    at: int
    largest: int | None


@record(frozen=True)
class Frontier:
    """How far one symbol (`of`, the context say) can go at values of another (`at`, the batch say)."""

    of: str
    at: str
    points: tuple[FrontierPoint, ...]


@record(frozen=True)
class Serving:
    """One module on a device with `device_memory` bytes.

    `parameters` (with constants) and `working` are those of the function that needs most, `objects` what all
    functions make that outlives their calls. `left` is what remains, negative where it does not fit. They are
    None where a symbol has neither a value nor a bound (`missing`). `values` are those of the symbols here,
    `largest` is the largest value of a symbol that fits, the others being those; None: not even the least. It
    is at most the declared bound of the symbol, in `bounds`: beyond it the plan does not hold. `frontier` is
    that of the context against the batch, where two such symbols are known. `reasons` say what is in none of
    the numbers.
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
    bounds: Mapping[str, int] = field(default_factory=dict)
    frontier: Frontier | None = None
    reasons: tuple[str, ...] = ()


def serving(memory: Iterable[MemoryTotals], device_memory: int, target: str) -> Iterator[Serving]:
    """Each module of a report. On a CPU what objects take on the host counts as well."""
    with_host = any(name in target for name in _HOST_TARGETS)
    for (path, module), totals in groupby(memory, key=lambda total: (total.path, total.module)):
        functions = list(totals)
        needs = [_Need(total, with_host) for total in functions]
        yield _served(path, module, needs, device_memory, _values(functions), _bounds(functions))


def _served(
    path: str,
    module: str | None,
    needs: Sequence[_Need],
    device_memory: int,
    values: Mapping[str, int],
    bounds: Mapping[str, int],
) -> Serving:
    reasons = tuple(dict.fromkeys(reason for need in needs for reason in need.reasons))
    known = [need for need in needs if need.is_known]
    names = sorted({name for need in known for name in need.symbols})
    missing = tuple(name for name in names if name not in values)
    room = _Room(known, device_memory, bounds)
    growing = [name for name in names if all(need.grows_with(name, values) for need in known)]
    largest = {name: room.largest(name, values) for name in growing if set(missing) <= {name}}
    used = {name: values[name] for name in names if name in values}
    own = {name: bounds[name] for name in names if name in bounds}
    found = Serving(
        path,
        module,
        device_memory,
        values=used,
        missing=missing,
        largest=largest,
        bounds=own,
        frontier=room.frontier(growing, missing, values),
        reasons=reasons,
    )
    if missing or not known:
        return found
    worst = max(known, key=lambda need: need.parameters(values) + need.working_here(values))
    objects = sum(need.objects(values) for need in known)
    parameters, working = worst.parameters(values), worst.working_here(values)
    left = device_memory - parameters - working - objects
    return replace(
        found, function=worst.name, parameters=parameters, working=working, objects=objects, left=left
    )


class _Room:
    """What fits into the memory of a device."""

    def __init__(self, known: Sequence[_Need], memory: int, bounds: Mapping[str, int]) -> None:
        self._known = known
        self._memory = memory
        self._bounds = bounds

    def fits(self, values: Mapping[str, int]) -> bool:
        """Whether all objects and the function that needs most fit together."""
        worst = max(need.parameters(values) + need.working_at_most(values) for need in self._known)
        return worst + sum(need.objects(values) for need in self._known) <= self._memory

    def largest(self, name: str, values: Mapping[str, int]) -> int | None:
        """The largest value of a symbol that fits, the others having these values."""
        good, bad = -1, self._bounds.get(name, _MOST) + 1
        while bad - good > 1:
            middle = (good + bad) // 2
            fits = self.fits({**values, name: middle})
            good, bad = (middle, bad) if fits else (good, middle)
        return None if good < 0 else good

    def frontier(
        self, growing: Sequence[str], missing: Sequence[str], values: Mapping[str, int]
    ) -> Frontier | None:
        """The context against the batch: by the names of the symbols, else the only two that there are."""
        context = next((name for part in _CONTEXT for name in growing if part in name), None)
        batch = next((name for part in _BATCH for name in growing if part in name), None)
        if context is None or batch is None:
            if len(growing) != 2:
                return None
            others = [name for name in growing if name not in (context, batch)]
            batch = batch or others.pop(0)
            context = context or others.pop()
        if context == batch or not set(missing) <= {context, batch}:
            return None
        most = self._bounds.get(batch, _LARGEST_BATCH)
        steps = [1 << power for power in range(most.bit_length())]
        points = (FrontierPoint(at, self.largest(context, {**values, batch: at})) for at in steps)
        return Frontier(context, batch, tuple(points))


def _bounds(functions: Sequence[MemoryTotals]) -> dict[str, int]:
    """The least bound that a function declares for each symbol."""
    found: dict[str, int] = {}
    for total in functions:
        for symbol in total.symbols:
            if symbol.high is not None:
                found[symbol.name] = min(symbol.high, found.get(symbol.name, symbol.high))
    return found


def _values(functions: Sequence[MemoryTotals]) -> dict[str, int]:
    """The value of each symbol: that of the request, else the end of its range, else its least bound."""
    found = _bounds(functions)
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
        self._bindings = total.bindings
        self._exact = None if known is None else known.value
        if together is None:
            reason = total.unknown.get("workspaces.together.pooled") or total.unknown.get("reserved.pooled")
            self.reasons.append(f"`{total.function}`: {reason or 'what it takes is not known'}")
        packed = total.packed
        objects: list[Amount | None] = [] if packed is None else [packed.device]
        objects += [packed.host] if packed is not None and with_host else []
        if packed is not None and packed.device is None:
            self.reasons.append(f"`{total.function}`: {total.unknown.get('packed.device', 'not known')}")
        for name, why in {} if packed is None else packed.not_counted.items():
            self.reasons.append(f"`{name}`: {why}")
        self._parameters = [_read(total.parameter_bytes), _read(total.constant_bytes)]
        self._working = [_read(together)]
        self._limits = [_apart(expr) for expr in self._working]
        self._objects = [_read(amount) for amount in objects]
        self._all = [*self._parameters, *self._limits, *self._objects]

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

    def working_at_most(self, values: Mapping[str, int]) -> int:
        """No less, and never less at larger values."""
        return _sum(self._limits, values)

    def working_here(self, values: Mapping[str, int]) -> int:
        """The same, exact where these are the values that the report was made for."""
        given = all(values.get(name) == value for name, value in self._bindings.items())
        return self._exact if self._exact is not None and given else self.working(values)

    def objects(self, values: Mapping[str, int]) -> int:
        """Bytes of the objects that a call makes."""
        return _sum(self._objects, values)


def _read(amount: Amount | None) -> sympy.Expr | None:
    return None if amount is None else parsed_formula(amount.expr)


def _apart(expr: sympy.Expr | None) -> sympy.Expr | None:
    """As if the allocator reused no buffer for a size that happens to equal another one, and any branch that
    the symbols choose could be taken.
    """
    from relax_lint.totals.cases import most_of_cases
    from relax_lint.totals.growth import without_coincidences

    return None if expr is None else most_of_cases(without_coincidences(expr))


def _sum(formulas: Sequence[sympy.Expr | None], values: Mapping[str, int]) -> int:
    from relax_lint.totals.quantities import evaluate

    return sum(evaluate(expr, values) for expr in formulas if expr is not None)
