"""One run of a function in which something does not hold what it should, but what was written over it, where
that is known, and anything otherwise.
"""

from __future__ import annotations

from relax_lint.analysis.observed_parts import Flow
from relax_lint.analysis.struck import IsStruck, struck
from relax_lint.analysis.trial_sizes import Sizes, distance_at
from relax_lint.analysis.trial_tensors import MOST_ELEMENTS, MOST_IN_PARTS, Seen, TrialTensor, Unclear
from relax_lint.analysis.trial_values import exchanged, leaves
from relax_lint.analysis.trial_walk import Budget, Walk
from relax_lint.model.operations import KernelCall, Op, ValueId
from relax_lint.support.lazy_dataclass import record


@record(frozen=True)
class Damaging:
    """What is damaged: a `value`, before the operation with the index `at` or `behind` it, all of it or (not
    None) what that one has `written` over. Only those runs count that get to the `reader` behind it, if there
    is one.
    """

    value: ValueId
    at: int
    behind: bool
    written: ValueId | None
    reader: int | None


class DamagedWalk(Walk):
    """One run with some damage: what the operation does where it `is_real`, and otherwise anything."""

    def __init__(
        self, budget: Budget, flow: Flow, sizes: Sizes, trial: int, damage: Damaging, *, is_real: bool
    ) -> None:
        super().__init__(budget, flow, sizes, trial)
        self._most = MOST_ELEMENTS if damage.written is None else MOST_IN_PARTS
        self._is_real = is_real
        self._is_read = damage.reader is None
        self._value = damage.value
        self._damage_to = damage
        self._damaged: TrialTensor | None = None
        self._writer: TrialTensor | None = None
        """What was written over it."""
        self._distance = 0
        """How many elements behind the first one of it that begins."""
        self._earlier: TrialTensor | None = None
        """What it held before it was overwritten in place."""

    def differs(self) -> bool | None:
        """Whether the damage changes what is given back; None where it, or who reads, is not reached."""
        try:
            self._block(self._function.body)
        except Seen:
            return True if self._is_read else None
        if self._damaged is None or not self._is_read:
            return None
        named = self._of(self._value)
        is_named = isinstance(named, TrialTensor) and named.both is self._damaged.both
        if not is_named and self._value not in self._other_views:
            # What has the name is not what was damaged, as far as it is followed.
            raise Unclear
        return self._gives_back_damage()

    def _before(self, op: Op) -> None:
        if op.place.index == self._damage_to.reader:
            self._is_read = True
        if op.place.index != self._damage_to.at:
            return
        if not self._damage_to.behind:
            self._damage(None)
        elif self._is_real and isinstance(op, KernelCall):
            self._look_for_writer(op)

    def _after(self, op: Op) -> None:
        if op.place.index == self._damage_to.at and self._damage_to.behind:
            self._damage(op)
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
        ((argument, self._distance),) = found
        writer = self._of(argument)
        if not isinstance(writer, TrialTensor) or not writer.has_dtype_of(target):
            return
        self._writer = writer
        if writer.both is target.both:
            self._earlier = target.copied()
        else:
            # It holds what lies there.
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
        starts = memory.range(argument).start, memory.range(self._value).start
        distance = distance_at(*starts, self._sizes)
        return None if distance is None or distance % target.width else distance // target.width

    # -- the damage ----------------------------------------------------------------------------

    def _damage(self, op: Op | None) -> None:
        """Damage what is to be, behind an operation."""
        target = self._target()
        if self._is_real and (self._writer is None or not self._has_stored(self._writer)):
            # What is written is not known, or was not carried out.
            raise Unclear
        is_struck = None if op is None or self._writer is not None else self._struck(op)
        if op is not None and (self._earlier is not None or self._gives(op, target)):
            # An older name of what was overwritten in place: the new one holds what it should.
            apart = target.copied() if self._earlier is None else self._earlier
            for name, held in self._held.items():
                if name != op.result:
                    self._held[name] = exchanged(held, target, apart)
            target = apart
        if self._writer is None:
            target.damage(f"damage {self._trial}", self._trial, is_struck)
        else:
            target.damage_with(self._writer, self._distance)
        self._damaged, self._is_damaged = target, True

    def _gives(self, op: Op, target: TrialTensor) -> bool:
        return any(one.both is target.both for one in leaves(self._held.get(op.result)))

    def _struck(self, op: Op) -> IsStruck | None:
        """Which elements an operation has written over; None: all."""
        written = self._damage_to.written
        if written is None:
            return None
        held = self._held.get(written)
        known = held if isinstance(held, TrialTensor) and self._has_stored(held) else None
        types = self._type_of(written), self._type_of(self._value)
        return struck(op, (written, types[0], known), (self._value, types[1]), self._sizes, self._flow)
