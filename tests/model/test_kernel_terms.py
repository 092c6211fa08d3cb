"""The arithmetic of indices: every number that a tree has at some step is the one of its polynomial, and inside
of what is said of its range.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
import sympy

from relax_lint.model.kernel_access.atoms import Option
from relax_lint.model.kernel_access.conditions import (
    Condition,
    Unread,
    any_of,
    at_least_zero,
    branches,
    equal,
    every,
    is_unread,
    negated,
)
from relax_lint.model.kernel_access.polynomials import Poly, constant, divided, reduced
from relax_lint.model.kernel_access.terms import Terms
from relax_lint.symbolic.evaluation import compile_expr
from tests.model.polynomials_at import Point, holds, value_of


@dataclass(frozen=True)
class Tree:
    """A number as the package has it, and as plain Python computes it."""

    poly: Poly
    value: Callable[[Point], int]


class Writer:
    """Random trees over two sizes, a number of either sign, two loops, an element and two unknown numbers."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.terms = terms = Terms()
        self.n, self.m = (self._atom(terms.symbol(_symbol(name), (0, None))) for name in "nm")
        self.k = self._atom(terms.symbol(_symbol("k"), (-3, 4)))
        first = chance.choice((self.number(0), self.number(1), self.number(-2), self.k))
        self.outer = self._loop("i", first, chance.choice((self.n, self.m)))
        self.inner = self._loop("j", self.number(0), chance.choice((self.n, self.number(4), self.outer)))
        self.element = self._atom(terms.loaded("e", (0, None), (constant(1), self.m.poly)))
        self.word = self._atom(terms.opaque("w", (-1, 2)))
        self.count = self._atom(terms.opaque("c", (0, None)))
        self.sizes = (self.n, self.m, self.k)
        self.steps = (self.outer, self.inner, self.element, self.word, self.count)

    def _atom(self, poly: Poly) -> Tree:
        return Tree(poly, lambda point: value_of(self.terms, poly, point))

    def _loop(self, name: str, first: Tree, extent: Tree) -> Tree:
        return self._atom(self.terms.loop(name, first.poly, extent.poly))

    def number(self, value: int) -> Tree:
        return Tree(constant(value), lambda _: value)

    def tree(self, depth: int, leaves: tuple[Tree, ...]) -> Tree:
        """A random one."""
        chance = self.chance
        if depth == 0:
            return chance.choice((*leaves, *leaves, self.number(chance.randint(-3, 5))))
        a, b = self.tree(depth - 1, leaves), self.tree(depth - 1, leaves)
        kind = chance.choice(("+", "+", "-", "*", "//", "//", "%", "max", "min", "select", "scale"))
        return self._made(kind, a, b)

    def _made(self, kind: str, a: Tree, b: Tree) -> Tree:
        terms, d = self.terms, self._divisor()
        if kind == "+":
            return Tree(a.poly + b.poly, lambda at: a.value(at) + b.value(at))
        if kind == "-":
            return Tree(a.poly - b.poly, lambda at: a.value(at) - b.value(at))
        if kind == "*" and len(a.poly.terms) * len(b.poly.terms) < 8:
            return Tree(a.poly * b.poly, lambda at: a.value(at) * b.value(at))
        if kind == "//" and (quotient := terms.quotient(a.poly, d.poly)) is not None:
            return Tree(quotient, lambda at: divmod(a.value(at), d.value(at))[0])
        if kind == "%" and (rest := terms.remainder(a.poly, d.poly)) is not None:
            return Tree(rest, lambda at: divmod(a.value(at), d.value(at))[1])
        if kind in ("max", "min"):
            room = a.poly - b.poly if kind == "max" else b.poly - a.poly
            options = Option(at_least_zero(room), a.poly), Option(at_least_zero(-room), b.poly)
            pick = max if kind == "max" else min
            return Tree(terms.choice(options, kind), lambda at: pick(a.value(at), b.value(at)))
        if kind == "select":
            condition = equal(a.poly, b.poly)
            options = Option(condition, a.poly.shift(2)), Option(negated(condition), b.poly)
            return Tree(
                terms.choice(options),
                lambda at: a.value(at) + 2 if a.value(at) == b.value(at) else b.value(at),
            )
        return Tree(a.poly.scale(-3), lambda at: -3 * a.value(at))

    def _divisor(self) -> Tree:
        n, m = self.n, self.m
        more = Tree(m.poly.shift(2), lambda at: m.value(at) + 2)
        product = Tree(n.poly * m.poly, lambda at: n.value(at) * m.value(at))
        numbers = map(self.number, (1, 2, 3, 4))
        return self.chance.choice((*numbers, *map(self.number, (2, 3, 4)), n, more, product))

    def points(self) -> Iterator[Point]:
        """Every step of the loops at some sizes, with every element."""
        for n, m, k in itertools.product((0, 1, 2, 5), (0, 1, 3), (-3, 0, 4)):
            at = {_number(self.n): n, _number(self.m): m, _number(self.k): k}
            for i in self._range(self.outer, at):
                for j in self._range(self.inner, here := {**at, _number(self.outer): i}):
                    there = {**here, _number(self.inner): j}
                    for e, (word, c) in itertools.product((1, m) if m else (), ((-1, 0), (2, 3))):
                        yield {
                            **there,
                            _number(self.element): e,
                            _number(self.word): word,
                            _number(self.count): c,
                        }

    def _range(self, loop: Tree, at: Point) -> range:
        atom = self.terms[_number(loop)]
        first, last = value_of(self.terms, atom.first, at), value_of(self.terms, atom.last, at)
        return range(first, last + 1)


def _symbol(name: str) -> sympy.Symbol:
    return sympy.Symbol(name, integer=True)


def _number(tree: Tree) -> int:
    found = tree.poly.single()
    assert found is not None
    return found


def _inside(span: tuple[int | None, int | None], value: int) -> bool:
    low, high = span
    return (low is None or low <= value) and (high is None or value <= high)


def _values(writer: Writer, tree: Tree) -> Iterator[tuple[Point, int]]:
    for point in itertools.islice(writer.points(), 0, None, 3):
        try:
            yield point, tree.value(point)
        except ZeroDivisionError:
            continue


def compared(seed: int) -> tuple[int, int, int]:
    """How many ends of ranges are known, how many of the trees that are never negative are known for that, and
    how many have a least value.
    """
    writer = Writer(random.Random(seed))
    terms = writer.terms
    ends = positive = bounded = 0
    for depth in (1, 2, 2, 3):
        tree = writer.tree(depth, (*writer.sizes, *writer.steps, *writer.steps))
        p = tree.poly
        span, not_negative, least = terms.span(p), terms.is_not_negative(p), terms.least(p)
        within = terms.is_within(p, writer.n.poly)
        for point, value in _values(writer, tree):
            assert value_of(terms, p, point) == value, (seed, point)
            assert _inside(span, value), (seed, span, value)
            assert value >= 0 or not not_negative, (seed, point)
            assert not within or 0 <= value < point[_number(writer.n)], (seed, point)
            assert least is None or value_of(terms, least, point) <= value, (seed, point)
        _compare_shown(writer, p if least is None else least)
        ends += sum(end is not None for end in span)
        positive += not_negative
        bounded += least is not None
    return ends, positive, bounded


def _compare_shown(writer: Writer, p: Poly) -> None:
    """What people see of what depends on the sizes only is the same number."""
    if not writer.terms.is_static(p):
        return
    sizes = [tree.poly for tree in writer.sizes]
    shown = compile_expr(writer.terms.expression(p), tuple(map(_symbol, "nmk")))
    for point in itertools.islice(writer.points(), 0, None, 31):
        try:
            expected = value_of(writer.terms, p, point)
        except ZeroDivisionError:
            continue
        assert shown(*(value_of(writer.terms, one, point) for one in sizes)) == expected


def test_polynomials_and_their_ranges_are_those_of_the_trees() -> None:
    ends, positive, bounded = map(sum, zip(*map(compared, range(70)), strict=True))
    # More may become known, less may not.
    assert ends >= 279
    assert positive >= 138
    assert bounded >= 240


@pytest.mark.parametrize("seed", range(20))
def test_polynomials_are_taken_apart_without_loss(seed: int) -> None:
    writer = Writer(random.Random(seed))
    chance, terms = writer.chance, writer.terms
    leaves = (writer.n, writer.m, writer.k, writer.outer)
    for _ in range(10):
        a, d = (_sum_of_products(chance, leaves) for _ in range(2))
        assert _same(a - d, a + d.scale(-1))
        assert _same(a + (-a), constant(0))
        if d.terms:
            whole, rest = divided(a, d)
            assert _same(whole * d + rest, a)
            ((monomial, factor), *more) = d.terms.items()
            if not more and monomial:
                assert not any(_has(one, monomial) and c % factor == 0 for one, c in rest.terms.items())
        number = _number(chance.choice(leaves))
        split = a.coefficient(number)
        if split is not None:
            factor_of, others = split
            atom = next(leaf.poly for leaf in leaves if _number(leaf) == number)
            assert number not in factor_of.atoms() | others.atoms()
            assert _same(factor_of * atom + others, a)
        else:
            assert any(one.count(number) > 1 for one in a.terms)
        put = a.put(number, d)
        smaller = reduced(a)
        assert all(abs(c) <= abs(a.terms[m]) for m, c in smaller.terms.items())
        for point in itertools.islice(writer.points(), 0, None, 97):
            there = value_of(terms, a, point)
            assert (value_of(terms, smaller, point) >= 0) == (there >= 0)
            moved = {**point, number: value_of(terms, d, point)}
            assert value_of(terms, put, point) == value_of(terms, a, moved)


def _same(a: Poly, b: Poly) -> bool:
    return {m: c for m, c in a.terms.items() if c} == dict(b.terms)


def _has(monomial: tuple[int, ...], factors: tuple[int, ...]) -> bool:
    return all(monomial.count(atom) >= factors.count(atom) for atom in factors)


def _sum_of_products(chance: random.Random, leaves: tuple[Tree, ...]) -> Poly:
    found = constant(chance.choice((0, 0, 6, -4, 7)))
    for _ in range(chance.randint(1, 3)):
        part = constant(chance.choice((1, 2, -3, 4, 6)))
        for _ in range(chance.randint(1, 2)):
            part = part * chance.choice(leaves).poly
        found = found + part
    return found


def test_a_power_and_a_part_have_the_ranges_of_what_they_are() -> None:
    writer = Writer(random.Random(0))
    terms = writer.terms
    exponent = terms.remainder(writer.n.poly, constant(5))
    assert exponent is not None
    power = terms.power(exponent, 4)
    assert power is not None
    assert terms.span(power) == (1, 16)
    assert terms.power(exponent, 4) == power
    assert terms.power(exponent, 3) is None
    assert terms.power(exponent.shift(-1), 4) is None
    assert terms.power(writer.n.poly, 62) is None
    for first, width in itertools.product((-3, 0, 2), (2, 3, 4)):
        loop = terms.loop("x", constant(first), constant(6))
        number = loop.single()
        assert number is not None
        for rest in range(width):
            values = {x // width for x in range(first, first + 6) if x % width == rest}
            part = terms.part(number, width, rest)
            assert not values or terms.span(part) == (min(values), max(values))
            assert terms.part(number, width, rest) == part


def test_numbers_are_divided_as_numbers() -> None:
    terms = Terms()
    for a, d in itertools.product(range(-7, 8), (-3, -1, 1, 2, 4, 5)):
        assert terms.quotient(constant(a), constant(d)) == constant(a // d)
        if d > 0:
            assert terms.remainder(constant(a), constant(d)) == constant(a % d)
    assert terms.quotient(constant(1), constant(0)) is None
    assert terms.remainder(constant(1), constant(0)) is None


def test_what_can_only_be_0_divides_nothing() -> None:
    terms = Terms()
    zero = terms.loop("i", constant(0), constant(1))
    assert terms.span(zero) == (0, 0)
    assert terms.quotient(constant(5), zero) is None
    assert terms.remainder(constant(5), zero) is None


def test_variables_of_one_name_are_told_apart() -> None:
    terms = Terms()
    loops = [terms.loop("i", constant(0), constant(3)) for _ in range(3)]
    size = terms.symbol(_symbol("n"), (0, None))
    other = terms.loop("n", constant(0), constant(3))
    assert len({terms.expression(p) for p in (*loops, size, other)}) == 5


def test_the_greater_of_two_is_one_number_however_often_it_is_asked() -> None:
    terms = Terms()
    n, m = (terms.symbol(_symbol(name), (0, None)) for name in "nm")
    ends = []
    for name in "ij":
        loop = terms.loop(name, constant(0), m)
        room = loop + n - m
        options = Option(at_least_zero(room), loop + n), Option(at_least_zero(-room), m)
        ends.append(terms.least(terms.choice(options, "max")))
    assert ends[0] is not None
    assert ends[0] == ends[1]
    assert terms.expression(ends[0]) == sympy.Max(*map(_symbol, "nm"))


def test_conditions_mean_what_they_say() -> None:
    chance = random.Random(1)
    writer = Writer(chance)
    leaves = (writer.n, writer.m, writer.k)
    points = list(itertools.islice(writer.points(), 0, None, 41))

    def made(depth: int) -> tuple[Condition, Callable[[Point], bool]]:
        if depth == 0:
            p = _sum_of_products(chance, leaves)
            return at_least_zero(p), lambda at: value_of(writer.terms, p, at) >= 0
        (one, is_one), (two, is_two) = made(depth - 1), made(depth - 1)
        kind = chance.randrange(7)
        if kind == 0:
            return every((one, two)), lambda at: is_one(at) and is_two(at)
        if kind == 1:
            return any_of((one, two)), lambda at: is_one(at) or is_two(at)
        if kind == 2:
            return negated(one), lambda at: not is_one(at)
        if kind == 3:
            return every((one, True, negated(two))), lambda at: is_one(at) and not is_two(at)
        if kind == 4:
            return any_of((False, one)), is_one
        if kind == 5:
            return every((one, False)), lambda at: False
        return any_of((one, True)), lambda at: True

    for _ in range(60):
        condition, is_so = made(chance.randint(0, 3))
        ways = branches([condition])
        for point in points:
            expected = is_so(point)
            assert holds(writer.terms, condition, point) is expected
            assert True not in getattr(condition, "parts", ())
            assert False not in getattr(condition, "parts", ())
            met = [why for kept, why in ways if all(value_of(writer.terms, p, point) >= 0 for p in kept)]
            assert bool(met) is expected or (met and any(met))


def test_what_is_not_known_stays_so_under_whatever_it_is_put() -> None:
    unread = Unread("data")
    open_ = at_least_zero(Writer(random.Random(0)).n.poly)
    for condition in (unread, negated(unread), every((open_, unread)), any_of((open_, negated(unread)))):
        assert is_unread(condition)
        assert any(why for _, why in branches([condition]))
    assert not is_unread(every((open_, negated(open_))))
    assert not is_unread(True)
    assert branches([every((open_, unread))])[0][1] == ("data",)


@pytest.mark.parametrize("span", [(0, None), (0, 100), (0, 3)])
def test_what_was_asked_of_a_symbol_before_it_was_bounded_is_asked_again(
    span: tuple[int, int | None],
) -> None:
    terms = Terms()
    n = terms.symbol(sympy.Symbol("n", integer=True), span)
    other = terms.symbol(sympy.Symbol("m", integer=True), (0, None))
    asked = n.scale(2).shift(1), n.shift(-7), -n + constant(5), n + other
    before = [(terms.span(p), terms.constraint(p), terms.is_not_negative(p)) for p in asked]
    assert before[3][0] == (0, None)
    number = n.single()
    assert number is not None
    terms.lower(number, 5)
    most = min(5, span[1] or 5)
    assert terms[number].span == (0, most)
    assert [terms.span(p) for p in asked] == [(1, 2 * most + 1), (-7, most - 7), (5 - most, 5), (0, None)]
    assert [terms.constraint(p).never_holds for p in asked] == [False, True, False, False]
    assert [terms.constraint(p).always_holds for p in asked] == [True, False, True, True]
    assert [terms.is_not_negative(p) for p in asked] == [True, False, True, True]
