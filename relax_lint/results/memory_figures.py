"""The memory totals of one function, free of TVM and sympy; first what is computed on request only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from relax_lint.results.location import Location
from relax_lint.results.memory_why import Why
from relax_lint.results.notebook import totals_html
from relax_lint.results.plain import to_json
from relax_lint.support.lazy_dataclass import dataclass

OVER_RANGE = " over the range"
"""Behind the name of a total in `unknown`: why it has no maximum over ranges."""
AT_VALUES = " at these values"
"""The same: why a total that has a formula has no value at the bindings."""
MAX_TIMELINES = 8
"""Paths through one function that a report shows; there may be more."""


@dataclass(frozen=True)
class SymbolRange:
    """A symbol of a function and its declared bounds (None: not declared)."""

    name: str
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True)
class Piece:
    """The values of a symbol, both ends included, for which one formula gives the total in bytes."""

    low: int
    high: int
    expr: str


@dataclass(frozen=True)
class Growth:
    """So many `bytes` more for so many more `units` of a symbol, wherever in its range one starts; with
    `up_to` only where one arrives there (elsewhere it is another number), with `apart` only where no sizes
    happen to be equal, so that the pooled allocator reuses no buffer for another size.
    """

    symbol: str
    bytes: int
    units: int
    up_to: int | None = None
    apart: bool = False


@dataclass(frozen=True)
class OverRange:
    """A total over a range of values: the `maximum` in bytes and the first assignment that reaches it. Where
    one symbol has a range, `pieces` are the formulas that give the total there and `minimum` is its least
    value. `within` are the ranges: those that were asked for, else declared or assumed bounds. `growth` is
    how the total grows along each symbol, the others being where the maximum is. `at_end` is the total where
    every symbol is at the end of its range. With `is_limit` there was too much to try: the total never
    exceeds the `maximum`, which need not be reached.
    """

    maximum: int
    at: Mapping[str, int]
    pieces: tuple[Piece, ...] = ()
    minimum: int | None = None
    within: tuple[SymbolRange, ...] = ()
    growth: tuple[Growth, ...] = ()
    at_end: int | None = None
    is_limit: bool = False


@dataclass(frozen=True)
class Estimate:
    """What TVM's estimator counts in one function: numbers of allocations, and bytes."""

    function: str
    tensors: int
    tensor_bytes: int
    dynamic_tensors: int
    storages: int
    storage_bytes: int
    dynamic_storages: int = 0


@dataclass(frozen=True)
class Resident:
    """A tensor on a storage. `offset` and `size` are positions in the formulas of the timeline, in bytes;
    `begin` and `end` are steps, the end excluded. `operator` is the call that writes it first and `line` that
    of this call; None, and an empty `shape` or `dtype`, where that is not known.
    """

    name: str
    offset: int
    size: int
    begin: int
    end: int
    operator: str | None = None
    shape: str = ""
    dtype: str = ""
    line: int | None = None


@dataclass(frozen=True)
class Tenure:
    """One piece of memory that the allocator hands out, and the tensors that live there. `pooled` is the
    formula of its size in whole pages; the other fields are as in `Resident`.
    """

    name: str
    size: int
    pooled: int
    begin: int
    end: int
    scope: str
    device: int
    line: int | None
    residents: tuple[Resident, ...]


@dataclass(frozen=True)
class Timeline:
    """Memory over program order on one path through a function, callees included. `branches` says which
    branches the path takes, `steps` names each operation, `formulas` are the distinct sizes in bytes,
    `layers` are the steps at which the layers of the model begin, as its kernels repeat.
    """

    branches: str
    steps: tuple[str, ...]
    formulas: tuple[str, ...]
    storages: tuple[Tenure, ...]
    layers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Amount:
    """A number of bytes: a sympy-readable expression, and its value where no symbol remains."""

    expr: str
    value: int | None


@dataclass(frozen=True)
class PlaceOfPeak:
    """The operation at which the peak is reached."""

    binding: str
    location: Location | None


@dataclass(frozen=True)
class CallMemory:
    """The bytes alive at one kernel call: its inputs, its output, and everything else alive."""

    callee: str
    binding: str
    used_memory: Amount | None


@dataclass(frozen=True)
class CallWorkspace:
    """What one kernel call requests from the workspace pool at one time, at most."""

    callee: str
    binding: str
    line: int | None
    requested: Amount | None


@dataclass(frozen=True)
class OnChipMemory:
    """The buffers of a kernel on the stack, or in a memory of the chip such as `shared`, together, over the
    symbols of the kernel; for shared memory with the limit that the target declares for a block.
    """

    kernel: str
    scope: str
    bytes: Amount | None
    limit: int | None


@dataclass(frozen=True)
class Workspaces:
    """The buffers that kernels make themselves. TVM's workspace pool provides them, not the VM's allocator.

    `requested` is the most that one kernel call asks for at one time, `held` what the pool obtains over one
    call of the function, starting empty, `together` by allocator what the allocator and the pool hold at one
    time. `per_worker` is what the pool of each further thread holds where kernels have parallel loops.
    """

    requested: Amount | None
    held: Amount | None
    per_worker: Amount | None
    together: Mapping[str, Amount | None]
    calls: tuple[CallWorkspace, ...] = ()
    on_chip: tuple[OnChipMemory, ...] = ()


@dataclass(frozen=True)
class PackedMemory:
    """What one packed function takes besides the VM's allocator, on the device and on the host: exactly so
    much, held by the object that it returns, or (`scratch`) at most so much, until it returns.
    """

    callee: str
    binding: str
    line: int | None
    device: Amount | None
    host: Amount | None
    scratch: bool


@dataclass(frozen=True)
class PackedFunctions:
    """The packed functions that a function and its callees call, and take memory. `device` and `host` are the
    bytes of all objects that they make; `not_counted` has those whose memory is not in any total, with the
    reason.
    """

    device: Amount | None
    host: Amount | None
    calls: tuple[PackedMemory, ...] = ()
    not_counted: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class MemoryTotals:
    """Memory totals of one function, in bytes.

    `bindings` are the values that were asked for. A total for which there is no formula is None, or a number
    that holds at the bindings only; `unknown` has the reason by its name: `peak_live`, `reserved.pooled`, ...
    (with `OVER_RANGE` or `AT_VALUES` behind it where only a maximum or a value is missing).
    `over_range`, by the same names, is there for ranges, asked for or declared as bounds; `at_most` has
    what a total without a formula never exceeds; `timelines` are there where they were asked for. `reserved`
    is for one call and `repeated` for any number of calls one after the other, by allocator. `workspaces`,
    `packed` and `why` are there where they were asked for.
    """

    path: str
    module: str | None
    function: str
    parameter_count: int
    parameter_bytes: Amount | None
    constant_count: int
    constant_bytes: Amount
    io_used_memory: Amount | None
    unplanned_static_count: int
    unplanned_static_bytes: int
    unplanned_dynamic_count: int
    unplanned_dynamic_bytes: Amount | None
    planned_static_count: int
    planned_static_bytes: int
    planned_dynamic_count: int
    planned_dynamic_bytes: Amount | None
    reserved: Mapping[str, Amount | None]
    by_scope: Mapping[str, Amount | None]
    by_device: Mapping[str, Amount | None]
    peak_live: Amount | None = None
    peak_at: PlaceOfPeak | None = None
    lower_bound: Amount | None = None
    calls: tuple[CallMemory, ...] = ()
    symbols: tuple[SymbolRange, ...] = ()
    bindings: Mapping[str, int] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)
    over_range: Mapping[str, OverRange] = field(default_factory=dict)
    at_most: Mapping[str, Amount] = field(default_factory=dict)
    timelines: tuple[Timeline, ...] = ()
    repeated: Mapping[str, Amount | None] = field(default_factory=dict)
    workspaces: Workspaces | None = None
    packed: PackedFunctions | None = None
    why: Why | None = None

    def to_json(self) -> str:
        """The totals as JSON, field for field."""
        return to_json(self)

    def _repr_html_(self) -> str:
        return totals_html(self)
