"""What the calls of a function request from TVM's workspace pool, and what the pool obtains for them.

Requests come from inside kernels, not from the VM's allocator: these totals stand beside the others. The pool
gives nothing back, so a walk with the pool's buffers in it (`_Pool`) has the peak of both together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum, auto
from functools import partial
from typing import TypeAlias

import sympy

from relax_lint.model.operations import KernelCall
from relax_lint.model.program import Function, Program
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.functions import FloorDiv
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.cases import by_cases
from relax_lint.totals.compute import symbols_of
from relax_lint.totals.concrete import Concrete, Path
from relax_lint.totals.formula import greatest, never_negative_symbols, reaches, total
from relax_lint.totals.inlined import paths_of
from relax_lint.totals.kernel_memory import CallWorkspaces, KernelMemory, OnChip
from relax_lint.totals.peaks import peak
from relax_lint.totals.plans import Plans
from relax_lint.totals.pool_numbers import Followed, pool_of
from relax_lint.totals.pools import pooled
from relax_lint.totals.quantities import Indeterminate, Quantity
from relax_lint.totals.walk import Allocation, ExecMode, Inventory, Walk
from relax_lint.vm.allocators import DEFAULT_PAGE_SIZE, Allocator
from relax_lint.vm.workspaces import WORKSPACE_PAGE_SIZE

_Asked: TypeAlias = "tuple[KernelCall, CallWorkspaces | Unknown]"
_Requests: TypeAlias = "tuple[tuple[Quantity, ...], tuple[int, ...]]"
"""The sizes that a call requests, and their order."""


@record(frozen=True)
class CallRequest:
    """The most that one call holds of the pool's buffers at one time, as it asks for them, in bytes."""

    op: KernelCall
    size: Quantity | Unknown


@record(frozen=True)
class WorkspaceTotals:
    """`requested` is the most that any one call asks for at one time, `held` what the pool obtains over one
    call of the function from a cold start, `together` what pool and allocator hold at one time. Kernels with
    parallel loops run on several threads: `per_worker` is what the pool of each further one holds.
    """

    requested: Quantity | Unknown
    held: Quantity | Unknown
    per_worker: Quantity | Unknown
    together: Mapping[Allocator, Quantity | Unknown]
    calls: tuple[CallRequest, ...]
    on_chip: tuple[OnChip, ...]


def measure_workspaces(
    program: Program,
    function: Function,
    kernels: KernelMemory,
    *,
    page_size: int = DEFAULT_PAGE_SIZE,
    exec_mode: ExecMode = ExecMode.BYTECODE,
    binding: Mapping[str, int] | None = None,
) -> WorkspaceTotals:
    """The totals of one function over all its paths; with a `binding` as in `measure`."""
    walks = storage_walks(program, function, exec_mode=exec_mode, binding=binding)
    if isinstance(walks, Unknown):
        return WorkspaceTotals(walks, walks, walks, dict.fromkeys(Allocator, walks), (), ())
    return _totals(walks, kernels, page_size, never_negative_symbols(function))


def storage_walks(
    program: Program,
    function: Function,
    *,
    exec_mode: ExecMode = ExecMode.BYTECODE,
    binding: Mapping[str, int] | None = None,
    calls: int = 1,
) -> list[Walk] | Unknown:
    """The walks of the storages of one function, over all its paths and so many calls."""
    values = None if binding is None else symbols_of(function, binding)
    try:
        return paths_of(Plans.of(program), function, Inventory.STORAGES, values, exec_mode, calls)
    except Indeterminate as reason:
        return Unknown(str(reason))


def _totals(
    walks: Sequence[Walk], kernels: KernelMemory, page_size: int, positive: frozenset[sympy.Symbol]
) -> WorkspaceTotals:
    names = dict.fromkeys([p.op.callee for walk in walks for p in walk.calls if kernels.runs(p.op.callee)])
    on_chip = tuple(one for name in names for one in kernels.on_chip(name))
    asked = [_asked(walk, kernels, positive) for walk in walks]
    calls = _calls([one for each in asked for one in each], positive)
    unknown = next((call.size for call in calls if isinstance(call.size, Unknown)), None)
    if unknown is not None:
        return WorkspaceTotals(unknown, unknown, unknown, dict.fromkeys(Allocator, unknown), calls, on_chip)

    paths = [Path(walk, _requesting(each)) for walk, each in zip(walks, asked, strict=True)]
    held, per_worker, together = _of_pool(paths, page_size, positive)
    requested = _or_unknown(lambda: by_cases(paths, lambda alike: _requested(alike, positive)))
    return WorkspaceTotals(requested, held, per_worker, together, calls, on_chip)


def _requested(paths: Sequence[Path], positive: frozenset[sympy.Symbol]) -> Quantity:
    """The most that any call of the paths asks for at one time."""
    return greatest([_most(call, positive) for path in paths for call in path.requests], positive)


def _of_pool(
    paths: Sequence[Path], page_size: int, positive: frozenset[sympy.Symbol]
) -> tuple[Quantity | Unknown, Quantity | Unknown, dict[Allocator, Quantity | Unknown]]:
    """What the pool holds, what that of a worker does, and by allocator what both hold together."""
    if any(path.chosen or not all(isinstance(size, int) for size in path.sizes()) for path in paths):
        return _in_formulas(paths, page_size, positive)
    each = [Followed(path) for path in paths]
    both = [
        pooled([path.walk], page_size, positive) + one.held for path, one in zip(paths, each, strict=True)
    ]
    together: dict[Allocator, Quantity | Unknown] = {
        Allocator.NAIVE: max((one.together for one in each), default=0),
        Allocator.POOLED: greatest(both, positive),
    }
    held, of_worker = ([one.held for one in each], [one.of_worker for one in each])
    return max(held, default=0), max(of_worker, default=0), together


def _in_formulas(
    paths: Sequence[Path], page_size: int, positive: frozenset[sympy.Symbol]
) -> tuple[Quantity | Unknown, Quantity | Unknown, dict[Allocator, Quantity | Unknown]]:
    """The same where sizes depend on symbols."""

    def held(which: _Which) -> Quantity:
        return peak([_with_pool(path, positive, which) for path in paths], positive).size

    def both_pools() -> Quantity:

        def of_case(alike: list[Path]) -> Quantity:
            return greatest([_both_pools(path, page_size, positive) for path in alike], positive)

        return by_cases(paths, of_case)

    together = {
        Allocator.NAIVE: _or_unknown(lambda: held(_Which.BOTH)),
        Allocator.POOLED: _or_unknown(both_pools),
    }
    pool = _or_unknown(lambda: held(_Which.POOL))
    return pool, _or_unknown(lambda: held(_Which.POOL_OF_A_WORKER)), together


def concrete_workspaces(
    program: Program, function: Function, kernels: KernelMemory, *, page_size: int = DEFAULT_PAGE_SIZE
) -> Concrete | None:
    """The totals of the pool at any values of the symbols; None where a size is not known at all."""
    walks = storage_walks(program, function)
    if isinstance(walks, Unknown):
        return None
    positive = never_negative_symbols(function)
    try:
        paths = [Path(walk, _requesting(_asked(walk, kernels, positive))) for walk in walks]
    except Indeterminate:
        return None

    def figures(found: Sequence[Path]) -> dict[str, int]:
        each = [Followed(path) for path in found]
        pooled_too = (pool_of(path.walk, page_size) + one.held for path, one in zip(found, each, strict=True))
        return {
            "workspaces.held": max((one.held for one in each), default=0),
            "workspaces.per_worker": max((one.of_worker for one in each), default=0),
            "workspaces.together.naive": max((one.together for one in each), default=0),
            "workspaces.together.pooled": max(pooled_too, default=0),
        }

    return Concrete(paths, figures)


def held_at_most(program: Program, function: Function, kernels: KernelMemory) -> Quantity | Unknown:
    """No less than the workspace pool ever holds, where what it reuses is not known: as many buffers as are
    in use at one time, each as large as the largest request.
    """
    walks = storage_walks(program, function)
    if isinstance(walks, Unknown):
        return walks
    positive = never_negative_symbols(function)
    try:
        calls = [call for walk in walks for call in _requesting(_asked(walk, kernels, positive))]
    except Indeterminate as reason:
        return Unknown(str(reason))
    largest = greatest([_pages(size) for call in calls for size in call.sizes], positive)
    number = max((_in_use(call.events) for call in calls), default=0)
    return largest * number


def _in_use(events: Sequence[int]) -> int:
    """Requests that are open at one time."""
    most = number = 0
    for event in events:
        number += 1 if event > 0 else -1
        most = max(most, number)
    return most


def _or_unknown(compute: Callable[[], Quantity]) -> Quantity | Unknown:
    try:
        return compute()
    except Indeterminate as reason:
        return Unknown(str(reason))


def _asked(walk: Walk, kernels: KernelMemory, positive: frozenset[sympy.Symbol]) -> list[_Asked]:
    """What each call of a kernel in a walk requests, where it requests something or that is not known."""
    found: list[_Asked] = []
    # The layers of a model repeat each other.
    silent: dict[str, bool] = {}
    for point in walk.calls:
        op = point.op
        if not isinstance(op, KernelCall) or not op.kind.runs_kernel:
            continue
        if op.callee not in silent:
            silent[op.callee] = not kernels.runs(op.callee) or kernels.requests_nothing(op.callee)
        if silent[op.callee]:
            continue
        try:
            found.append((op, kernels.call(point, positive)))
        except Indeterminate as reason:
            found.append((op, Unknown(str(reason))))
    return found


def _requesting(asked: Iterable[_Asked]) -> tuple[CallWorkspaces, ...]:
    """The requests. Raises Indeterminate where some are not known."""
    found = []
    for _, call in asked:
        if isinstance(call, Unknown):
            raise Indeterminate(call.reason)
        found.append(call)
    return tuple(found)


def _calls(asked: Iterable[_Asked], positive: frozenset[sympy.Symbol]) -> tuple[CallRequest, ...]:
    """Every call that requests something, each once; over several paths or activations, the most."""
    found: list[tuple[KernelCall, list[Quantity | Unknown]]] = []
    # To hash a call takes long. Those that are equal are at the same position.
    at: dict[int, list[tuple[KernelCall, list[Quantity | Unknown]]]] = {}
    known: dict[_Requests, Quantity | Unknown] = {}
    for op, call in asked:
        size: Quantity | Unknown
        if isinstance(call, Unknown):
            size = call
        else:
            key = call.sizes, call.events
            if key not in known:
                known[key] = _or_unknown(partial(_most, call, positive))
            size = known[key]
        if not isinstance(size, Unknown) and size == 0:
            continue
        here = at.setdefault(op.place.index, [])
        sizes = next((sizes for other, sizes in here if other is op or other == op), None)
        if sizes is None:
            sizes = []
            here.append((op, sizes))
            found.append((op, sizes))
        sizes.append(size)
    return tuple([CallRequest(op, _greatest(sizes, positive)) for op, sizes in found])


def _greatest(sizes: Sequence[Quantity | Unknown], positive: frozenset[sympy.Symbol]) -> Quantity | Unknown:
    unknown = next((size for size in sizes if isinstance(size, Unknown)), None)
    return unknown or greatest([size for size in sizes if not isinstance(size, Unknown)], positive)


def _most(call: CallWorkspaces, positive: frozenset[sympy.Symbol]) -> Quantity:
    """The most that a call holds at one time."""
    allocations = [Allocation(size, call.point.op.place) for size in call.sizes]
    return peak([Walk(allocations=allocations, events=list(call.events))], positive).size


def _both_pools(path: Path, page_size: int, positive: frozenset[sympy.Symbol]) -> Quantity:
    """Neither pool gives anything back: each is at its largest at the end."""
    held = peak([_with_pool(path, positive, _Which.POOL)], positive).size
    return total([pooled([path.walk], page_size, positive), held])


class _Which(Enum):
    """The buffers that count."""

    BOTH = auto()
    """Those of the allocator and of the workspace pool."""
    POOL = auto()
    POOL_OF_A_WORKER = auto()


def _with_pool(path: Path, positive: frozenset[sympy.Symbol], which: _Which) -> Walk:
    """The walk with the buffers of the workspace pool as allocations. Raises Indeterminate."""
    walk, alone = path.walk, which is not _Which.BOTH
    allocations = [] if alone else list(walk.allocations)
    events: list[int] = []
    pool = _Pool(allocations, events, positive)
    done = 0
    for call in path.requests:
        if not alone:
            events.extend(walk.events[done : call.point.moment])
        done = call.point.moment
        pool.serve(call.of_a_worker() if which is _Which.POOL_OF_A_WORKER else call)
    if not alone:
        events.extend(walk.events[done:])
    return Walk(allocations=allocations, events=events, chosen=walk.chosen)


class _Pool:
    """TVM's workspace pool on paper. Each of its buffers is an allocation of the walk, which ends where the
    buffer is exchanged.
    """

    def __init__(
        self, allocations: list[Allocation], events: list[int], positive: frozenset[sympy.Symbol]
    ) -> None:
        self._allocations = allocations
        self._events = events
        self._positive = positive
        self._free: list[tuple[Quantity, int]] = []
        """Sizes as they were asked for, with the number of the allocation."""

    def serve(self, call: CallWorkspaces) -> None:
        """The requests of one call and their ends. Raises Indeterminate."""
        taken: dict[int, tuple[Quantity, int]] = {}
        for event in call.events:
            number = abs(event) - 1
            if event > 0:
                taken[number] = self._take(call.sizes[number], call)
            else:
                self._free.append(taken.pop(number))

    def _take(self, size: Quantity, call: CallWorkspaces) -> tuple[Quantity, int]:
        if not self._free:
            return self._obtain(size, call)
        if len(self._free) == 1:
            (held, number) = self._free.pop()
            if self._reaches(held, size):
                return held, number
            return self._exchange(number, greatest([held, size], self._positive), call)
        if isinstance(size, int) and all(isinstance(free, int) for free, _ in self._free):
            return self._first_fit(size, call)
        return self._choose(size, call)

    def _first_fit(self, size: int, call: CallWorkspaces) -> tuple[Quantity, int]:
        """Where all sizes are known."""
        self._free.sort(key=lambda entry: int(_pages(entry[0])))
        wanted = int(_pages(size))
        for position, (held, _) in enumerate(self._free):
            if int(_pages(held)) >= wanted:
                return self._free.pop(position)
        return self._exchange(self._free.pop()[1], size, call)

    def _choose(self, size: Quantity, call: CallWorkspaces) -> tuple[Quantity, int]:
        """Where sizes are symbolic: the request is at most as large as all that is free, or at least. In
        between it depends on the values which buffer is the first that is large enough.
        """
        least = [e for e in self._free if all(self._reaches(other[0], e[0]) for other in self._free)]
        if least and self._reaches(least[0][0], size):
            self._free.remove(least[0])
            return least[0]
        largest = [e for e in self._free if all(self._reaches(e[0], other[0]) for other in self._free)]
        if largest and self._reaches(size, largest[0][0]):
            self._free.remove(largest[0])
            return self._exchange(largest[0][1], size, call)
        raise Indeterminate("which buffers the workspace pool reuses depends on the values of the symbols")

    def _reaches(self, upper: Quantity, lower: Quantity) -> bool:
        if upper == lower:
            return True
        return reaches(sympy.sympify(upper), sympy.sympify(lower), self._positive)

    def _exchange(self, number: int, size: Quantity, call: CallWorkspaces) -> tuple[Quantity, int]:
        self._events.append(-(number + 1))
        return self._obtain(size, call)

    def _obtain(self, size: Quantity, call: CallWorkspaces) -> tuple[Quantity, int]:
        number = len(self._allocations)
        self._allocations.append(Allocation(_pages(size), call.point.op.place))
        self._events.append(number + 1)
        return size, number


def _pages(size: Quantity) -> Quantity:
    """What the pool obtains for a request; an empty one takes a page too."""
    page = WORKSPACE_PAGE_SIZE
    if isinstance(size, int):
        return max(1, -(-size // page)) * page
    return page * sympy.Max(1, FloorDiv(size + (page - 1), sympy.Integer(page)))
