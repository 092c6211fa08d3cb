"""The words for an access that is not proved: which buffer, which axis, in which step, why."""

from __future__ import annotations

from collections.abc import Callable

from relax_lint.facts.kernel_access_verdicts import AccessVerdict, Status
from relax_lint.facts.kernels import KernelUse
from relax_lint.model.kernel_access.trial import Outcome, Trial
from relax_lint.results.location import Location
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.printing import condition_text, expr_text
from relax_lint.symbolic.quantity import Unknown


@record(frozen=True)
class AccessWords:
    """Parts of a message: the buffer, `` along axis 0``, what is reached, where, why it is undecided."""

    buffer: str
    along: str
    reached: str
    what: str
    reason: str
    notes: tuple[str, ...] = ()
    help: tuple[str, ...] = ()
    place: tuple[tuple[str, Location], ...] = ()
    beside: str = ""
    """The axis that is left where the memory perhaps is not."""


def words(use: KernelUse, found: AccessVerdict, name_of: Callable[[KernelUse, int], str]) -> AccessWords:
    """The words for one access of a call."""
    access = found.access
    ref = access.buffer
    buffer = f"`{ref.name}` of the kernel"
    if ref.parameter is not None:
        buffer = name_of(use, ref.parameter)
    axis = None if found.obligation is None else found.obligation.axis
    step = _step(found)
    if step is not None:
        axis = step.axis
    along = "" if axis is None else f" along axis {axis}"
    what = f"`{access.text}` in `{use.kernel.name}`" if access.node is not None else f"in `{use.kernel.name}`"
    return AccessWords(
        buffer,
        along,
        _reached(use, found, axis, buffer),
        what,
        found.reason or _assumed(found) or "it is not known which elements",
        notes=_witness(use, found, buffer),
        help=_guard(use, found, axis),
        place=_place(use, found),
        beside=_beside(found, axis, buffer),
    )


def _assumed(found: AccessVerdict) -> str:
    """What it takes for the access to stay inside, where that is about what a tensor holds."""
    return next((f"it assumes {one.text}" for one in found.assumptions if one.is_contents), "")


def _beside(found: AccessVerdict, axis: int | None, buffer: str) -> str:
    if found.status is not Status.BESIDE:
        return ""
    return f"axis {axis} of {buffer}" if axis is not None else f"an axis of {buffer}"


def _step(found: AccessVerdict) -> Trial | None:
    """A step in which an index is outside, if one is known."""
    trial = found.trial
    return trial if trial is not None and trial.outcome in (Outcome.OUTSIDE, Outcome.BESIDE) else None


def _place(use: KernelUse, found: AccessVerdict) -> tuple[tuple[str, Location], ...]:
    """The access in the text of the kernel."""
    where = use.kernel.place_of(found.access)
    if where is None:
        return ()
    trial = _step(found)
    if trial is None:
        return (("the access", where),)
    loops = ", ".join(f"{name} = {value}" for name, value in trial.loops.items())
    when = f" where {loops}" if loops else ""
    return ((f"the access: index {trial.index} on an axis of {trial.extent}{when}", where),)


def _reached(use: KernelUse, found: AccessVerdict, axis: int | None, buffer: str) -> str:
    """The last index, where it is known, else the access itself."""
    access = found.access
    if axis is None:
        return f"`{access.text}`" if access.node is not None else ""
    index = access.where[axis]
    below = found.obligation is not None and found.obligation.below
    if index is not None:
        end = access.terms.least(index if below else -index)
        if end is not None:
            bound = use.match.binding.expr(access.terms.expression(end if below else -end))
            if not isinstance(bound, Unknown):
                return f"reaches index `{expr_text(bound)}` of axis {axis} of {buffer}"
    return f"`{access.text}` leaves axis {axis} of {buffer}"


def _witness(use: KernelUse, found: AccessVerdict, buffer: str) -> tuple[str, ...]:
    """A step in which it is outside."""
    trial, decision = _step(found), found.decision
    if (
        found.status in (Status.UNDECIDED, Status.LIMITED)
        and decision is not None
        and decision.safe_when is not None
    ):
        return (f"it is inside if {condition_text(decision.safe_when)}",)
    is_refused = decision is not None and not decision.reaches
    if trial is None or found.access.node is None or is_refused:
        return ()
    loops = ", ".join(f"{name} = {value}" for name, value in trial.loops.items())
    when = f" where {loops}" if loops else ""
    wrong = None if found.decision is None else found.decision.wrong
    example = ", ".join(f"{name} = {value}" for name, value in (wrong or {}).items())
    given = f"with {example}, " if example else ""
    return (
        f"{given}`{found.access.text}` in `{use.kernel.name}` has index {trial.index} on an axis of "
        f"{trial.extent}{when}{_elsewhere(found, trial, buffer)}",
    )


def _elsewhere(found: AccessVerdict, trial: Trial, buffer: str) -> str:
    """What is at an index outside of its axis, where it may not be outside the memory."""
    ref = found.access.buffer
    if found.status is not Status.BESIDE:
        return ""
    memory = buffer if ref.number == ref.root else f"the memory that `{ref.name}` shows"
    if not trial.knows_memory:
        return f": it may be another element of {memory}"
    if ref.parameter is None:
        return f": it is another element of {memory}, unless TVM makes less memory of it"
    return f": it is another element of {memory}, not outside its memory"


def _guard(use: KernelUse, found: AccessVerdict, axis: int | None) -> tuple[str, ...]:
    """A guard in the kernel that would keep it inside."""
    access, obligation = found.access, found.obligation
    if found.status is Status.BESIDE:
        # Perhaps the other element is the one that is meant.
        return ()
    if access.node is None or obligation is None or axis is None or axis >= len(access.node.indices):
        return ()
    index, extent = str(access.node.indices[axis]), access.extents[axis]
    if extent is None:
        return ()
    condition = f"{index} >= 0" if obligation.below else f"{index} < {expr_text(extent)}"
    return (f"in `{use.kernel.name}`, guard `{access.text}` with `if {condition}:`",)
