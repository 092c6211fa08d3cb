"""The parts of the memory totals of one function that are only there on request, free of TVM and sympy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
class OverRange:
    """A total over a range of values: the `maximum` in bytes and the first assignment that reaches it. Where
    one symbol has a range, `pieces` are the formulas that give the total there.
    """

    maximum: int
    at: Mapping[str, int]
    pieces: tuple[Piece, ...] = ()


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
    `begin` and `end` are steps, the end excluded.
    """

    name: str
    offset: int
    size: int
    begin: int
    end: int


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
    branches the path takes, `steps` names each operation, `formulas` are the distinct sizes in bytes.
    """

    branches: str
    steps: tuple[str, ...]
    formulas: tuple[str, ...]
    storages: tuple[Tenure, ...]
