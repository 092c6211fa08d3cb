"""What is to be changed, in terms of the memory program: neither text nor IR.

`fixes.planning` offers `Remedy`s for what a rule asks for. `fixes.text` makes edits of the file of them,
`fixes.module` a new IRModule.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.fixes.comparing import Comparison
from relax_lint.model.operations import AllocStorage, Kill, Op, OperationId
from relax_lint.model.program import BoundKind
from relax_lint.results.check import Turn
from relax_lint.support.lazy_dataclass import record


class Applicability(Enum):
    """Whether a change may be made without asking: a `SAFE` one leaves every run alone that was right, an
    `UNSAFE` one changes what the program is, a `DISPLAY` one is only shown.
    """

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


@record(frozen=True)
class InsertAssert:
    """Insert `R.assert_op(condition, symbols)` before an operation, or at the entry (`before` None); with a
    `comparison` a call of `vm.builtin.match_shape` that makes it, which needs no lowering.

    `condition` is one relation, or alternatives of relations; a conjunction is several changes. It is made of
    operations that TVMScript has and divides by constants only.
    """

    condition: Boolean
    symbols: tuple[sympy.Symbol, ...]
    before: OperationId | None
    comparison: Comparison | None = None


@record(frozen=True)
class ResizeStorage:
    """Write `extent` as the size of a storage: bytes for `R.memory`, elements of its dtype for `R.vm`."""

    storage: AllocStorage
    extent: sympy.Expr


@record(frozen=True)
class Remove:
    """Remove an operation whose result is never used."""

    op: Op


@record(frozen=True)
class MoveKill:
    """Move a kill to right after another operation of its block."""

    kill: Kill
    after: Op


@record(frozen=True)
class RenameBound:
    """Write `new` for the name `old` in a bound attribute."""

    kind: BoundKind
    old: str
    new: str


Change: TypeAlias = InsertAssert | ResizeStorage | Remove | MoveKill | RenameBound


@record(frozen=True)
class Remedy:
    """One way to make a finding go away: all `changes` together. `title` is in the imperative."""

    title: str
    applicability: Applicability
    changes: tuple[Change, ...]
    turn: Turn = Turn.CHANGE
