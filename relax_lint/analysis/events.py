"""What may go wrong with the contents of tensors, as the walk over reads and writes finds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import TypeAlias

from relax_lint.analysis.certainty import Certainty, weakest
from relax_lint.analysis.conditions import Literal
from relax_lint.analysis.presumption import Presumption
from relax_lint.model.operations import FunctionCall, KernelCall, Op, ValueId
from relax_lint.support.lazy_dataclass import record

Write: TypeAlias = "tuple[Op, ValueId]"
"""An operation and what it writes."""


@record(frozen=True)
class Reading:
    """`value` is read by `op`, or (None) returned. `presumed` is there where a call is only taken to read
    it. An `unsure` one is of a kernel that writes it as well: nothing proves that it writes first.
    """

    op: Op | None
    value: ValueId
    presumed: Presumption | None = None
    unsure: bool = False

    @property
    def presumptions(self) -> tuple[Presumption, ...]:
        """What a verdict on the read relies on."""
        return () if self.presumed is None else (self.presumed,)


@record(frozen=True)
class Mending:
    """`op` may write `value` again, which lies on bytes that are not as they should be.

    `position` is that of the argument of a kernel which says when it writes all of it. What is `whole` is
    certainly written, as far as the value reaches; what is `presumed` only by somebody's leave. Where `op` is
    an `If`, `branches` are the writes in each of the branches that need one. What is not `kept` TVM may leave
    out of the function that is called.
    """

    op: Op
    value: ValueId
    position: int | None = None
    whole: bool = False
    presumed: Presumption | None = None
    branches: tuple[tuple[Mending, ...], ...] = ()
    kept: bool = True

    @property
    def writes(self) -> tuple[Mending, ...]:
        """The writes themselves."""
        return tuple(w for branch in self.branches for m in branch for w in m.writes) or (self,)

    @property
    def presumptions(self) -> tuple[Presumption, ...]:
        """By whose leave it writes, whatever the branch; empty where some branch has none."""
        if not self.branches:
            return () if self.presumed is None else (self.presumed,)
        found = [[p for m in branch for p in m.presumptions] for branch in self.branches]
        return tuple(p for some in found for p in some) if all(found) else ()


@record(frozen=True)
class Damage:
    """A tensor does not hold what it should: on every path (`MUST`), or on some. `mended` are the writes
    since then that may have made it good in part or as a whole; where `harmless` is there the damage takes
    that not to be so. `done` is how certain it is that the damage was done at all, to whatever the name
    stands for. There is none unless all of `when` is so; where it is, the damage is as certain as `sure`
    says.
    """

    certainty: Certainty
    mended: tuple[Mending, ...] = ()
    harmless: Presumption | None = None
    done: Certainty = Certainty.MAY
    when: tuple[Literal, ...] = ()
    sure: Certainty = Certainty.MAY

    def at_most(self, certainty: Certainty) -> Damage:
        """This damage, no more certain than that."""
        return replace(self, certainty=weakest(self.certainty, certainty), sure=weakest(self.sure, certainty))

    def where(self, literals: tuple[Literal, ...]) -> Damage | None:
        """What there is of it where something is known of conditions; None: nothing."""
        if not self.when or not literals:
            return self
        if any(one.negated in literals for one in self.when):
            return None
        left = tuple(one for one in self.when if one not in literals)
        return replace(self, when=left) if left else replace(self, when=(), certainty=self.sure)

    def is_certain_where(self, literal: Literal | None) -> bool:
        """Whether it is certain, or is where something is so."""
        return self.certainty is Certainty.MUST or (
            self.where_it_is is Certainty.MUST and all(one == literal for one in self.when)
        )

    def only_where(self, literal: Literal) -> Damage | None:
        """What is left of it where something mended it unless that is so; None: nothing."""
        if literal in self.when:
            return self
        if literal.negated in self.when:
            return None
        return replace(self, certainty=Certainty.MAY, when=(*self.when, literal), sure=self.where_it_is)

    @property
    def where_it_is(self) -> Certainty:
        """How certain it is where its conditions hold."""
        return self.sure if self.when else self.certainty


@record(frozen=True)
class UnwrittenRead:
    """`tensor` is read and was not written: on no path (`MUST`), or not on all. `left` are the tensors on its
    storage that were written before, `mended` the writes that may not have written all of it; they have not
    where it is known to be a `part`. `by_others`: another function may have written on its storage.
    """

    tensor: Op
    reading: Reading
    certainty: Certainty
    left: tuple[ValueId, ...]
    mended: tuple[Mending, ...] = ()
    part: bool = False
    by_others: bool = False


@record(frozen=True)
class Overwriting:
    """`write` fills `written`, which shares a storage with `tensor`, which is read later as it was before:
    on every path on which `write` is executed (`MUST`), or on some.

    `mended` are the writes to `tensor` in between that may not have written all of it. Where `harmless` is
    there the two are assumed not to share memory.
    """

    tensor: Op
    write: Op
    written: ValueId
    reading: Reading
    certainty: Certainty
    mended: tuple[Mending, ...] = ()
    harmless: Presumption | None = None


@record(frozen=True)
class Apart:
    """`write` fills `written`, and no byte of `count` other tensors on its storage that hold something and
    are used later: `others` are these.
    """

    write: Op
    written: ValueId
    count: int
    others: Callable[[], tuple[ValueId, ...]] = field(compare=False)


@record(frozen=True)
class StaleRead:
    """`call` overwrote `argument`, and an older name of it is read later, as in `Overwriting`."""

    call: KernelCall | FunctionCall
    argument: ValueId
    reading: Reading
    certainty: Certainty
    mended: tuple[Mending, ...] = ()
    harmless: Presumption | None = None
