"""Why a function needs what it needs, free of TVM and sympy."""

from __future__ import annotations

from collections.abc import Mapping

from relax_lint.support.lazy_dataclass import dataclass


@dataclass(frozen=True)
class LiveTensor:
    """A tensor that is alive when most is, and the kernel that writes it."""

    name: str
    operator: str | None
    shape: str
    dtype: str
    line: int | None
    bytes: int


@dataclass(frozen=True)
class Saving:
    """A change (`storage`, `in place` or `bound`) in words, and the bytes that it saves: of the plan for
    storages, else of what the tensors need at one time.
    """

    kind: str
    text: str
    saves: int


@dataclass(frozen=True)
class Why:
    """The reasons for the peak `at` one assignment: `planned` are the bytes of storages at one time, `needed`
    those of tensors, reached by `binding`; `number` tensors are alive there, the largest are listed.
    `changes` begin with the one that saves most; `remarks` are sentences.
    """

    at: Mapping[str, int]
    planned: int
    needed: int
    binding: str
    line: int | None
    number: int
    tensors: tuple[LiveTensor, ...] = ()
    changes: tuple[Saving, ...] = ()
    remarks: tuple[str, ...] = ()
