"""What is said of the accesses of a kernel at a point of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from relax_lint.model.kernel_access import conditions as c
from relax_lint.model.kernel_access.accesses import KernelAccess, MemoryBounds, Obligation
from relax_lint.model.kernel_access.conditions import Condition
from relax_lint.model.kernel_access.contents import Contents
from relax_lint.model.kernel_access.layouts import (
    Buffer,
    is_leading,
    layout_claims,
    memory_claims,
    narrow_claims,
    outside_claims,
    position_claims,
    range_claims,
    unreadable,
)
from relax_lint.model.kernel_access.outside import Around, Claim
from relax_lint.model.kernel_access.polynomials import ZERO, Poly, TooLarge
from relax_lint.model.kernel_access.survey import Survey
from relax_lint.support.lazy_dataclass import record

_NEVER: Claim = None, False, ZERO
"""What is so wherever an access is made."""
_WRAPS = "its 32-bit index arithmetic may wrap around"
_LAID_OUT = "its buffer is laid out by strides or begins at an offset, with less memory than that may need"


@record(frozen=True, eq=False)
class _Open:
    """What decides whether an access stays inside, where it is made."""

    buffer: Buffer
    claims: tuple[Claim, ...]
    laid_out: tuple[Claim, ...]
    wraps: tuple[Poly, ...]
    why: str
    sides: tuple[Condition, ...]
    promises: tuple[tuple[Condition, str], ...]
    loops: tuple[int, ...]


class Accesses(Contents):
    """A scope that records every access."""

    def __init__(self, survey: Survey) -> None:
        super().__init__(survey)
        self._open: dict[int, _Open] = {}
        """The accesses of which is not yet known what is left to be shown, by their numbers."""

    def hand(self, buffer: Buffer) -> None:
        """The memory of a buffer is in other hands."""
        if self.is_careful:
            return
        self.handed.add(buffer.ref.root)
        self._learn(buffer, None)
        self.forget((buffer.ref.root,))

    def lose(self, buffer: Buffer, why: str) -> None:
        """An access of nobody knows which elements."""
        self.hand(buffer)
        self._record(buffer, (None,) * len(buffer.shape), None, writes=True, unread=why)

    def access(
        self, buffer: Buffer, indices: tuple[Poly | None, ...], node: Any, *, writes: bool, passed: str = ""
    ) -> None:
        """An access of one element, or of the lanes of a vector."""
        if passed:
            self.hand(buffer)
            self._record(buffer, indices, node, writes=writes, unread=passed)
            return
        why = unreadable(buffer, indices)
        if why:
            self._record(buffer, indices, node, writes=writes, unread=why)
            return
        try:
            claims = list(outside_claims(buffer, indices))
            laid_out = list(layout_claims(buffer, indices))
        except TooLarge as error:
            self._record(buffer, indices, node, writes=writes, unread=str(error))
            return
        self._record(buffer, indices, node, writes=writes, claims=claims, laid_out=laid_out)

    def tile(self, buffer: Buffer, indices: tuple[Poly, ...], *, writes: bool, why: str = "") -> None:
        """An access of a part of a window by what is called. If there is a `why`, such an access may be
        fine where an element of that part is outside.
        """
        unread = unreadable(buffer, indices)
        try:
            claims = [] if unread else list(outside_claims(buffer, indices))
            laid_out = [] if unread else list(layout_claims(buffer, indices))
        except TooLarge as error:
            claims, laid_out, unread = [], [], str(error)
        self._record(
            buffer, indices, None, writes=writes, claims=claims, laid_out=laid_out, unread=unread, why=why
        )

    def numbered(self, buffer: Buffer, number: Poly, count: Poly, *, writes: bool) -> None:
        """An access of one of so many parts of a buffer by what the kernel calls."""
        claims: list[Claim] = [(None, True, (-number).shift(-1)), (None, False, number - count)]
        self._record(buffer, (None,) * len(buffer.shape), None, writes=writes, claims=claims)

    def placed(self, buffer: Buffer, position: Poly, *, writes: bool, why: str = "") -> None:
        """An access of the element so many behind the start of the memory of a buffer, or of some."""
        unread = ""
        try:
            claims = list(position_claims(buffer, position))
        except TooLarge as error:
            claims, unread = [], str(error)
        if not claims:
            unread = unread or f"it is passed to `{self.callee}`"
        where = (None,) * len(buffer.shape)
        self._record(buffer, where, None, writes=writes, claims=claims, unread=unread, why=why)

    def passed(
        self,
        buffer: Buffer,
        offset: Poly | None,
        extent: Poly | None,
        *,
        writes: bool,
        holds: Poly | None = None,
        item: int = 0,
    ) -> None:
        """A part of a buffer is passed to what the kernel calls: so many elements from an offset on, all of
        which are such numbers as `holds`, if that is known. They have `item` bits, if not as many as those of
        the buffer.
        """
        if self.is_careful:
            return
        if writes and holds is not None:
            self.stored(buffer, (None,) * len(buffer.shape), holds, holds)
        elif writes:
            self.hand(buffer)
        # A position is an index where there is one axis only.
        where = (
            (offset,) if len(buffer.shape) == 1 and item in (0, buffer.item) else (None,) * len(buffer.shape)
        )
        claims = (
            []
            if offset is None or extent is None
            else list(range_claims(buffer, offset, extent, item or buffer.item))
        )
        unread = "" if claims else f"it is passed to `{self.callee}`"
        self._record(buffer, where, None, writes=writes, claims=claims, unread=unread)

    def filled(self) -> None:
        """The access that was recorded last stores to every element of its buffer."""
        if self.accesses and not self.is_careful:
            self.accesses[-1] = replace(self.accesses[-1], fills=True)

    def _record(
        self,
        buffer: Buffer,
        indices: tuple[Poly | None, ...],
        node: Any,
        *,
        writes: bool,
        claims: Sequence[Claim] = (),
        laid_out: Sequence[Claim] = (),
        unread: str = "",
        why: str = "",
    ) -> None:
        wraps, self.wraps = tuple(dict.fromkeys(self.wraps)), []
        if self.tries or self.is_careful:
            return
        loops = self._steps
        narrow = tuple(claim for _, _, claim in narrow_claims(wraps))
        if unread and not self.left_of([_NEVER], Around(self.facts, loops)):
            # No step of the loops around it is made, or the conditions exclude each other.
            unread = ""
        used = {atom for index in indices if index is not None for atom in index.atoms()}
        lanes = tuple(loop for number, loop in self._lanes.items() if number in used)
        self._open[len(self.accesses)] = _Open(
            buffer, tuple(claims), tuple(laid_out), wraps, why, self.sides, self.promises, loops
        )
        self.accesses.append(
            KernelAccess(
                self.terms,
                buffer.ref,
                writes,
                len(self.accesses),
                indices,
                buffer.shape,
                (*self.nest, *lanes),
                self.facts,
                (),
                unread,
                (),
                node,
                (*(claim for _, _, claim in claims), *narrow),
                narrow,
                regions=self.regions,
            )
        )
        if self.sides:
            # What holds there is said in another way where it leaves its buffer.
            self.judged(len(self.accesses) - 1)

    def judged(self, number: int) -> KernelAccess:
        """An access with what is left to be shown for it: that is asked for only where somebody needs it, as
        most readings are followed by another one.
        """
        access, one = self.accesses[number], self._open.pop(number, None)
        if one is None:
            return access
        facts, loops = access.conditions, one.loops
        more = (one.why,) if one.why else ()
        left = self.left_of(one.claims, Around(facts, loops, more))
        conditions = facts
        if left and one.sides:
            # What is outside where the first side holds is so on every target.
            sure = tuple(fact for fact in facts if fact is not c.BOTH_SIDES)
            certain = self.left_of(one.claims, Around((*sure, *one.sides), loops, more))
            left = (*(found for found in certain if found.exact), *left)
            conditions = (*sure, c.any_of((c.every(one.sides), c.BOTH_SIDES)))
        leading = is_leading(one.buffer, ((found.axis, found.below) for found in left))
        memory = None if leading else MemoryBounds()
        if one.laid_out:
            left = (*left, *self.left_of(one.laid_out, Around(facts, loops, (_LAID_OUT,))))
        may_wrap = self.wrapping(Around(facts, loops, (_WRAPS,)), one.wraps)
        if memory is not None and not one.why:
            memory = self._memory(one, access, is_exact=not may_wrap)
        if may_wrap:
            left = (*(replace(found, exact=False, why=found.why or _WRAPS) for found in left), *may_wrap)
        assumed: tuple[str, ...] = ()
        if left and one.promises:
            promised = (*facts, *(condition for condition, _ in one.promises))
            claims = (*one.claims, *one.laid_out, *narrow_claims(one.wraps))
            if not self.left_of(claims, Around(promised, loops)):
                left, assumed = (), tuple(text for _, text in one.promises)
        if left or assumed or memory is not None:
            access = replace(access, conditions=conditions, obligations=left, assumed=assumed, memory=memory)
            self.accesses[number] = access
        return access

    def is_open(self) -> bool:
        """Whether something is left to be shown for an access."""
        return any(self.judged(number).obligations for number in range(len(self.accesses)))

    def all_judged(self) -> tuple[KernelAccess, ...]:
        """Every access with what is left to be shown for it."""
        return tuple([self.judged(number) for number in range(len(self.accesses))])

    def _memory(self, one: _Open, access: KernelAccess, *, is_exact: bool) -> MemoryBounds:
        """When an access leaves the memory of its buffer."""
        try:
            claims = tuple(memory_claims(one.buffer, access.where))
        except TooLarge:
            return MemoryBounds()
        left: tuple[Obligation, ...] = ()
        if is_exact:
            left = self.left_of(claims, Around(access.conditions, one.loops))
        return MemoryBounds(tuple(claim for _, _, claim in claims), left)
