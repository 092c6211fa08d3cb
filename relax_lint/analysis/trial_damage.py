"""One run of a function in which something does not hold what it should, but what was written over it, where
that is known, and anything otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.domains import AT_RETURN
from relax_lint.analysis.observed_parts import Flow
from relax_lint.analysis.struck import IsStruck, struck
from relax_lint.analysis.trial_course import Budget, Course
from relax_lint.analysis.trial_harm import Harmed
from relax_lint.analysis.trial_sizes import Sizes, distance_at
from relax_lint.analysis.trial_tensors import MOST_ELEMENTS, MOST_IN_PARTS, TrialTensor, Unclear
from relax_lint.analysis.trial_values import exchanged, leaves
from relax_lint.model.operations import FunctionCall, KernelCall, Op, ValueId
from relax_lint.support.lazy_dataclass import record


@record(frozen=True)
class Damaging:
    """What is damaged: a `value`, before the operation with the index `at` (the return: `AT_RETURN`) or
    `behind` it, all of it or (not None) what that one has `written` over. Only those runs count that get to
    the `reader` behind it, if there is one.
    """

    value: ValueId
    at: int
    behind: bool
    written: ValueId | None
    reader: int | None


class DamagedWalk(Harmed):
    """One run with some damage: what the operation does where it `is_real`, and otherwise anything."""

    def __init__(
        self,
        budget: Budget,
        flow: Flow,
        sizes: Sizes,
        trial: int,
        course: Course | None = None,
        *,
        damage: Damaging,
        is_real: bool,
    ) -> None:
        super().__init__(budget, flow, sizes, trial, course)
        self.course.most = MOST_ELEMENTS if damage.written is None else MOST_IN_PARTS
        self._is_real = is_real
        self._is_read = damage.reader is None
        self._value = damage.value
        self._damage_to = damage
        self._damaged: TrialTensor | None = None
        self._writer: TrialTensor | None = None
        """What was written over it."""
        self._is_other = False
        self._distance = 0
        """How many elements behind the first one of it that begins."""
        self._earlier: TrialTensor | None = None
        """What it held before it was overwritten in place."""

    @property
    def is_read(self) -> bool:
        """Whether the reader was reached, if there is one."""
        return self._is_read

    def counts(self) -> bool:
        """Whether it is damaged, and read. Raises `Unclear` where its name is one of something else."""
        if self._damaged is None or not self._is_read:
            return False
        named = self._of(self._value)
        is_named = isinstance(named, TrialTensor) and named.both is self._damaged.both
        if not is_named and self._value not in self._other_views:
            # What has the name is not what was damaged, as far as it is followed.
            raise Unclear
        return True

    @property
    def is_other(self) -> bool:
        """Whether a part of it was reached; all of it always is, also where it is written anew as it was."""
        return self._damage_to.written is None or self._is_other

    def _return(self) -> None:
        if self._damage_to.at == AT_RETURN:
            self._damage(None)

    def _before(self, op: Op) -> None:
        if op.place.index == self._damage_to.reader:
            self._is_read = True
        if op.place.index != self._damage_to.at:
            return
        if not self._damage_to.behind:
            self._damage(None)
        elif self._is_real and isinstance(op, KernelCall | FunctionCall):
            self._look_for_writer(op)

    def _after(self, op: Op) -> None:
        if op.place.index == self._damage_to.at and self._damage_to.behind:
            self._damage(op)

    def notice(self, stored: Sequence[TrialTensor]) -> None:
        """What was stored where the damaged tensor lies is in it, too."""
        damaged, writer = self._damaged, self._writer
        if damaged is not None and writer is not None and _is_among(writer, stored):
            damaged.damage_with(writer, self._distance)

    def _has_stored(self, tensor: TrialTensor) -> bool:
        return _is_among(tensor, self._stored)

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

    def _look_for_writer(self, op: KernelCall | FunctionCall) -> None:
        """Find what an operation writes that lies where the value does."""
        target, found = self._target(), list[tuple[AccessPath, int]]()
        for path in self._written_by(op):
            distance = self._distance_of(path, target)
            if distance is not None:
                found.append((path, distance))
        if len(found) != 1:
            return
        ((path, self._distance),) = found
        writer = self._held_at(path)
        if not isinstance(writer, TrialTensor) or not writer.has_dtype_of(target):
            return
        self._writer = writer
        if writer.both is target.both:
            self._earlier = target.copied()
        else:
            # It holds what lies there.
            writer.take(target, -self._distance)

    def _written_by(self, op: KernelCall | FunctionCall) -> list[AccessPath]:
        """The arguments that a call may write, or fields of them."""
        if isinstance(op, KernelCall):
            writes = sorted(self._flow.effect_of(op).writes)
            return [AccessPath(op.arguments[at]) for at in writes if at < len(op.arguments)]
        summary = self._flow.summary_of(op)
        return [] if summary is None else sorted(map(summary.path, summary.writes))

    def _distance_of(self, path: AccessPath, target: TrialTensor) -> int | None:
        """How many elements behind the first one of what is to be damaged an argument begins that may be on
        the same memory; None where that is not known.
        """
        argument = path.value
        held = self._held_at(path) if path.fields else self._held.get(argument)
        if isinstance(held, TrialTensor) and held.both is target.both:
            return 0
        if path.fields:
            return None
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
        if self.course.is_on_one_side:
            # What was damaged before decides whether it comes to this.
            raise Unclear
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
        self._damaged, self.course.is_damaged = target, True
        self._is_other = _may_differ(target)
        self.course.watching.append(self)

    def _gives(self, op: Op, target: TrialTensor) -> bool:
        return any(one.both is target.both for one in leaves(self._held.get(op.result)))

    def _struck(self, op: Op) -> IsStruck | None:
        """Which elements an operation has written over; None: all."""
        written = self._damage_to.written
        if written is None:
            return None
        held = self._held.get(written)
        # Of what functions store only the last kernel tells which elements.
        is_known = isinstance(op, KernelCall) and isinstance(held, TrialTensor) and self._has_stored(held)
        known = held if is_known and isinstance(held, TrialTensor) else None
        types = self._type_of(written), self._type_of(self._value)
        return struck(op, (written, types[0], known), (self._value, types[1]), self._sizes, self._flow)


def _may_differ(tensor: TrialTensor) -> bool:
    try:
        return tensor.differs
    except Unclear:
        return True


def _is_among(tensor: TrialTensor, others: Sequence[TrialTensor]) -> bool:
    return any(one.both is tensor.both for one in others)
