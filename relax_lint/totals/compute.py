"""The memory totals of one function.

- *peak live* and *reserved, naive* are what the VM's allocator holds: storages (and the shape heap of a
  lowered function), from their allocation until the last register that reaches them is cleared. Kills are
  those of the function, completed as a default build would (`relax_lint.analysis.liveness.inserted_kills`).
  They differ where a scope has a pool of its own (`own_pools.py`).
- *lower bound* asks what the tensors alone need at any one time, each to its last use: no planner that
  keeps the order of the operations can do with less.
- *repeated* is what is reserved over several calls with the same symbols: the machine keeps the result of a
  call until the next one returns something, so that the next one needs that much more.
- *per scope* and *per device* are peaks too: what a budget for that scope or device has to cover.

Formulas hold wherever sizes are not negative: the VM refuses those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias, TypeVar

import sympy

from relax_lint.analysis.planned import rests_on_unplanned
from relax_lint.model.operations import AllocStorage, AllocTensor, ValueId
from relax_lint.model.program import Function, Program
from relax_lint.model.sizes import BITS_PER_BYTE, elements
from relax_lint.model.types import TensorType, TupleType, ValueType
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.totals.folded import events_of
from relax_lint.totals.formula import never_negative_symbols, total
from relax_lint.totals.inlined import paths_of
from relax_lint.totals.own_pools import has_own_pools, with_own_pools
from relax_lint.totals.peaks import Group, Peak, devices_of, peak, scopes_of
from relax_lint.totals.plans import Plans
from relax_lint.totals.pools import pooled
from relax_lint.totals.quantities import Indeterminate, Quantity, Scope, held_bytes, impossible, value_bytes
from relax_lint.totals.used_memory import CallUse, used_memory
from relax_lint.totals.walk import Events, ExecMode, Inventory
from relax_lint.vm.allocators import DEFAULT_PAGE_SIZE, Allocator

T = TypeVar("T")
Reserved: TypeAlias = "dict[Allocator, Quantity | Unknown]"


@record(frozen=True)
class Counted:
    """Allocations of constant size, and those whose size depends on symbols, in bytes."""

    static_count: int
    static_bytes: int
    dynamic_count: int
    dynamic_bytes: Quantity | Unknown


@record(frozen=True)
class Totals:
    """The totals of one function as quantities in bytes; Unknown, with the reason, where there is none."""

    parameters: Quantity | Unknown
    constants: Quantity | Unknown
    io_used_memory: Quantity | Unknown
    unplanned: Counted
    planned: Counted
    peak_live: Peak | Unknown
    lower_bound: Peak | Unknown
    reserved: Mapping[Allocator, Quantity | Unknown]
    repeated: Mapping[Allocator, Quantity | Unknown]
    by_scope: Mapping[str, Quantity | Unknown]
    by_device: Mapping[str, Quantity | Unknown]
    calls: tuple[CallUse, ...]


def measure(
    program: Program,
    function: Function,
    *,
    page_size: int = DEFAULT_PAGE_SIZE,
    exec_mode: ExecMode = ExecMode.BYTECODE,
    binding: Mapping[str, int] | None = None,
) -> Totals:
    """The totals of a function, `page_size` being that of the pooled allocator in bytes.

    With a `binding` of symbols by name every total that depends on them is computed from plain ints, and
    branches that the binding decides are decided; a symbol that is left out makes the totals that need it
    Unknown.
    """
    values = None if binding is None else symbols_of(function, binding)
    positive = never_negative_symbols(function)
    scope = Scope(values)

    plans = Plans.of(program)

    def walks(inventory: Inventory, calls: int = 1) -> list[Events]:
        return events_of(plans, function, inventory, values, exec_mode, calls)

    def used() -> tuple[CallUse, ...]:
        return used_memory(paths_of(plans, function, Inventory.VALUES, values, exec_mode), positive)

    def peak_of(storages: list[Events] | Unknown) -> Peak | Unknown:
        return _of_walks(storages, lambda found: peak(found, positive))

    def naive(storages: list[Events] | Unknown, live: Peak | Unknown, calls: int) -> Quantity | Unknown:
        if isinstance(storages, Unknown) or not any(map(has_own_pools, storages)):
            return size_of(live)

        def drawn() -> Quantity:
            paths = paths_of(plans, function, Inventory.STORAGES, values, exec_mode, calls)
            return peak([with_own_pools(path, page_size, positive) for path in paths], positive).size

        return _or_unknown(drawn)

    def reserved(storages: list[Events] | Unknown, live: Peak | Unknown, calls: int) -> Reserved:
        return {
            Allocator.NAIVE: naive(storages, live, calls),
            Allocator.POOLED: _of_walks(storages, lambda found: pooled(found, page_size, positive)),
        }

    # All calls after the second one are like it. The first is a part of this walk.
    twice = _or_unknown(lambda: walks(Inventory.STORAGES, calls=2))
    storages = _or_unknown(lambda: walks(Inventory.STORAGES))
    live = peak_of(storages)
    uses = _or_unknown(used)
    by_scope, by_device = _grouped(storages, live, positive)
    return Totals(
        parameters=_held_by(function, function.parameters, scope),
        constants=_held_by(function, function.constants, scope),
        io_used_memory=_sum_of(function, (*function.parameters, function.result), scope),
        unplanned=_count(_tensors(function), scope),
        planned=_count(_storages(function), scope),
        peak_live=live,
        lower_bound=_or_unknown(lambda: peak(walks(Inventory.TENSORS), positive)),
        reserved=reserved(storages, live, 1),
        repeated=reserved(twice, peak_of(twice), 2),
        by_scope=by_scope,
        by_device=by_device,
        calls=() if isinstance(uses, Unknown) else uses,
    )


def measure_planned(
    program: Program,
    function: Function,
    *,
    page_size: int = DEFAULT_PAGE_SIZE,
    binding: Mapping[str, int] | None = None,
) -> Totals:
    """As `measure`; of a function that TVM has still to plan nothing is known but its parameters."""
    unplanned = rests_on_unplanned(program, function)
    if unplanned is None:
        return measure(program, function, page_size=page_size, binding=binding)
    values = None if binding is None else symbols_of(function, binding)
    return _not_planned(function, Scope(values), unplanned)


def _not_planned(function: Function, scope: Scope, unplanned: str) -> Totals:
    """The totals where it is still to be decided what is allocated."""
    unknown = Unknown(f"`{unplanned}` is not planned: nothing in it is allocated explicitly")
    counted = Counted(0, 0, 0, unknown)
    reserved: dict[Allocator, Quantity | Unknown] = dict.fromkeys(Allocator, unknown)
    return Totals(
        parameters=_held_by(function, function.parameters, scope),
        constants=_held_by(function, function.constants, scope),
        io_used_memory=_sum_of(function, (*function.parameters, function.result), scope),
        unplanned=counted,
        planned=counted,
        peak_live=unknown,
        lower_bound=unknown,
        reserved=reserved,
        repeated=reserved,
        by_scope={},
        by_device={},
        calls=(),
    )


def size_of(reached: Peak | Unknown) -> Quantity | Unknown:
    """The bytes of a peak."""
    return reached if isinstance(reached, Unknown) else reached.size


def symbols_of(function: Function, binding: Mapping[str, int]) -> dict[sympy.Symbol, int]:
    """A binding by name as one by symbol; names that the function does not have are left out."""
    symbols = {info.symbol.name: info.symbol for info in function.symbols}
    return {symbols[name]: value for name, value in binding.items() if name in symbols}


def _or_unknown(compute: Callable[[], T]) -> T | Unknown:
    try:
        return compute()
    except Indeterminate as reason:
        return Unknown(str(reason))


def _of_walks(walks: list[Events] | Unknown, compute: Callable[[list[Events]], T]) -> T | Unknown:
    return walks if isinstance(walks, Unknown) else _or_unknown(lambda: compute(walks))


def _grouped(
    storages: list[Events] | Unknown, live: Peak | Unknown, positive: frozenset[sympy.Symbol]
) -> tuple[dict[str, Quantity | Unknown], dict[str, Quantity | Unknown]]:
    """The peak by scope and by device; `live` is that of all together."""
    if isinstance(storages, Unknown):
        return {}, {}
    scopes = {scope for walk in storages for scope in scopes_of(walk)}
    devices = {device for walk in storages for device in devices_of(walk)}

    def size(group: Group, number: int) -> Quantity | Unknown:
        found = live if number == 1 else _or_unknown(lambda: peak(storages, positive, group))
        return size_of(found)

    return (
        {scope: size(Group(scope=scope), len(scopes)) for scope in sorted(scopes)},
        {str(device): size(Group(device=device), len(devices)) for device in sorted(devices, key=str)},
    )


# -- counts -----------------------------------------------------------------------------------


def _tensors(function: Function) -> Iterable[Size]:
    for op in function.body.of(AllocTensor):
        yield estimated_bytes(op)


def _storages(function: Function) -> Iterable[Size]:
    for op in function.body.of(AllocStorage, AllocTensor):
        if isinstance(op, AllocStorage):
            yield op.size
        elif op.storage is None:
            yield estimated_bytes(op)


def estimated_bytes(op: AllocTensor) -> Size:
    """Bytes of a tensor as TVM's estimate_memory_usage counts them: whole bytes for every lane."""
    if isinstance(op.shape, Unknown) or op.dtype.bits % BITS_PER_BYTE == 0:
        return op.bytes
    return elements(op.shape) * (-(-op.dtype.bits // BITS_PER_BYTE) * op.dtype.lanes)


def _count(sizes: Iterable[Size], scope: Scope) -> Counted:
    static: list[int] = []
    dynamic: list[Size] = []
    for size in sizes:
        if not isinstance(size, Unknown) and size.is_Integer:
            static.append(int(size))
        else:
            dynamic.append(size)
    dynamic_bytes = _or_unknown(lambda: total(_possible(scope.quantity(size)) for size in dynamic))
    return Counted(len(static), sum(static), len(dynamic), dynamic_bytes)


def _possible(size: Quantity) -> Quantity:
    """A size that a call can ask for. Raises Indeterminate for any other."""
    reason = impossible(size)
    if reason is not None:
        raise Indeterminate(reason)
    return size


def _held_by(function: Function, values: Iterable[ValueId], scope: Scope) -> Quantity | Unknown:
    """Bytes of the memory of all tensors among some values."""
    return _or_unknown(lambda: total(held_bytes(t, scope) for t in _tensors_among(function, values)))


def _sum_of(function: Function, values: Iterable[ValueId], scope: Scope) -> Quantity | Unknown:
    """The same in whole bytes for every element."""
    return _or_unknown(lambda: total(value_bytes(t, scope) for t in _tensors_among(function, values)))


def _tensors_among(function: Function, values: Iterable[ValueId]) -> Iterable[TensorType]:
    for value in values:
        yield from _tensors_in(function.type_of(value))


def _tensors_in(type_: ValueType) -> Iterable[TensorType]:
    if isinstance(type_, TensorType):
        yield type_
    elif isinstance(type_, TupleType):
        for item in type_.fields:
            yield from _tensors_in(item)
