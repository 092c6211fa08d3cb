"""Kills before the last use: which of them goes where."""

from __future__ import annotations

from collections.abc import Sequence

from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.paths import Paths
from relax_lint.fixes.changes import Applicability, Change, MoveKill, Remedy, Remove
from relax_lint.model.operations import Kill, Op
from relax_lint.model.program import Function


def after_last_use(kill: Kill, function: Function, flow: FunctionFlow) -> tuple[Remedy, ...]:
    """For a kill before a use, and all others that come before the uses after it: one moves behind the last
    of these, the others go. All go where that is outside the branches of each of them, and all kills of the
    value where it is returned; TVM adds the missing kills.
    """
    register = flow.aliases.register
    kills = [one for one in function.body.of(Kill) if register(one.target) == register(kill.target)]
    uses = [use for use in flow.kills.uses if use.kill in kills]
    if any(use.op is None for use in uses):
        return (_removed(kills),)
    used = [use.op for use in uses if use.kill is kill and use.op is not None]
    if not used:
        return ()
    paths = flow.paths
    early = [one for one in kills if one is kill or any(_precedes(one, op, paths) for op in used)]
    # The outermost, after which no way is without a kill that had one; else the one that the finding names.
    can_stay = [one for one in (kill, *early) if all(paths.always_with(one, op) for op in used)]
    moved = min(can_stay, key=lambda one: len(paths.of(one)), default=None)
    if moved is None:
        return (_removed(early),)
    last = max(used, key=lambda op: op.place.index)
    inside, depth = paths.of(last), len(paths.of(moved))
    after = _operation(inside[depth][0], function) if len(inside) > depth else last
    others = [Remove(one) for one in early if one is not moved]
    what = "the kill after the last use" + (", without the earlier ones" if others else "")
    changes: tuple[Change, ...] = (MoveKill(moved, after), *others)
    return (Remedy(f"move {what}", Applicability.SAFE, changes),)


def _removed(kills: Sequence[Kill]) -> Remedy:
    what = "the early kill" if len(kills) == 1 else "the early kills"
    return Remedy(f"remove {what}", Applicability.SAFE, tuple(map(Remove, kills)))


def _precedes(kill: Kill, op: Op, paths: Paths) -> bool:
    """Whether a run may come to a use after a kill. What an `If` uses is also what its branches give."""
    index = op.place.index
    within = any(around == index for around, _ in paths.of(kill))
    return within or (kill.place.index < index and not paths.never_with(kill, op))


def _operation(index: int, function: Function) -> Op:
    return next(op for op in function.body.walk() if op.place.index == index)
