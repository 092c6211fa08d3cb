"""What a rule may ask for to make a finding go away. `fixes` plans it.

Importing this imports neither TVM nor sympy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from relax_lint.support.lazy_dataclass import record

if TYPE_CHECKING:
    from relax_lint.facts.judge import Decided
    from relax_lint.facts.placement import Placement
    from relax_lint.model.operations import AllocStorage, AllocTensor, Kill, Op
    from relax_lint.model.program import DeclaredBound


@record(frozen=True)
class CheckAtRunTime:
    """Check the safe region of the verdict where the operation is; not `safe` where that may refuse what
    works well enough.
    """

    safe: bool = True


def check_unless_empty(decided: Decided[Any]) -> CheckAtRunTime | None:
    """Such a check; None where only empty tensors would pass it, so that it refused every useful input."""
    return None if decided.only_empty else CheckAtRunTime()


@record(frozen=True)
class CheckAtEntry:
    """Check the safe region of the verdict, a declared bound, where the function is entered."""


@record(frozen=True)
class MakeRoom:
    """Make a storage large enough for a tensor, or check at run time that the tensor fits. Without `check`
    only the former, where a check would refuse every useful input; with `instead` the finding also shows how
    to do without the storage, where nothing else is safe.
    """

    placement: Placement
    check: bool = True
    instead: bool = False


@record(frozen=True)
class Drop:
    """Remove an operation whose result is never used; `what` names it in the title."""

    op: Op
    what: str


@record(frozen=True)
class DropAllocation:
    """Remove an unused allocation, with everything that is then unused too."""

    allocation: AllocStorage | AllocTensor


@record(frozen=True)
class DelayKill:
    """Move a kill after the last use of what it kills, or remove it."""

    kill: Kill


@record(frozen=True)
class RenameDeclaredBound:
    """Declare a bound for the symbol `name`."""

    bound: DeclaredBound
    name: str


RemedyRequest: TypeAlias = (
    "CheckAtRunTime | CheckAtEntry | MakeRoom | Drop | DropAllocation | DelayKill | RenameDeclaredBound"
)
