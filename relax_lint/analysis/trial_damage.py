"""One run of a function in which something does not hold what it should, but what was written over it, where
that is known, and anything otherwise.
"""

from __future__ import annotations

from relax_lint.analysis.observed_parts import Flow
from relax_lint.analysis.trial_sizes import Sizes
from relax_lint.analysis.trial_tensors import TrialTensor, Unclear
from relax_lint.analysis.trial_walk import Budget, Held, Seen, Walk, leaves
from relax_lint.model.operations import KernelCall, Op, ValueId
from relax_lint.symbolic.quantity import Unknown


class DamagedWalk(Walk):
    """One run with damage of a value, before the operation with an index or `behind` it. `is_real` is the
    damage that this operation does, as far as it is known.
    """

    def __init__(
        self,
        budget: Budget,
        flow: Flow,
        sizes: Sizes,
        trial: int,
        value: ValueId,
        at: int,
        *,
        behind: bool,
        is_real: bool,
    ) -> None:
        super().__init__(budget, flow, sizes, trial)
        self._value = value
        self._at = at
        self._behind = behind
        self._is_real = is_real
        self._damaged: TrialTensor | None = None
        self._writer: TrialTensor | None = None
        """What was written over it."""
        self._distance = 0
        """How many elements behind the first one of it that begins."""
        self._earlier: TrialTensor | None = None
        """What it held before it was overwritten in place."""

    def differs(self) -> bool | None:
        """Whether the damage changes what is given back; None where it is not reached."""
        try:
            self._block(self._function.body)
        except Seen:
            return True
        if self._damaged is None:
            return None
        named = self._of(self._value)
        is_named = isinstance(named, TrialTensor) and named.both is self._damaged.both
        if not is_named and self._value not in self._other_views:
            # What has the name is not what was damaged, as far as it is followed.
            raise Unclear
        ends = (self._function.result, *self._function.parameters)
        return any(one.differs for end in ends for one in leaves(self._of(end)))

    def _before(self, op: Op) -> None:
        if op.place.index != self._at:
            return
        if not self._behind:
            self._damage(None)
        elif self._is_real and isinstance(op, KernelCall):
            self._look_for_writer(op)

    def _after(self, op: Op) -> None:
        if op.place.index == self._at and self._behind:
            self._damage(op.result)
        elif self._damaged is not None and self._writer is not None and self._has_stored(self._writer):
            self._damaged.damage_with(self._writer, self._distance)

    def _has_stored(self, tensor: TrialTensor) -> bool:
        return any(one.both is tensor.both for one in self._stored)

    def _target(self) -> TrialTensor:
        """What is to be damaged. Raises `Unclear` where that is not followed."""
        value, roots = self._value, self._flow.aliases.roots_of(self._value)
        if value not in self._held and len(roots) == 1:
            # It may be a name that comes later.
            root = self._flow.aliases.roots.value_of(next(iter(roots)))
            value = root if root in self._held else value
        target = self._of(value)
        if not isinstance(target, TrialTensor):
            raise Unclear
        return target

    # -- what is written over it ---------------------------------------------------------------

    def _look_for_writer(self, op: KernelCall) -> None:
        """Find what an operation writes that lies where the value does."""
        target, found = self._target(), list[tuple[ValueId, int]]()
        for position in sorted(self._flow.effect_of(op).writes):
            if position < len(op.arguments):
                argument = op.arguments[position]
                distance = self._distance_of(argument, target)
                if distance is not None:
                    found.append((argument, distance))
        if len(found) != 1:
            return
        (argument, self._distance), is_met = found[0], found[0][0] in self._held
        writer = self._of(argument)
        if not isinstance(writer, TrialTensor) or not writer.has_dtype_of(target):
            return
        self._writer = writer
        if writer.both is target.both:
            self._earlier = target.copied()
        elif not is_met:
            # Nobody wrote it before: it holds what lies there.
            writer.take(target, -self._distance)

    def _distance_of(self, argument: ValueId, target: TrialTensor) -> int | None:
        """How many elements behind the first one of what is to be damaged an argument begins that may be on
        the same memory; None where that is not known.
        """
        held = self._held.get(argument)
        if isinstance(held, TrialTensor) and held.both is target.both:
            return 0
        memory = self._flow.memory
        owners = memory.owners(argument)
        if len(owners) != 1 or owners != memory.owners(self._value):
            return None
        start, its = memory.range(argument).start, memory.range(self._value).start
        if isinstance(start, Unknown) or isinstance(its, Unknown):
            return None
        distance = (start - its).xreplace(dict(self._sizes))
        if not distance.is_Integer or int(distance) % target.width:
            return None
        return int(distance) // target.width

    # -- the damage ----------------------------------------------------------------------------

    def _damage(self, last: ValueId | None) -> None:
        """Damage what is to be, behind the operation with a result."""
        target = self._target()
        if self._writer is not None and not self._has_stored(self._writer):
            # It was not carried out.
            raise Unclear
        new = None if last is None else self._held.get(last)
        if self._earlier is not None or any(one.both is target.both for one in leaves(new)):
            # An older name of what was overwritten in place: the new one holds what it should.
            apart = target.copied() if self._earlier is None else self._earlier
            for name, held in self._held.items():
                if name != last:
                    self._held[name] = _exchanged(held, target, apart)
            target = apart
        if self._writer is None:
            target.damage(f"damage {self._trial}", self._trial)
        else:
            target.damage_with(self._writer, self._distance)
        self._damaged, self._is_damaged = target, True


def _exchanged(held: Held, old: TrialTensor, new: TrialTensor) -> Held:
    """The same with another tensor in the place of one, in tuples too."""
    if isinstance(held, tuple):
        return tuple(_exchanged(one, old, new) for one in held)
    return new if held is not None and held.both is old.both else held
