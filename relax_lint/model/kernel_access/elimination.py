"""Elimination of atoms from conjunctions of `p >= 0`: does one step of some loops satisfy all of them?

Pairs of a lower and an upper bound of an atom are added up (Fourier and Motzkin). Whether that is exact over
integers is the matter of `bounds.py`; where a pair is not, cases are told apart (the rest of another atom,
the sign of a factor), after which it is. Where that would take too many cases the outcome is only implied:
it may be satisfiable although the whole is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import count

from relax_lint.model.kernel_access.bounds import Exactness, Split, Step
from relax_lint.model.kernel_access.constraints import Constraint
from relax_lint.model.kernel_access.polynomials import Poly, TooLarge, reduced
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

    def __init__(self, terms: Terms, constraints: Iterable[Poly] = ()) -> None:
        self._terms = terms
        self._kept: dict[int, Constraint] = {}
        self.impossible = False
        for p in constraints:
            self.add(p)

    @property
    def constraints(self) -> list[Constraint]:
        """All of them."""
        return [*self._kept.values()]

    @property
    def polynomials(self) -> list[Poly]:
        """The same as polynomials."""
        return [one.polynomial for one in self._kept.values()]

    def without(self, atom: int) -> Conjunction:
        """Those in which an atom does not occur. They were compared with each other before."""
        found = Conjunction(self._terms)
        found._kept = {key: one for key, one in self._kept.items() if atom not in one.atoms}
        return found

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, p: Poly) -> None:
        """One more; what always holds is left out."""
        self._terms.effort += 1
        one = self._terms.constraint(p)
        if one.never_holds:
            self.impossible = True
        if one.always_holds:
            return
        known = self._kept.get(one.shape)
        if known is None or one.constant < known.constant:
            self._kept[one.shape] = known = one
        opposite = self._kept.get(one.opposite)
        if opposite is not None and opposite.constant + known.constant < 0:
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
    case = _Case(tuple(constraints), frozenset(atoms), harmless)
    return terms.once((eliminate, case.constraints, case.pending, harmless), lambda: _left_of(terms, case))


def _left_of(terms: Terms, case: _Case) -> tuple[Left, ...]:
    todo = [case]
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
    case = _Case(tuple(constraints), frozenset(atoms), frozenset())
    return terms.once((can_hold, case.constraints, case.pending), lambda: _may_hold(terms, case))


def _may_hold(terms: Terms, case: _Case) -> bool:
    left = _eliminated(terms, case, None)
    # Where no atom may be split no cases are told apart.
    assert isinstance(left, Left)
    return left.constraints is not None


def _eliminated(terms: Terms, case: _Case, free: frozenset[int] | None) -> Left | list[_Case]:
    """One atom after the other, up to the end or to where cases of those in `free` have to be told apart."""
    conjunction = Conjunction(terms, case.constraints)
    pending, exact, pairs = case.pending, case.exact, case.pairs
    harmless: dict[int, list[tuple[Poly, Poly]]] = {}
    for atom, lower, upper in case.harmless:
        harmless.setdefault(atom, []).append((lower, upper))
    steps: dict[int, Step] = {}
    while pending and not conjunction.impossible:
        known = conjunction.constraints
        for atom, own in _occurrences(known, pending).items():
            before = steps.get(atom)
            if before is not None and before.is_alone and before.own == own:
                steps[atom] = before.among(known)
            else:
                steps[atom] = Step(terms, known, own, atom, harmless.get(atom, ()), free)
        step = _best([*steps.values()])
        exactness = step.exactness()
        if exactness is Exactness.AFTER_SPLIT:
            assert step.split is not None
            kept = tuple(conjunction.polynomials)
            return list(_cases(terms, _Case(kept, pending, case.harmless, exact, pairs), step.split))
        pairs += len(step.lower) * len(step.upper)
        others = conjunction.without(step.atom)
        if pairs > MAX_PAIRS or len(others) + len(step.more) > MAX_CONSTRAINTS:
            rest = [p for p in conjunction.polynomials if terms.is_static(p)]
            return Left(tuple(rest), exact=False)
        exact = exact and exactness <= Exactness.WITH_QUOTIENTS
        terms.effort += len(others)
        try:
            for p in step.more:
                others.add(p)
            for p in step.combined():
                others.add(p)
        except TooLarge:
            exact = False
        conjunction, pending = others, pending - {step.atom}
        del steps[step.atom]
    return Left(None if conjunction.impossible else tuple(conjunction.polynomials), exact)


def _occurrences(constraints: Iterable[Constraint], atoms: frozenset[int]) -> dict[int, list[Constraint]]:
    """For each of some atoms the constraints in which it occurs."""
    found: dict[int, list[Constraint]] = {atom: [] for atom in atoms}
    for one in constraints:
        for atom in one.atoms & atoms:
            found[atom].append(one)
    return found


def _best(steps: list[Step]) -> Step:
    """What is exact comes first, then what leaves least, then the innermost."""
    steps.sort(key=lambda step: (step.growth, -step.atom))
    best = steps[0]
    for step in steps:
        if step is not best and step.exactness() < best.exactness():
            best = step
        if best.exactness() is Exactness.PLAIN:
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
