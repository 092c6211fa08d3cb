"""What is said of the accesses of a kernel at a point of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from relax_lint.model.kernel_access import conditions as c
from relax_lint.model.kernel_access.accesses import KernelAccess, MemoryBounds, Obligation
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

_NEVER: Claim = None, False, ZERO
"""What is so wherever an access is made."""
_WRAPS = "its 32-bit index arithmetic may wrap around"
_LAID_OUT = "its buffer is laid out by strides or begins at an offset, with less memory than that may need"


class Accesses(Contents):
    """A scope that records every access."""

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
        if self.accesses and not (self.tries or self.is_careful):
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
        if unread and not self.left_of([_NEVER], Around(self.facts, loops)):
            # No step of the loops around it is made, or the conditions exclude each other.
            unread = ""
        more = (why,) if why else ()
        left = self.left_of(claims, Around(self.facts, loops, more))
        facts = self.facts
        if left and self.sides and not any(one.data for one in left):
            # What is outside where the first side holds is so on every target.
            sure = tuple(fact for fact in facts if fact is not c.BOTH_SIDES)
            known = (*sure, *self.sides)
            certain = (
                () if why or any(map(c.is_unread, known)) else self.left_of(claims, Around(known, loops))
            )
            left = (*(one for one in certain if one.exact), *left)
            facts = (*sure, c.any_of((c.every(self.sides), c.BOTH_SIDES)))
        memory = None if is_leading(buffer, ((one.axis, one.below) for one in left)) else MemoryBounds()
        if laid_out:
            left = (*left, *self.left_of(laid_out, Around(self.facts, loops, (_LAID_OUT,))))
        narrow = narrow_claims(wraps)
        may_wrap = self.wrapping(Around(self.facts, loops, (_WRAPS,)), wraps)
        if memory is not None and not why:
            memory = self._memory(buffer, indices, is_exact=not may_wrap)
        if may_wrap:
            left = (*(replace(one, exact=False, why=one.why or _WRAPS) for one in left), *may_wrap)
        assumed: tuple[str, ...] = ()
        if left and self.promises:
            conditions = (*self.facts, *(condition for condition, _ in self.promises))
            with_promises = self.left_of((*claims, *laid_out, *narrow), Around(conditions, loops))
            if not with_promises:
                left, assumed = (), tuple(text for _, text in self.promises)
        used = {atom for index in indices if index is not None for atom in index.atoms()}
        lanes = tuple(loop for number, loop in self._lanes.items() if number in used)
        self.accesses.append(
            KernelAccess(
                self.terms,
                buffer.ref,
                writes,
                len(self.accesses),
                indices,
                buffer.shape,
                (*self.nest, *lanes),
                facts,
                left,
                unread,
                assumed,
                node,
                tuple(claim for _, _, claim in (*claims, *narrow)),
                regions=self.regions,
                memory=memory,
            )
        )

    def _memory(self, buffer: Buffer, indices: tuple[Poly | None, ...], *, is_exact: bool) -> MemoryBounds:
        """When an access leaves the memory of its buffer."""
        try:
            claims = tuple(memory_claims(buffer, indices))
        except TooLarge:
            return MemoryBounds()
        left: tuple[Obligation, ...] = ()
        if is_exact:
            left = self.left_of(claims, Around(self.facts, self._steps))
        return MemoryBounds(tuple(claim for _, _, claim in claims), left)
