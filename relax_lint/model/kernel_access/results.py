"""What the elements of a parameter are after a call, from the stores to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relax_lint.model.kernel_access.atoms import Kind
from relax_lint.model.kernel_access.initialised import Needs, needs_of
from relax_lint.model.kernel_access.layouts import Buffer, narrow_claims
from relax_lint.model.kernel_access.outside import Around, reach
from relax_lint.model.kernel_access.polynomials import ZERO, Poly
from relax_lint.model.kernel_access.recording import Accesses
from relax_lint.model.kernel_access.stored import StoredValues, closure, elements_of

_INT64 = 2**63


class Results(Accesses):
    """A scope that knows what a kernel stores to its parameters."""

    def result(
        self, buffer: Buffer, indices: tuple[Poly | None, ...], value: Any, wraps: Sequence[Poly]
    ) -> None:
        """A value is stored to a parameter, with 32-bit arithmetic that must not wrap around."""
        position = buffer.ref.parameter
        assert position is not None
        if buffer.span is None:
            return
        found = self._wraps_of.setdefault(position, {})
        if wraps:
            left = self.left_of(narrow_claims(wraps), Around(self.facts, self._steps))
            found.update(dict.fromkeys(one.outside for one in left))
        if self._reaches_both_ends(buffer, indices, value):
            self._reached.add(position)

    def positions_below(self, buffer: Buffer, extent: Poly) -> None:
        """What the kernel calls has just filled a parameter with positions on an axis."""
        position, root = buffer.ref.parameter, buffer.ref.root
        if position is None or buffer.span is None or buffer.source is not None:
            return
        last = extent.shift(-1)
        # It was taken to store anything.
        self.ends[root] = [*self.ends[root][:-1], ((ZERO, last),)]
        self.handed.discard(root)
        limit = buffer.span[1]
        wraps = self._wraps_of.setdefault(position, {})
        if limit is not None:
            wraps[(last.shift(-limit - 1),)] = None

    def _reaches_both_ends(self, buffer: Buffer, indices: tuple[Poly | None, ...], value: Any) -> bool:
        """Whether loops that choose the element are all that decides the value, each as far as it runs."""
        if self.facts or buffer.source is not None or not isinstance(value, Poly):
            return False
        chosen = {None if index is None else index.single() for index in indices}
        loops = {None if loop.variable is None else loop.variable.single() for loop in self.nest}
        seen: set[int] = set()
        for monomial in value.terms:
            moving = [atom for atom in monomial if not self.terms[atom].static]
            if len(moving) > 1:
                return False
            seen.update(moving)
        return seen <= chosen & loops and all(
            self.terms[atom].kind is Kind.LOOP
            and self.terms.is_static(self.terms[atom].first)
            and self.terms.is_static(self.terms[atom].last)
            for atom in seen
        )

    def values(self) -> dict[int, StoredValues]:
        """For each parameter to which integers are stored, what is known of all of them."""
        roots = {buffer.ref.parameter: buffer.ref.root for buffer in self.buffers.values()}
        found: dict[int, StoredValues] = {}
        wide = self._wide_claims()
        if wide is None:
            return found
        for position, wraps in self._wraps_of.items():
            held = closure(roots[position], self.ends)
            needs = None if held is None else self._needs(held[0])
            if held is None or needs is None or not held[0].isdisjoint(self.handed):
                continue
            single = len(self.ends[roots[position]]) == 1 and len(held[1]) == 1
            found[position] = StoredValues(
                held[1], (*wraps, *wide), needs.steps, needs.reductions, single and position in self._reached
            )
        return found

    def _wide_claims(self) -> tuple[tuple[Poly, ...], ...] | None:
        """What must be negative for no 64-bit arithmetic with data to wrap around before that matters."""
        claims: dict[tuple[Poly, ...], None] = {}
        for value in self.wide:
            data = any(self.terms[number].kind is Kind.LOADED for number in reach(self.terms, value.atoms()))
            ends = self._ends_of(value) if data else None
            if data and ends is None:
                return None
            if ends is not None:
                claims[((-ends[0]).shift(-_INT64 - 1),)] = None
                claims[(ends[1].shift(-_INT64),)] = None
        return tuple(claims)

    def _needs(self, roots: frozenset[int]) -> Needs | None:
        """What the kernel's own buffers, and parameters of which elements are stored, need to hold what was
        stored to them.
        """
        parameters = {buffer.ref.root for buffer in self.buffers.values() if buffer.ref.parameter is not None}
        parameters -= elements_of(roots, self.ends)
        steps: dict[Poly, None] = {}
        reductions: dict[Poly, None] = {}
        for root in {*self.held, *roots} - parameters:
            needs = needs_of(self.terms, self.accesses, root, self.allocated.get(root, 0))
            if needs is None and root in roots:
                return None
            if needs is not None:
                steps.update(dict.fromkeys(needs.steps))
                reductions.update(dict.fromkeys(needs.reductions))
        return Needs(tuple(steps), tuple(reductions))

    @property
    def misses_results(self) -> bool:
        """Whether what is stored to a parameter may be known when the kernel is read again."""
        return bool(self.held) and self.values().keys() != self._wraps_of.keys()
