"""The buffers of a kernel, what is known at a point of it, and what is said of an access there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

import sympy

from relax_lint.model.kernel_access.accesses import KernelAccess, LoopRange, Obligation
from relax_lint.model.kernel_access.conditions import Condition, Unread, atoms_of, is_unread
from relax_lint.model.kernel_access.layouts import (
    Buffer,
    count_of,
    layout_claims,
    memory_of,
    narrow_claims,
    narrowed,
    outside_claims,
    unreadable,
)
from relax_lint.model.kernel_access.outside import Around, Claim, obligations, reach
from relax_lint.model.kernel_access.polynomials import ONE, Poly, TooLarge, constant
from relax_lint.model.kernel_access.survey import Survey
from relax_lint.model.kernel_access.terms import Kind, Terms

_WRAPS = "its 32-bit index arithmetic may wrap around"
_LAID_OUT = "its buffer is laid out by strides or begins at an offset, with less memory than that may need"


class Scope:
    """What is known while a kernel is read: loops, conditions, values of variables, buffers."""

    def __init__(self, survey: Survey) -> None:
        self.terms = Terms()
        self.survey = survey
        self.accesses: list[KernelAccess] = []
        self.not_read: dict[str, None] = {}
        self.facts: tuple[Condition, ...] = ()
        self.promises: tuple[tuple[Condition, str], ...] = ()
        self.nest: tuple[LoopRange, ...] = ()
        self.known: dict[int, Any] = {}
        """The values of variables by their addresses."""
        self.buffers: dict[int, Buffer] = {}
        self.pointers: dict[int, Buffer] = {}
        """The buffers whose memory variables point to, by the addresses of the variables."""
        self.wraps: list[Poly] = []
        self.callee = ""
        self.contents: dict[int, tuple[Poly, Poly]] = {}
        """For each parameter bounds on the integers that it holds."""
        self._judged: dict[tuple[tuple[Claim, ...], Around], tuple[Obligation, ...]] = {}
        """What is left to be shown of claims: one expression may stand in many places."""
        self._lanes: dict[int, LoopRange] = {}
        self._lane_of: dict[Poly, Poly] = {}
        self._versions: dict[int, int] = {}
        self._loads: dict[tuple[Any, ...], Poly] = {}
        self.held: dict[int, tuple[float, float]] = {}
        """For each of the kernel's own buffers bounds on what is stored to it."""
        self.sources: dict[int, set[tuple[int, int] | None]] = {}
        """For each of them of which parameters its elements are copies, and what is added to them."""
        self.copied: Mapping[int, tuple[int, int]] = {}
        self.learned: Mapping[int, tuple[float, float]] = {}
        """What an earlier reading found to be held."""
        self.ends: dict[int, list[tuple[Poly, Poly] | None]] = {}
        """For each of them, of each store to it, the ends of what is stored in terms of the call."""
        self.stores: Mapping[int, int] = {}
        """To how many stores an earlier reading came."""
        self.origins: dict[int, set[int | None]] = {}
        """For each of them the buffers on which what is stored to it depends; None is data."""
        self.counted: frozenset[int] = frozenset()
        """Those that an earlier reading found to depend on no data."""
        self.handed: set[int] = set()
        """The buffers whose memory what the kernel calls may write."""
        self.shared: frozenset[int] = frozenset()
        """Those that an earlier reading found."""
        self.shown: Mapping[int, int] = {}
        """Whose memory each buffer shows, by its address: an earlier reading came to all declarations."""
        self._roots: dict[int, int] = {}
        self.scalars: dict[tuple[int, tuple[Poly | None, ...]], Poly] = {}
        """What is known to stand in elements of the kernel's own buffers."""

    def unread(self, why: str) -> None:
        """Something of the kernel that nothing is said of."""
        self.not_read[why] = None

    def promise(self, condition: Condition, text: str) -> None:
        """What the kernel claims from here on, and nobody checks."""
        self.promises = (*self.promises, (condition, text))

    def bind(self, var: Any, value: Any) -> None:
        """From here on a variable has a value."""
        if value is None:
            dtype = str(getattr(var.ty, "dtype", ""))
            if not dtype.startswith(("int", "uint")):
                return
            value = self.terms.opaque(str(var.name))
        self.known[var.__chandle__()] = value

    def left_of(self, claims: Iterable[Claim], around: Around) -> tuple[Obligation, ...]:
        """What is left to be shown for claims."""
        key = tuple(claims), around
        found = self._judged.get(key)
        if found is None:
            found = self._judged[key] = obligations(self.terms, key[0], around)
        return found

    def may_wrap(self) -> bool:
        """Whether the 32-bit arithmetic that was read last may wrap around; it is settled then."""
        wraps, self.wraps = tuple(dict.fromkeys(self.wraps)), []
        return bool(wraps) and bool(self.left_of(narrow_claims(wraps), Around(self.facts, self._steps)))

    @property
    def _steps(self) -> tuple[int, ...]:
        """The atoms of the loops."""
        return tuple(
            number for loop in self.nest if loop.variable is not None for number in loop.variable.atoms()
        )

    def lane(self, lanes: Poly) -> Poly:
        """The lanes of a vector, as a loop; operations on vectors go lane by lane."""
        if lanes == ONE:
            return constant(0)
        lane = self._lane_of.get(lanes)
        if lane is None:
            lane = self._lane_of[lanes] = self.terms.loop("lane", constant(0), lanes)
            (number,) = lane.atoms()
            self._lanes[number] = LoopRange("lanes", lane, constant(0), lanes)
        return lane

    def declare(self, var: Any) -> Buffer:
        """A buffer that nothing is known of but its type. `Expressions` overrides how extents are read."""
        raise NotImplementedError

    # -- values that are loaded ----------------------------------------------------------------

    def loaded(self, buffer: Buffer, indices: tuple[Poly | None, ...]) -> Any:
        """The value of an element."""
        if buffer.span is None:
            return None
        if buffer.ref.dtype == "bool":
            return Unread("it is under a condition that depends on data")
        stored = self.scalars.get((buffer.ref.number, indices))
        if stored is not None:
            return stored
        root = buffer.ref.root
        key = (root, self._versions.get(root, 0), buffer.ref.number, indices)
        known = None if None in indices else self._loads.get(key)
        if known is None:
            span = buffer.span
            if buffer.ref.parameter is None and buffer.source is None:
                span = narrowed(span, self.learned.get(root))
            known = self.terms.loaded(buffer.ref.name, span, self._bounds(buffer))
            self._loads[key] = known
            self._roots[max(known.atoms())] = root
            if root in self.counted:
                self.terms.counted.add(max(known.atoms()))
        return known

    def _bounds(self, buffer: Buffer) -> tuple[Poly, Poly] | None:
        """Bounds on what a parameter holds, which a call may tell, or a copy of one."""
        position, root = buffer.ref.parameter, memory_of(buffer)
        if position is None:
            if root is buffer and (ends := self._stored_ends(buffer.ref.root)) is not None:
                return ends
            copied = self.copied.get(buffer.ref.root) if root is buffer else None
            parameter = None if copied is None else self._parameter(copied[0])
            if copied is None or parameter is None:
                return None
            low, high = self._contents_of(parameter)
            return low.shift(copied[1]), high.shift(copied[1])
        if root.ref.dtype != buffer.ref.dtype or self._is_stored(buffer) or buffer.ref.root in self.shared:
            return None
        return self._contents_of(root)

    def _stored_ends(self, root: int) -> tuple[Poly, Poly] | None:
        """Bounds on what a buffer holds where every store to it was read before."""
        ends = self.ends.get(root, [])
        known = [pair for pair in ends if pair is not None]
        if not known or len(ends) != self.stores.get(root) or len(known) != len(ends) or root in self.shared:
            return None
        positive = self.terms.is_not_negative
        lows = [low for low, _ in known if all(positive(other - low) for other, _ in known)]
        highs = [high for _, high in known if all(positive(high - other) for _, other in known)]
        return (lows[0], highs[0]) if lows and highs else None

    def _parameter(self, position: int) -> Buffer | None:
        return next(
            (one for one in self.buffers.values() if one.ref.parameter == position and one.source is None),
            None,
        )

    def _contents_of(self, parameter: Buffer) -> tuple[Poly, Poly]:
        position = parameter.ref.parameter
        assert position is not None
        found = self.contents.get(position)
        if found is None:
            span = parameter.span or (None, None)
            low, high = (
                self.terms.symbol(
                    sympy.Symbol(f"{which}({parameter.ref.name})", integer=True), span, holder=position
                )
                for which in ("min", "max")
            )
            found = self.contents[position] = low, high
        return found

    def _is_stored(self, buffer: Buffer) -> bool:
        return any(self._root_at(address) == buffer.ref.root for address in self.survey.stored)

    def _root_at(self, address: int) -> int | None:
        """The buffer whose memory the buffer at an address shows, which may be declared further down."""
        known = self.buffers.get(address)
        return self.shown.get(address) if known is None else known.ref.root

    @property
    def stores_to_views(self) -> bool:
        """Whether something is stored through another buffer than the one whose memory it is."""
        return any(
            buffer.source is not None and address in self.survey.stored
            for address, buffer in self.buffers.items()
        )

    def stored(self, buffer: Buffer, indices: tuple[Poly | None, ...], value: Any) -> None:
        """An element has a value from here on."""
        self.forget((buffer.ref.root,))
        self._learn(buffer, value)
        plain = buffer.ref.parameter is None and buffer.source is None and buffer.span is not None
        shared = buffer.ref.scope.startswith("shared")
        constants = all(index is not None and index.is_constant for index in indices)
        if plain and constants and not shared and isinstance(value, Poly):
            self.scalars[buffer.ref.number, indices] = value

    def _learn(self, buffer: Buffer, value: Any) -> None:
        """A value that one of the kernel's own buffers may hold; to count up or down keeps one end."""
        root = buffer.ref.root
        if buffer.ref.parameter is not None or (buffer.span is None and buffer.source is None):
            return
        low, high = -inf, inf
        self.ends.setdefault(root, []).append(self._ends_of(value) if buffer.source is None else None)
        self.origins.setdefault(root, set()).update(self._origins_of(value))
        if isinstance(value, Poly) and buffer.source is None:
            counted = value.shift(-value.constant).single()
            if counted is not None and self._roots.get(counted) == root:
                low = inf if value.constant >= 0 else -inf
                high = -inf if value.constant <= 0 else inf
            else:
                least, greatest = self.terms.span(value)
                low, high = -inf if least is None else least, inf if greatest is None else greatest
            self.sources.setdefault(root, set()).add(self._source_of(value))
        else:
            self.sources.setdefault(root, set()).add(None)
        before = self.held.get(root, (inf, -inf))
        self.held[root] = min(before[0], low), max(before[1], high)

    def _ends_of(self, value: Any) -> tuple[Poly, Poly] | None:
        """The least and the greatest that a value may be, as the call decides."""
        if not isinstance(value, Poly):
            return None
        least, opposite = self.terms.least(value), self.terms.least(-value)
        return None if least is None or opposite is None else (least, -opposite)

    def _origins_of(self, value: Any) -> Iterable[int | None]:
        """The buffers on which a value that is stored here depends, also by a condition; None is data."""
        if not isinstance(value, Poly):
            yield None
            return
        for number in reach(self.terms, [*value.atoms(), *atoms_of(self.facts)]):
            if self.terms[number].kind is Kind.LOADED:
                root = self._roots.get(number)
                is_own = root is not None and self._is_own(root)
                yield root if is_own else None
        if any(is_unread(fact) for fact in self.facts):
            yield None

    def _is_own(self, root: int) -> bool:
        return all(one.ref.parameter is None for one in self.buffers.values() if one.ref.root == root)

    def without_data(self) -> frozenset[int]:
        """The kernel's own buffers of which nothing that is stored depends on data."""
        found = set(self.origins) - self.handed
        while True:
            kept = {root for root in found if self.origins[root] <= found}
            if kept == found:
                return frozenset(found)
            found = kept

    def _source_of(self, value: Poly) -> tuple[int, int] | None:
        """The parameter of which a value is an element, and what is added to it."""
        loaded = value.shift(-value.constant).single()
        atom = None if loaded is None else self.terms[loaded]
        if atom is None or atom.kind is not Kind.LOADED or not atom.bounded:
            return None
        position = self.terms[min(atom.first.atoms(), default=0)].holder
        return None if position is None else (position, value.constant)

    def forget(self, roots: Sequence[int]) -> None:
        """What these buffers hold is not known any more."""
        for root in roots:
            self._versions[root] = self._versions.get(root, 0) + 1
        numbers = {b.ref.number for b in self.buffers.values() if b.ref.root in roots}
        self.scalars = {key: value for key, value in self.scalars.items() if key[0] not in numbers}

    def roots_stored_in(self, node: Any) -> list[int]:
        """The buffers whose memory is, or may be, stored to in a statement."""
        roots = (self._root_at(address) for address in self.survey.of(node)[0])
        return [*(root for root in roots if root is not None), *self.shared]

    # -- accesses ------------------------------------------------------------------------------

    def hand(self, buffer: Buffer) -> None:
        """The memory of a buffer is in other hands."""
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

    def passed(self, buffer: Buffer, offset: Poly | None, extent: Poly | None, *, writes: bool) -> None:
        """A part of a buffer is passed to what the kernel calls: so many elements from an offset on."""
        if writes:
            self.hand(buffer)
        size = count_of(buffer.shape)
        if offset is None or extent is None or size is None:
            self._record(buffer, (offset,), None, writes=writes, unread=f"it is passed to `{self.callee}`")
            return
        claims: list[Claim] = [
            (None, True, (-offset).shift(-1)),
            (None, False, (offset + extent - size).shift(-1)),
        ]
        self._record(buffer, (offset,), None, writes=writes, claims=claims)

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
    ) -> None:
        wraps, self.wraps = tuple(dict.fromkeys(self.wraps)), []
        loops = self._steps
        left = self.left_of(claims, Around(self.facts, loops))
        if laid_out:
            left = (*left, *self.left_of(laid_out, Around(self.facts, loops, (_LAID_OUT,))))
        narrow = narrow_claims(wraps)
        may_wrap = self.left_of(narrow, Around(self.facts, loops, (_WRAPS,))) if narrow else ()
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
                self.facts,
                left,
                unread,
                assumed,
                node,
                tuple(claim for _, _, claim in (*claims, *narrow)),
            )
        )
