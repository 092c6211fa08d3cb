"""What is left of a conjunction holds exactly where a step of its loops satisfies all of it."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import sympy

from relax_lint.model.kernel_access import elimination
from relax_lint.model.kernel_access.atoms import Kind
from relax_lint.model.kernel_access.bounds import Step
from relax_lint.model.kernel_access.constraints import Constraint
from relax_lint.model.kernel_access.elimination import Left, can_hold, eliminate
from relax_lint.model.kernel_access.polynomials import Poly, constant, reduced
from relax_lint.model.kernel_access.terms import MAX_EFFORT, Terms

FACTORS = (-6, -4, -3, -2, -1, 0, 0, 1, 2, 3, 4)
LARGE = (-6, -4, -3, -2, 0, 2, 3, 4)


@dataclass
class System:
    """Constraints on loops, quotients of them, and the symbols `n` and `m` of the call."""

    terms: Terms
    n: Poly
    m: Poly
    loops: list[Poly]
    quotients: list[Poly]
    constraints: list[Poly]
    harmless: set[tuple[int, Poly, Poly]]

    def left(self) -> tuple[Left, ...]:
        atoms = [number(atom) for atom in (*self.loops, *self.quotients)]
        return eliminate(self.terms, self.constraints, atoms, frozenset(self.harmless))

    def value(self, p: Poly, point: Mapping[int, int]) -> int:
        result = 0
        for monomial, factor in p.terms.items():
            for atom in monomial:
                factor *= self._atom(atom, point)
            result += factor
        return result

    def _atom(self, atom: int, point: Mapping[int, int]) -> int:
        if atom in point:
            return point[atom]
        kind, first, last = self.terms[atom].kind, self.terms[atom].first, self.terms[atom].last
        a, d = self.value(first, point), self.value(last, point)
        return a // d if kind is Kind.QUOTIENT else a % d

    def is_satisfied(self, sizes: Mapping[int, int]) -> bool:
        """Whether a step of the loops satisfies all constraints."""
        ranges = [range(self.value(self.terms[number(one)].last, sizes) + 1) for one in self.loops]
        for step in itertools.product(*ranges):
            point = {**sizes, **dict(zip(map(number, self.loops), step, strict=True))}
            if all(self.value(p, point) >= 0 for p in self.constraints):
                return True
        return False


def number(atom: Poly) -> int:
    found = atom.single()
    assert found is not None
    return found


def system(chance: random.Random, *, products: bool = False, factors: tuple[int, ...] = FACTORS) -> System:
    terms = Terms()
    n, m = (terms.symbol(sympy.Symbol(name, integer=True), (0, None)) for name in "nm")
    extents = (n, m, constant(3), constant(5), n + m)
    loops = [
        terms.loop("ijk"[depth], constant(0), chance.choice(extents))
        for depth in range(chance.choice((1, 2, 2, 3)))
    ]
    found = System(terms, n, m, loops, [], [], set())
    for loop in loops:
        found.constraints += [loop, terms[number(loop)].last - loop]
    if chance.random() < 0.4:
        loop, width = chance.choice(loops), constant(chance.choice((2, 3)))
        quotient = terms.quotient(loop.scale(chance.choice((1, -1, -5))).shift(chance.randint(0, 3)), width)
        if quotient is not None and (atom := quotient.single()) is not None and quotient not in loops:
            first = terms[atom].first
            bounds = (width * quotient + width.shift(-1) - first, first - width * quotient)
            found.quotients.append(quotient)
            found.constraints += bounds
            found.harmless.add((atom, reduced(bounds[0]), reduced(bounds[1])))
    moving = (m, n, m - n, m.shift(-1), -m, n.scale(2))
    for _ in range(chance.choice((1, 2, 2, 3))):
        p = constant(chance.randint(-6, 6)) + n.scale(chance.choice((0, 0, 1, -1, 2)))
        p = p + m.scale(chance.choice((0, 0, 1, -1)))
        for factor in (*loops, *found.quotients):
            is_product = products and chance.random() < 0.4
            p = p + factor * (chance.choice(moving) if is_product else constant(chance.choice(factors)))
        found.constraints.append(p)
    return found


def compared(found: System) -> bool:
    """Whether what is left is exact; it is then satisfied just where the system is."""
    left = found.left()
    n, m = number(found.n), number(found.m)
    for sizes in ({n: a, m: b} for a, b in itertools.product((0, 1, 2, 3, 4, 6, 7), (0, 1, 2, 5))):
        is_satisfied = found.is_satisfied(sizes)
        said = [one for one in left if all(found.value(p, sizes) >= 0 for p in one.constraints or ())]
        assert said or not is_satisfied, sizes
        assert is_satisfied or not any(one.exact for one in said), sizes
        assert not is_satisfied or can_hold(
            found.terms, found.constraints, [*map(number, (*found.loops, *found.quotients)), n, m]
        )
    return all(one.exact for one in left)


@pytest.mark.parametrize("seed", [15, 19])
@pytest.mark.parametrize(
    ("drawn", "exact"),
    [
        ({}, {15: 70, 19: 69}),
        ({"products": True}, {15: 52, 19: 51}),
        ({"factors": LARGE}, {15: 69, 19: 70}),
        ({"factors": LARGE, "products": True}, {15: 51, 19: 46}),
    ],
)
def test_what_is_left_is_never_wrong_and_as_often_exact_as_it_was(
    drawn: Any, exact: dict[int, int], seed: int
) -> None:
    chance = random.Random(seed)
    seen = Counter(compared(system(chance, **drawn)) for _ in range(70))
    assert seen[True] >= exact[seed]


@pytest.mark.parametrize("seed", [220, 305, 397])
def test_what_an_upper_bound_alone_tells_apart_makes_it_exact(seed: int) -> None:
    assert compared(system(random.Random(seed), products=True))


@pytest.mark.parametrize("products", [False, True])
def test_bounds_that_are_kept_from_step_to_step_are_those_that_are_found_anew(
    products: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(16)
    # Two of each: what one says creates atoms.
    kept = [system(chance, products=products).left() for _ in range(70)]
    reused = []

    def anew(step: Step, constraints: list[Constraint]) -> Step:
        reused.append(step)
        return Step(step._terms, constraints, step.own, step.atom, step._harmless, step._free)

    monkeypatch.setattr(Step, "among", anew)
    chance = random.Random(16)
    assert kept == [system(chance, products=products).left() for _ in range(70)]
    assert any(kept)
    assert reused


def test_a_question_that_is_asked_again_is_answered_from_memory_and_counts_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = system(random.Random(17), products=False)
    anew = asked.left()
    # What one says creates atoms: from now on they are there.
    asked.terms._found.clear()
    before = asked.terms.effort
    assert asked.left() == anew
    taken = asked.terms.effort - before
    assert taken > 0
    steps: list[Step] = []

    def counted(*given: Any) -> Step:
        steps.append(Step(*given))
        return steps[-1]

    monkeypatch.setattr(elimination, "Step", counted)
    assert asked.left() == anew
    assert not steps
    assert asked.terms.effort == before + 2 * taken
    # With less left than finding it took, it stops where it would have stopped.
    asked.terms.effort = MAX_EFFORT - taken + 1
    asked.left()
    assert steps


def test_multiples_between_two_bounds_are_a_quotient_of_the_call() -> None:
    terms = Terms()
    n = terms.symbol(sympy.Symbol("n", integer=True), (0, None))
    loop = terms.loop("i", constant(0), n)
    step = [loop, n.shift(-1) - loop, loop.scale(2) - n, n - loop.scale(2)]
    (left,) = eliminate(terms, step, [number(loop)])
    shown = {str(terms.expression(p)) for p in left.constraints or ()}
    assert left.exact
    assert shown == {"-n + 2*FloorDiv(n, 2)", "n - 2"} or shown == {"-n + 2*FloorDiv(n, 2)", "n - 1", "n - 2"}


def test_a_quotient_is_between_its_bounds_and_its_dividend_need_not_be() -> None:
    # -5*i // 4 == q has an i for some q only, and a q for each i.
    terms = Terms()
    n = terms.symbol(sympy.Symbol("n", integer=True), (0, None))
    loop = terms.loop("i", constant(0), n)
    quotient = terms.quotient(loop.scale(-5), constant(4))
    assert quotient is not None
    lower, upper = quotient.scale(4).shift(3) + loop.scale(5), -loop.scale(5) - quotient.scale(4)
    wanted = [quotient.shift(4), -quotient.shift(4)]
    left = eliminate(
        terms,
        [lower, upper, loop, n.shift(-1) - loop, *wanted],
        [number(loop), number(quotient)],
        frozenset({(number(quotient), reduced(lower), reduced(upper))}),
    )
    values = {True: 4, False: 3}
    point = {expected: {number(n): size} for expected, size in values.items()}
    for expected, sizes in point.items():
        found = System(terms, n, n, [loop], [quotient], [], set())
        holds = any(all(found.value(p, sizes) >= 0 for p in one.constraints or ()) for one in left)
        assert holds is expected


def between(lower: int, upper: int, more: int) -> tuple[Left, ...]:
    """What is left of a loop between so many symbols, where the first of those above it and so many others are
    above the first of those below it by two.
    """
    terms = Terms()
    below, above, others = (
        [terms.symbol(sympy.Symbol(f"{name}{i}", integer=True), (None, None)) for i in range(count)]
        for name, count in (("m", lower), ("n", upper), ("k", more))
    )
    loop = terms.opaque("i")
    bounds = (*(loop - one for one in below), *(one - loop for one in above))
    said = [(one - below[0]).shift(-2) for one in (above[0], *others)]
    left = eliminate(terms, [*bounds, *said], [number(loop)])
    assert all(terms.is_static(p) for one in left for p in one.constraints or ())
    return left


@pytest.mark.parametrize(
    ("lower", "upper", "more", "exact"),
    [
        (2, 3, 0, True),
        (30, 40, 0, True),
        (30, 51, 0, False),
        (1, 200, 0, True),
        (2, 751, 0, False),
        (1, 2, 80, True),
        (1, 2, 100, False),
    ],
)
def test_of_too_many_bounds_only_what_is_certain_is_left(
    lower: int, upper: int, more: int, exact: bool
) -> None:
    (left,) = between(lower, upper, more)
    assert left.exact is exact
    # Each pair says something; without them only what was said of the call.
    assert len(left.constraints or ()) == (lower * upper if exact else 1) + more
