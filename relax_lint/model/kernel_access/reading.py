"""`read_accesses`: reads the body of a PrimFunc as often as that tells more."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import sympy

from relax_lint.model.kernel_access.accesses import KernelAccess, KernelAccesses
from relax_lint.model.kernel_access.conditions import at_least_zero
from relax_lint.model.kernel_access.invariants import MAX_READINGS, guesses
from relax_lint.model.kernel_access.limits import MAX_READINGS as MAX_LIMITED
from relax_lint.model.kernel_access.limits import is_settled, keep, limits_of, merged
from relax_lint.model.kernel_access.polynomials import Poly
from relax_lint.model.kernel_access.survey import Survey
from relax_lint.model.kernel_access.walk import Walk


def read_accesses(
    prim_func: Any,
    signature: Mapping[Any, sympy.Symbol] | None = None,
    functions: Mapping[str, Any] = MappingProxyType({}),
) -> KernelAccesses:
    """Every access of a PrimFunc in the order of the text. `signature` names variables of its signature;
    `functions` are the PrimFuncs that it may call, by name.
    """
    reader = _Reader(prim_func, signature or {}, functions)
    walk = reader.read()
    accesses, values = reader.within_limits(walk), walk.values()
    walk.terms.rest()
    return KernelAccesses(accesses, walk.terms, walk.symbols, tuple(walk.not_read), values)


class _Reader:
    """Reads a body as often as that tells more."""

    def __init__(
        self, prim_func: Any, signature: Mapping[Any, sympy.Symbol], functions: Mapping[str, Any]
    ) -> None:
        self._prim_func = prim_func
        self._signature = signature
        self._functions = functions
        self._survey = Survey()
        self._survey.of(prim_func.body)
        self._limits: tuple[Poly, ...] = ()
        self._beyond: dict[tuple[Poly, ...], None] = {}

    def read(self) -> Walk:
        """The last reading."""
        first = walk = self._walk(None)
        if walk.handed or walk.stores_to_views or walk.misses_results or (walk.held and walk.is_open()):
            # What the kernel's own buffers hold, and what others may write, is known only now.
            walk = self._walk(first)
        if walk.depends_on_stores():
            found = self._kept(first, walk)
            walk = walk if found is None else self._walk(first, found)
        return walk

    def within_limits(self, walk: Walk) -> tuple[KernelAccess, ...]:
        """The accesses of a reading, with what is known of calls that keep to the sizes for which 32-bit
        arithmetic is enough.
        """
        accesses = walk.all_judged()
        self._beyond.update(walk.beyond)
        for _ in range(MAX_LIMITED):
            is_open = any(not is_settled(one) for access in accesses for one in access.obligations)
            found = limits_of(len(walk.symbols), self._beyond) if is_open else ()
            if not found or set(found) == set(self._limits):
                # Nothing is open, or no other limit is known.
                break
            self._limits = found
            limited = self.read()
            for number, access in enumerate(accesses[: len(limited.accesses)]):
                if not all(map(is_settled, access.obligations)):
                    limited.judged(number)
            accesses = merged(accesses, limited.accesses, found)
            self._beyond.update(limited.beyond)
        return accesses

    def _kept(self, first: Walk, walk: Walk) -> Walk | None:
        """The reading that shows bounds on what the own buffers hold to be kept by each store, if any is."""
        unwritten = first.perhaps_unwritten()
        walk.guesses = guesses(walk.terms, [put for put in walk.puts if put.root not in unwritten])
        for _ in range(MAX_READINGS):
            if not walk.guesses:
                return None
            walk = self._walk(first, walk, tries=True)
            if not walk.guesses.given_up:
                return walk
        return None

    def _walk(self, before: Walk | None, guess: Walk | None = None, *, tries: bool = False) -> Walk:
        """A reading, with the guesses of another one, which it may try out."""
        walk = self._prepared(before)
        if guess is not None:
            walk.guesses, walk.tries = guess.guesses.moved(guess.terms, walk.terms), tries
        walk.statement(self._prim_func.body)
        self._beyond.update(walk.beyond)
        return walk

    def _prepared(self, before: Walk | None) -> Walk:
        """What is about to read the body; `before` read it already."""
        walk = Walk(self._survey, self._functions)
        if before is not None:
            walk.shared, walk.unwritten = frozenset(before.handed), before.perhaps_unwritten()
            walk.learned = {root: held for root, held in before.held.items() if root not in walk.unwritten}
            walk.shown = {address: buffer.ref.root for address, buffer in before.buffers.items()}
            walk.matrix_shapes = dict(before.matrix_shapes)
            walk.counted = before.without_data()
            walk.stores = {r: len(ends) for r, ends in before.ends.items() if r not in walk.unwritten}
            walk.copied = {
                root: found
                for root, sources in before.sources.items()
                if root not in walk.unwritten
                and len(sources) == 1
                and (found := next(iter(sources))) is not None
            }
        walk.symbols = walk.signature(self._prim_func.params[:], self._signature)
        walk.facts = tuple(map(at_least_zero, keep(walk.terms, self._limits)))
        return walk
