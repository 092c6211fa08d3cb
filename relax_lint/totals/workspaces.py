"""What the calls of a function request from TVM's workspace pool, and what the pool obtains for them.

Requests come from inside kernels, not from the VM's allocator: these totals stand beside the others. The pool
gives nothing back, so a walk with the pool's buffers in it (`workspace_pool.py`) has the peak of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import sympy

from relax_lint.model.operations import KernelCall
from relax_lint.model.program import Function, Program
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.cases import by_cases
from relax_lint.totals.compute import symbols_of
from relax_lint.totals.concrete import Concrete, Path
from relax_lint.totals.formula import greatest, never_negative_symbols, total
from relax_lint.totals.inlined import paths_of
from relax_lint.totals.kernel_memory import CallWorkspaces, KernelMemory, OnChip
from relax_lint.totals.own_pools import with_own_pools
from relax_lint.totals.peaks import peak, require_known
from relax_lint.totals.plans import Plans
from relax_lint.totals.pool_numbers import Followed, pool_of
from relax_lint.totals.pools import is_pooled, pooled
from relax_lint.totals.quantities import Indeterminate, Quantity
from relax_lint.totals.walk import Allocation, ExecMode, Inventory, Walk
from relax_lint.totals.workspace_pool import Which, obtained_for, with_pool
from relax_lint.vm.allocators import DEFAULT_PAGE_SIZE, Allocator

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
    numbers = all(isinstance(size, int) for path in paths for size in path.sizes())
    if not numbers or any(path.chosen for path in paths) or not is_pooled([path.walk for path in paths]):
        return _in_formulas(paths, page_size, positive)
    each = [Followed(_drawn(path, page_size, positive)) for path in paths]
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

    def held(which: Which) -> Quantity:
        return peak([with_pool(path, positive, which) for path in paths], positive).size

    def both_held() -> Quantity:
        drawn = [_drawn(path, page_size, positive) for path in paths]
        return peak([with_pool(path, positive, Which.BOTH) for path in drawn], positive).size

    def both_pools() -> Quantity:

        def of_case(alike: list[Path]) -> Quantity:
            return greatest([_both_pools(path, page_size, positive) for path in alike], positive)

        return by_cases(paths, of_case)

    together = {
        Allocator.NAIVE: _or_unknown(both_held),
        Allocator.POOLED: _or_unknown(both_pools),
    }
    pool = _or_unknown(lambda: held(Which.POOL))
    return pool, _or_unknown(lambda: held(Which.POOL_OF_A_WORKER)), together


def _drawn(path: Path, page_size: int, positive: frozenset[sympy.Symbol]) -> Path:
    """The path with what the pools of scopes obtain, the machine having the naive allocator."""
    return replace(path, walk=with_own_pools(path.walk, page_size, positive))


def concrete_workspaces(
    program: Program, function: Function, kernels: KernelMemory, *, page_size: int = DEFAULT_PAGE_SIZE
) -> Concrete | None:
    """The totals of the pool at any values of the symbols; None where a size is not known at all."""
    walks = storage_walks(program, function)
    if isinstance(walks, Unknown):
        return None
    positive = never_negative_symbols(function)
    try:
        require_known(walks)
        paths = [Path(walk, _requesting(_asked(walk, kernels, positive))) for walk in walks]
    except Indeterminate:
        return None
    takes_all = is_pooled(walks)

    def figures(found: Sequence[Path]) -> dict[str, int]:
        each = [Followed(_drawn(path, page_size, positive)) for path in found]
        figures = {
            "workspaces.held": max((one.held for one in each), default=0),
            "workspaces.per_worker": max((one.of_worker for one in each), default=0),
            "workspaces.together.naive": max((one.together for one in each), default=0),
        }
        if takes_all:
            both = (pool_of(path.walk, page_size) + one.held for path, one in zip(found, each, strict=True))
            figures["workspaces.together.pooled"] = max(both, default=0)
        return figures

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
    largest = greatest([obtained_for(size) for call in calls for size in call.sizes], positive)
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
    held = peak([with_pool(path, positive, Which.POOL)], positive).size
    return total([pooled([path.walk], page_size, positive), held])
