"""Numbers that the bits of their type may not have held, and what is made of them.

TVM takes a cast, and arithmetic in fewer than 32 bits, for the number that it would be if nothing were lost:
it makes `x` of `x % 100` where that number is below 100, and leaves a comparison out that it decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from relax_lint.model.kernel_access.conditions import Condition
from relax_lint.model.kernel_access.polynomials import Poly
from relax_lint.model.kernel_access.results import Results

Value: TypeAlias = "Poly | Condition | None"
"""An integer, a truth, or None: anything else, or what cannot be expressed."""


class FewBits(Results):
    """Remembers which numbers may be others than TVM takes them for."""

    def is_unsure(self, values: Iterable[Poly]) -> bool:
        """Whether values were computed from arithmetic of at most 32 bits that may have wrapped around."""
        return not self.unsure.isdisjoint(atom for value in values for atom in value.atoms())

    def is_cut(self, values: Iterable[Value]) -> bool:
        """Whether one of some values was computed from what few bits may not have held."""
        atoms = (atom for value in values if isinstance(value, Poly) for atom in value.atoms())
        return not self.in_few_bits.isdisjoint(atoms)

    def leave_unsure(self, found: Poly) -> Poly:
        """A number that few bits may not have held."""
        self.unsure |= found.atoms()
        self.in_few_bits |= found.atoms()
        return found

    def cut(self, found: Value, made_of: Iterable[Value]) -> Value:
        """A value that is made of others: TVM takes it for another one where it does so of one of them."""
        return self.leave_unsure(found) if isinstance(found, Poly) and self.is_cut(made_of) else found

    def in_memory(self, found: Value, dtype: str) -> Value:
        """What is loaded where a value was stored: of that TVM knows no more than its type, LLVM only of
        integers of 32 bits.
        """
        if not isinstance(found, Poly) or not self.is_cut((found,)):
            return found
        stored = self.terms.opaque("stored", self.terms.span(found))
        if dtype.startswith("int32"):
            self.unsure |= stored.atoms()
        return stored
