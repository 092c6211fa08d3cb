"""What the buffers of a kernel hold: what is loaded from them, and what is learnt of stores to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import Any

import sympy

from relax_lint.model.kernel_access.accesses import KernelAccess
from relax_lint.model.kernel_access.atoms import Atom, Kind
from relax_lint.model.kernel_access.conditions import Unread, atoms_of, is_unread
from relax_lint.model.kernel_access.filled import element, filled_by
from relax_lint.model.kernel_access.initialised import needs_of
from relax_lint.model.kernel_access.invariants import Put
from relax_lint.model.kernel_access.layouts import (
    Buffer,
    memory_of,
    narrowed,
)
from relax_lint.model.kernel_access.outside import Around, reach
from relax_lint.model.kernel_access.polynomials import Poly
from relax_lint.model.kernel_access.scope import Scope
from relax_lint.model.kernel_access.stored import MAX_LEAVES, Leaf, Stored, closure
from relax_lint.vm import nodes


class Contents(Scope):
    """A scope that knows what its buffers hold."""

    def judged(self, number: int) -> KernelAccess:
        """An access with what is left to be shown for it. `Accesses` judges."""
        raise NotImplementedError

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
        made = self._element(buffer, indices)
        if made is not None:
            return made
        key = (root, self._versions.get(root, 0), buffer.ref.number, indices)
        known = None if None in indices else self._loads.get(key)
        if known is None:
            span = buffer.span
            if buffer.ref.parameter is None and buffer.source is None:
                span = narrowed(span, self.learned.get(root))
            bounds = self._bounds(buffer)
            if buffer.source is None:
                bounds = self.guesses.tightened(self.terms, root, bounds, span)
            known = self.terms.loaded(buffer.ref.name, span, bounds)
            self._loads[key] = known
            self._roots[max(known.atoms())] = root
            if root in self.counted:
                self.terms.counted.add(max(known.atoms()))
            if root in self.unsure_roots:
                self.unsure |= known.atoms()
        return known

    def _element(self, buffer: Buffer, indices: tuple[Poly | None, ...]) -> Poly | None:
        """An element that its indices decide."""
        filled = self.filled_with.get(buffer.ref.root)
        known = [index for index in indices if index is not None]
        if filled is None or buffer.source is not None or len(known) != len(filled.loops):
            return None
        return element(self.terms, filled, known)

    def moment_of(self, load: Any) -> tuple[int, int]:
        """The memory from which is loaded, and how often what it holds was forgotten."""
        root = self._root_at(nodes.loaded_buffer(load).__chandle__())
        return (-1, len(self.accesses)) if root is None else (root, self._versions.get(root, 0))

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

    def _try_out(self, root: int, value: Any) -> None:
        """Give up what a value that is stored does not keep."""
        if not self.tries:
            self.puts.append(Put(root, value if isinstance(value, Poly) else None, self.facts))
            return
        for low in (True, False):
            while (end := self.guesses.end(root, low=low)) is not None:
                if isinstance(value, Poly):
                    outside = (end - value if low else value - end).shift(-1)
                    if not self.left_of([(None, low, outside)], Around(self.facts, self._steps)):
                        break
                self.guesses.give_up(root, low=low)
                if self._was_given_up(value):
                    # The value may keep the bound when it is read with what is guessed now.
                    break

    def _was_given_up(self, value: Any) -> bool:
        """Whether a value was read with a guess that has been given up since."""
        atoms = reach(self.terms, value.atoms()) if isinstance(value, Poly) else ()
        return any(self._roots.get(number) in self.guesses.given_up for number in atoms)

    def _stored_ends(self, root: int) -> tuple[Poly, Poly] | None:
        """Bounds on what a buffer holds where every store to it was read before."""
        held = closure(root, self.ends)
        if held is None:
            return None
        roots, known = held
        if any(len(self.ends[one]) != self.stores.get(one) for one in roots):
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
            assert parameter.span is not None
            low, high = (
                self.terms.symbol(
                    sympy.Symbol(f"{which}({parameter.ref.name})", integer=True),
                    parameter.span,
                    holder=position,
                )
                for which in ("min", "max")
            )
            found = self.contents[position] = low, high
        return found

    def _is_stored(self, buffer: Buffer) -> bool:
        return self._is_stored_to(buffer.ref.root)

    def _is_stored_to(self, root: int) -> bool:
        return any(self._root_at(address) == root for address in self.survey.stored)

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

    def stored(self, buffer: Buffer, indices: tuple[Poly | None, ...], value: Any, number: Any) -> None:
        """An element has a value from here on, as memory a number of its type."""
        self.forget((buffer.ref.root,))
        # LLVM takes arithmetic of 32 bits with a sign not to wrap, through memory too; that of other types it
        # does not.
        is_taken = isinstance(number, Poly) and buffer.ref.dtype.startswith("int32")
        if is_taken and not self.unsure.isdisjoint(number.atoms()):
            self.unsure_roots.add(buffer.ref.root)
        self._learn(buffer, number)
        plain = buffer.ref.parameter is None and buffer.source is None and buffer.span is not None
        root = buffer.ref.root
        if plain and self.stores.get(root) == 1 and isinstance(value, Poly):
            made = filled_by(self.terms, indices, value, self.facts)
            if made is not None:
                self.filled_with[root] = made
        shared = buffer.ref.scope.startswith("shared") or self._is_for_several(root, indices)
        if plain and None not in indices and not shared and isinstance(value, Poly):
            self.scalars[buffer.ref.number, indices] = value

    def _is_for_several(self, root: int, indices: tuple[Poly | None, ...]) -> bool:
        """Whether steps that run at the same time may store to one element, as it is allocated before their
        loop: what one has stored another may replace before it is loaded.
        """
        depth = self.allocated.get(root)
        around = () if depth is None else self.nest[depth:]
        return any(loop.kind == "parallel" and loop.variable not in indices for loop in around)

    def _learn(self, buffer: Buffer, value: Any) -> None:
        """A value that one of the kernel's own buffers may hold; to count up or down keeps one end."""
        root = buffer.ref.root
        if buffer.span is None and buffer.source is None:
            return
        self.ends.setdefault(root, []).append(self._leaves_of(value) if self._is_part(buffer) else None)
        if buffer.ref.parameter is not None:
            return
        self._try_out(root, value if buffer.source is None else None)
        low, high = -inf, inf
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

    def _is_part(self, buffer: Buffer) -> bool:
        """Whether the elements of a buffer are some of those whose memory it shows."""
        memory = memory_of(buffer)
        return not buffer.view and buffer.ref.dtype == memory.ref.dtype

    def _leaves_of(self, value: Any) -> Stored:
        """All that a value may be: a choice is one of its options."""
        found: list[Leaf] = []
        todo = [value]
        while todo:
            p = todo.pop()
            if not isinstance(p, Poly) or len(found) + len(todo) > MAX_LEAVES:
                return None
            number = p.shift(-p.constant).single()
            atom = None if number is None else self.terms[number]
            if atom is not None and atom.kind is Kind.CHOICE and self._is_open(atom):
                todo += [option.value.shift(p.constant) for option in atom.options]
                continue
            leaf: Leaf | None = None if number is None or p.constant else self._held_by(number)
            if leaf is None:
                leaf = self._ends_of(p)
            if leaf is None:
                return None
            found.append(leaf)
        return tuple(found)

    def _is_open(self, atom: Atom) -> bool:
        """Whether the options of a choice say more than its ends."""
        if atom.static:
            return False
        single = [option.value.single() for option in atom.options]
        return not atom.operation or any(one is not None and self._held_by(one) is not None for one in single)

    def _held_by(self, number: int) -> int | None:
        """The buffer of which an atom is an element, if the kernel stores to it."""
        root = self._roots.get(number)
        if root is None:
            return None
        return root if self._is_own(root) or self._is_stored_to(root) else None

    def _ends_of(self, value: Poly) -> tuple[Poly, Poly] | None:
        """The least and the greatest that a value may be, as the call decides."""
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

    def depends_on_stores(self) -> bool:
        """Whether an access that was not proved depends on what an own buffer holds."""
        roots = {number for number, root in self._roots.items() if self._is_own(root)}
        if not roots:
            return False
        for number, access in enumerate(self.accesses):
            atoms = {atom for claim in access.claims for atom in claim.atoms()} | atoms_of(access.conditions)
            if not roots.isdisjoint(reach(self.terms, atoms)) and self.judged(number).obligations:
                return True
        return False

    def without_data(self) -> frozenset[int]:
        """The kernel's own buffers whose stored values are all independent of data."""
        found = set(self.origins) - self.handed
        while True:
            kept = {root for root in found if self.origins[root] <= found}
            if kept == found:
                return frozenset(found)
            found = kept

    def perhaps_unwritten(self) -> frozenset[int]:
        """The buffers that the kernel stores to and that it may load from where nothing was stored. That a
        block's reduction to its own buffers has a step is judged apart.
        """
        found = set()
        for root in self.ends:
            needs = needs_of(self.terms, self.accesses, root, self.allocated.get(root, 0))
            if needs is None or not needs.is_told or (needs.reductions and root not in self.held):
                found.add(root)
        return frozenset(found)

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
