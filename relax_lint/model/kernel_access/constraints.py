"""What `p >= 0` says: one object for all polynomials that say it, and what is asked of it again and again."""

from __future__ import annotations

from dataclasses import field

from relax_lint.model.kernel_access.polynomials import Poly
from relax_lint.support.lazy_dataclass import record


@record(frozen=True)
class Bound:
    """`whole` >= 0: `factor * x + rest` of a lower bound, `rest - factor * x` of an upper one."""

    factor: Poly
    rest: Poly
    whole: Poly


@record(frozen=True, eq=False)
class Constraint:
    """`polynomial` >= 0, reduced. `shape` and `opposite` are numbers for its terms with atoms and for those
    with the other sign: constraints with one shape differ by their `constant` alone.
    """

    polynomial: Poly
    atoms: frozenset[int]
    constant: int
    shape: int
    opposite: int
    never_holds: bool
    always_holds: bool
    """Whether nothing is left to be eliminated or told of it."""
    _sides: dict[int, tuple[int, Bound] | None] = field(default_factory=dict)

    def bound(self, atom: int) -> tuple[int, Bound] | None:
        """What it says of an atom: 1 and a lower bound, -1 and an upper one, or 0 and the factor and the rest
        where the factor is not a number; None where there is a power of the atom.
        """
        try:
            return self._sides[atom]
        except KeyError:
            found = self._sides[atom] = self._found_bound(atom)
            return found

    def _found_bound(self, atom: int) -> tuple[int, Bound] | None:
        parts = self.polynomial.coefficient(atom)
        if parts is None:
            return None
        factor, rest = parts
        if not factor.is_constant:
            return 0, Bound(factor, rest, self.polynomial)
        if factor.constant > 0:
            return 1, Bound(factor, rest, self.polynomial)
        return -1, Bound(-factor, rest, self.polynomial)
