"""Elimination of atoms from conjunctions of `p >= 0`: does one step of some loops satisfy all of them?

Pairs of a lower and an upper bound of an atom are added up (Fourier and Motzkin). Whether that is exact over
integers is the matter of `bounds.py`; where a pair is not, cases are told apart (the rest of another atom,
the sign of a factor), after which it is. Where that would take too many cases the outcome is only implied:
it may be satisfiable although the whole is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count

from relax_lint.model.kernel_access.bounds import Exactness, Split, Step
from relax_lint.model.kernel_access.polynomials import Poly, Shape, TooLarge, reduced
from relax_lint.model.kernel_access.terms import Terms
from relax_lint.support.lazy_dataclass import record

MAX_CONSTRAINTS = 90
MAX_PAIRS = 1500
MAX_CASES = 12
MAX_SPLITS = 40
"""Cases of one conjunction that are left, and that are begun."""

Harmless = frozenset[tuple[int, Poly, Poly]]
"""(atom, lower, upper): there is always an atom between these two bounds."""


@record(frozen=True)
class Left:
    """What is left of a conjunction in one case; None where it was shown to be impossible."""

    constraints: tuple[Poly, ...] | None
    exact: bool


class Conjunction:
    """Polynomials that are all >= 0; the tightest of those that differ by a constant is kept."""

    def __init__(self, terms: Terms, constraints: Iterable[Poly]) -> None:
        self._terms = terms
        self._kept: dict[Shape, Poly] = {}
        self.impossible = False
        for p in constraints:
            self.add(p)

    @property
    def polynomials(self) -> list[Poly]:
        """All of them."""
        return list(self._kept.values())

    def add(self, p: Poly) -> None:
        """One more; what always holds is left out."""
        self._terms.effort += 1
        p = reduced(p)
        low, high = self._terms.span(p)
        if high is not None and high < 0:
            self.impossible = True
        if p.is_constant or (low is not None and low >= 0 and self._terms.is_static(p)):
            return
        key, other = p.shapes
        known = self._kept.get(key)
        if known is None or p.constant < known.constant:
            self._kept[key] = p
        opposite = self._kept.get(other)
        if opposite is not None and opposite.constant + self._kept[key].constant < 0:
            self.impossible = True


@record(frozen=True)
class _Case:
    """A conjunction on the way: what is still to be eliminated, and whether all was exact so far."""

    constraints: tuple[Poly, ...]
    pending: frozenset[int]
    harmless: Harmless
    exact: bool = True
    pairs: int = 0


def eliminate(
    terms: Terms, constraints: Iterable[Poly], atoms: Iterable[int], harmless: Harmless = frozenset()
) -> tuple[Left, ...]:
    """What a conjunction says of the other atoms, case by case: one of them holds. None: it is impossible."""
    todo = [_Case(tuple(constraints), frozenset(atoms), harmless)]
    found: list[Left] = []
    splits = count()
    while todo:
        case = todo.pop()
        may_split = len(todo) + len(found) < MAX_CASES and next(splits) < MAX_SPLITS and not terms.is_spent
        left = _eliminated(terms, case, case.pending if may_split else frozenset())
        if isinstance(left, Left):
            if left.constraints is not None:
                found.append(left)
        else:
            todo += left
    return tuple(found)


def can_hold(terms: Terms, constraints: Iterable[Poly], atoms: Iterable[int]) -> bool:
    """Whether a conjunction was not shown to be impossible."""
    left = _eliminated(terms, _Case(tuple(constraints), frozenset(atoms), frozenset()), None)
    # Where no atom may be split no cases are told apart.
    assert isinstance(left, Left)
    return left.constraints is not None


def _eliminated(terms: Terms, case: _Case, free: frozenset[int] | None) -> Left | list[_Case]:
    """One atom after the other, up to the end or to where cases of those in `free` have to be told apart."""
    conjunction = Conjunction(terms, case.constraints)
    steps: dict[int, Step] = {}
    while case.pending and not conjunction.impossible:
        known = conjunction.polynomials
        own = _occurrences(known, case.pending)
        steps = {
            one: Step(terms, known, own[one], one, case.harmless, free, steps.get(one))
            for one in case.pending
        }
        step = _best([*steps.values()])
        if step.exactness is Exactness.AFTER_SPLIT:
            assert step.split is not None
            case = replace(case, constraints=tuple(known))
            return list(_cases(terms, case, step.split))
        pairs = case.pairs + len(step.lower) * len(step.upper)
        if pairs > MAX_PAIRS or len(step.other) > MAX_CONSTRAINTS:
            rest = [p for p in known if terms.is_static(p)]
            return Left(tuple(rest), exact=False)
        exact = case.exact and step.exactness <= Exactness.WITH_QUOTIENTS
        conjunction = Conjunction(terms, step.other)
        try:
            for p in step.combined():
                conjunction.add(p)
        except TooLarge:
            exact = False
        case = replace(case, pending=case.pending - {step.atom}, exact=exact, pairs=pairs)
    return Left(None if conjunction.impossible else tuple(conjunction.polynomials), case.exact)


def _occurrences(constraints: Sequence[Poly], atoms: Iterable[int]) -> dict[int, list[Poly]]:
    """For each of some atoms the constraints in which it occurs."""
    found: dict[int, list[Poly]] = {atom: [] for atom in atoms}
    for p in constraints:
        for atom in p.atoms():
            if atom in found:
                found[atom].append(p)
    return found


def _best(steps: list[Step]) -> Step:
    """What is exact comes first, then what leaves least, then the innermost."""
    steps.sort(key=lambda step: (step.growth, -step.atom))
    best = steps[0]
    for step in steps:
        if step.exactness < best.exactness:
            best = step
        if best.exactness is Exactness.PLAIN:
            break
    return best


def _cases(terms: Terms, case: _Case, split: Split) -> Iterable[_Case]:
    """The cases that are told apart."""
    if split.factor is not None:
        factor = split.factor
        yield replace(case, constraints=(*case.constraints, factor.shift(-1)))
        yield replace(case, constraints=(*case.constraints, factor, -factor))
        if split.may_be_negative:
            yield replace(case, constraints=(*case.constraints, (-factor).shift(-1)))
        return
    for rest in range(split.width):
        part = terms.part(split.atom, split.width, rest)
        value = part.scale(split.width).shift(rest)
        yield replace(
            case,
            constraints=tuple(p.put(split.atom, value) for p in case.constraints),
            pending=case.pending - {split.atom} | part.atoms(),
            harmless=frozenset(
                (atom, reduced(one.put(split.atom, value)), reduced(other.put(split.atom, value)))
                for atom, one, other in case.harmless
                if atom != split.atom
            ),
        )
