"""What one store leaves in each element, up to which sizes 32 bits are enough, and which bounds are guessed: on terms
that are made by hand.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest
import sympy

from relax_lint.model.kernel_access.accesses import BufferRef, KernelAccess, Obligation
from relax_lint.model.kernel_access.atoms import Option
from relax_lint.model.kernel_access.conditions import Unread, at_least_zero, equal, negated
from relax_lint.model.kernel_access.filled import MAX_ATOMS, element, filled_by
from relax_lint.model.kernel_access.invariants import MAX_STORES, Guesses, Put, Transfer, guesses
from relax_lint.model.kernel_access.limits import MAX_LIMITS, keep, limits_of, merged
from relax_lint.model.kernel_access.polynomials import Poly, constant
from relax_lint.model.kernel_access.terms import Terms
from tests.model.polynomials_at import value_of
from tests.model.test_kernel_terms import Writer

INT32 = 2**31


def number(poly: Poly) -> int:
    found = poly.single()
    assert found is not None
    return found


# -- what one store leaves ---------------------------------------------------------------------


def test_an_element_is_the_value_that_was_stored_there() -> None:
    seen: Counter[bool] = Counter()
    for seed in range(60):
        chance = random.Random(seed)
        writer = Writer(chance)
        terms, loops = writer.terms, (writer.outer, writer.inner)
        others = [terms.loop("o", terms[number(one.poly)].first, constant(9)) for one in loops]
        value = writer.tree(chance.choice((1, 2, 2)), (*writer.sizes, *loops, *loops, *loops)).poly
        made = filled_by(terms, [one.poly for one in loops], value, ())
        if made is None:
            continue
        found = element(terms, made, others)
        seen[found is not None] += 1
        # The element that was stored in a step is the one that is asked for.
        same = element(terms, made, [one.poly for one in loops])
        for point in itertools.islice(writer.points(), 0, None, 7):
            try:
                expected = value_of(terms, value, point)
                at = {
                    **point,
                    **{number(o): point[number(one.poly)] for o, one in zip(others, loops, strict=True)},
                }
                assert same is None or value_of(terms, same, point) == expected
                # What is known of the range of the one loop is not known of the other one.
                if found is not None and not value.atoms() - {number(one.poly) for one in loops}:
                    assert value_of(terms, found, at) == expected
            except ZeroDivisionError:
                continue
    assert seen[True] >= 25


def test_what_the_element_does_not_decide_is_not_known() -> None:
    writer = Writer(random.Random(0))
    terms = writer.terms
    i, j, n, m = writer.outer.poly, writer.inner.poly, writer.n.poly, writer.m.poly
    two = constant(2)

    def chosen(operation: str) -> Poly:
        return terms.choice((Option(at_least_zero(i - j), i), Option(at_least_zero(j - i), j)), operation)

    assert filled_by(terms, [i], i + n, ()) is not None
    assert filled_by(terms, [i], i + j, ()) is None
    assert filled_by(terms, [i, j], i + j, ()) is not None
    assert filled_by(terms, [j, i], i + j, ()) is not None
    # A constant index leaves one element, in every step of the other loops the same.
    assert filled_by(terms, [two, j], j, ()) is not None
    assert filled_by(terms, [two, j], i, ()) is None
    # It is not one element for each value of the loop.
    for where in ([i, i], [i + j], [i.scale(2)], [n], [i, None], [writer.element.poly], [writer.word.poly]):
        assert filled_by(terms, where, i, ()) is None, where
    for value in (writer.element.poly, writer.word.poly, i + writer.element.poly, chosen("")):
        assert filled_by(terms, [i, j], value, ()) is None, value
    assert filled_by(terms, [i, j], chosen("max"), ()) is not None
    # A condition on something else leaves some elements out in some steps.
    assert filled_by(terms, [i], i, (at_least_zero(n - m),)) is not None
    assert filled_by(terms, [i], i, (at_least_zero(i - n),)) is not None
    assert filled_by(terms, [i], i, (at_least_zero(j - n),)) is None
    assert filled_by(terms, [i], i, (Unread("data"),)) is None
    assert filled_by(terms, [i], i, (at_least_zero(writer.element.poly),)) is None


@pytest.mark.parametrize(("more", "known"), [(0, True), (1, False)])
def test_a_function_of_many_loops_is_not_followed(more: int, known: bool) -> None:
    terms = Terms()
    loops = [terms.loop("i", constant(0), constant(3)) for _ in range(MAX_ATOMS + more)]
    assert (filled_by(terms, loops, sum(loops, constant(0)), ()) is not None) is known


def test_elements_of_quotients_remainders_and_extremes() -> None:
    terms = Terms()
    i, k = (terms.loop("i", constant(-4), constant(9)) for _ in range(2))
    n = terms.symbol(sympy.Symbol("n", integer=True), (0, None))
    quotient, rest = terms.quotient(i, constant(3)), terms.remainder(i, constant(3))
    assert quotient is not None
    assert rest is not None
    room = i - n
    extremes = [
        terms.choice((Option(at_least_zero(room), i), Option(at_least_zero(-room), n)), "max"),
        terms.choice((Option(at_least_zero(room), n), Option(at_least_zero(-room), i)), "min"),
    ]
    for value in (quotient, rest, quotient * rest + i * i, *extremes, i * n.scale(-2)):
        made = filled_by(terms, [constant(7), i], value, ())
        assert made is not None
        for index in (k, k.shift(1).scale(2), constant(-5), constant(2), n, n.shift(-3)):
            found = element(terms, made, [constant(7), index])
            assert found is not None
            assert number(i) not in found.atoms()
            for x, size in itertools.product(range(-4, 5), (0, 1, 5)):
                at = {number(k): x, number(n): size}
                there = {**at, number(i): value_of(terms, index, at)}
                assert value_of(terms, found, at) == value_of(terms, value, there)
    # Which of two numbers is the larger one is known.
    for operation, value in (("max", extremes[0]), ("min", extremes[1])):
        made = filled_by(terms, [i], value, ())
        assert made is not None
        lower, higher = element(terms, made, [n.shift(-3)]), element(terms, made, [n.shift(3)])
        assert (lower, higher) == ((n, n.shift(3)) if operation == "max" else (n.shift(-3), n))


def test_an_element_that_divides_by_what_may_be_negative_is_not_known() -> None:
    terms = Terms()
    i, j = (terms.loop("i", constant(1), constant(9)) for _ in range(2))
    for divide in (terms.quotient, terms.remainder):
        value = divide(j, i)
        assert value is not None
        made = filled_by(terms, [i, j], value, ())
        assert made is not None
        assert element(terms, made, [i, j]) == value
        assert element(terms, made, [i.shift(-5), j]) is None
        doubled = filled_by(terms, [i, j], (value * value).shift(1), ())
        assert doubled is not None
        assert element(terms, doubled, [i.shift(-5), j]) is None
        options = Option(at_least_zero(value - i), value), Option(at_least_zero(i - value), i)
        for order in (options, options[::-1]):
            largest = filled_by(terms, [i, j], terms.choice(order, "max"), ())
            assert largest is not None
            assert element(terms, largest, [i.shift(-5), j]) is None
        nested = terms.quotient(value + j.scale(5), constant(7))
        assert nested is not None
        deep = filled_by(terms, [i, j], nested, ())
        assert deep is not None
        assert element(terms, deep, [i.shift(-5), j]) is None


# -- sizes for which 32 bits are enough --------------------------------------------------------


def sizes() -> tuple[Terms, Poly, Poly, Poly]:
    terms = Terms()
    n, m = (terms.symbol(sympy.Symbol(name, integer=True), (0, None)) for name in "nm")
    return terms, n, m, terms.loop("i", constant(0), n)


def test_limits_are_those_of_the_sizes_alone() -> None:
    _, n, m, i = sizes()
    beyond = n.shift(-INT32)
    assert limits_of(2, [(beyond,)]) == (-beyond.shift(1),)
    # The largest number that is taken away, whatever stands beside it.
    assert (
        limits_of(2, [(beyond, m.shift(-9))]) == limits_of(2, [(m.shift(-9), beyond)]) == (-beyond.shift(1),)
    )
    product = (n * m).shift(-INT32)
    assert limits_of(2, [(product,)]) == (-product.shift(1),)
    for none in ((), (i.shift(-INT32),), (constant(-INT32),), (n.shift(-4),), (n.shift(9),)):
        assert limits_of(2, [none]) == (), none
    assert limits_of(2, [(n.shift(-5),)]) == (-n.shift(-4),)
    assert limits_of(1, [(m.shift(-INT32),)]) == ()
    assert limits_of(2, [(i.shift(-2 * INT32), beyond)]) == (-beyond.shift(1),)


def test_of_several_limits_on_one_sum_the_tightest_counts() -> None:
    _, n, m, _ = sizes()
    found = limits_of(2, [(n.shift(-300),), (n.shift(-100),), (n.shift(-200),), (m.shift(-700),)])
    assert found == (-n.shift(-99), -m.shift(-699))
    assert limits_of(2, [(n.shift(-100),), (n.shift(-100),)]) == (-n.shift(-99),)
    many = [(n.scale(k) + m).shift(-1000) for k in range(1, MAX_LIMITS + 4)]
    assert len(limits_of(2, [(one,) for one in many])) == MAX_LIMITS


def test_a_limit_on_one_size_is_its_range() -> None:
    terms, n, m, _ = sizes()
    left = keep(terms, [(-n.scale(3)).shift(100), (-(n + m)).shift(50), (-(m * m)).shift(9), m.shift(-7)])
    assert terms.span(n) == (0, 33)
    assert terms.span(m) == (0, None)
    assert left == [(-(n + m)).shift(50), (-(m * m)).shift(9), m.shift(-7)]
    keep(terms, [(-n).shift(90), (-m).shift(5)])
    assert (terms.span(n), terms.span(m)) == ((0, 33), (0, 5))
    assert keep(terms, [(-m - m * m).shift(7)]) == [(-m - m * m).shift(7)]


def access(terms: Terms, *obligations: Obligation, **more: object) -> KernelAccess:
    ref = BufferRef(0, 0, "x", None, "global", "float32")
    return KernelAccess(terms, ref, True, 0, (), (), (), (), obligations, **more)  # type: ignore[arg-type]


def test_what_is_proved_up_to_a_size_leaves_the_size() -> None:
    terms, n, m, i = sizes()
    limit = (-n).shift(INT32)
    undecided = Obligation(0, False, (m.shift(-1),), exact=False, why="it may wrap around")
    settled = Obligation(1, True, (m.shift(-2),), exact=True)
    before, after = access(terms, undecided, settled), access(terms)
    (found,) = merged([before], [after], [limit])
    shown = (-limit.shift(1),)
    assert found.obligations[0] == settled
    assert [(one.outside, one.is_limit) for one in found.obligations[1:]] == [(shown, True)]
    # What is left there is left where the limit is kept.
    (other,) = merged([access(terms, undecided)], [access(terms, settled)], [limit])
    assert [one.outside for one in other.obligations] == [(m.shift(-2), limit), shown]
    # Where nothing is open, or nothing is known of either, it stays as it is.
    for one, two in (
        (access(terms, settled), after),
        (before, access(terms, undecided)),
        (access(terms, undecided, unread="it is not known"), after),
        (before, access(terms, unread="it is not known")),
        (before, access(terms, assumed=("a promise",))),
        (before, access(terms, Obligation(0, False, (i.shift(-1),), exact=True))),
    ):
        assert merged([one], [two], [limit]) == (one,)
    assert merged([before], [after, after], [limit]) == (before,)
    # No call is beyond the limit and has the obligation.
    small = Obligation(0, False, ((-n).shift(5),), exact=False, why="it may wrap around")
    assert merged([access(terms, small)], [after], [limit])[0].obligations == ()


# -- bounds that are guessed -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("guess", "known", "span", "expected"),
    [
        ((None, None), None, (0, 9), None),
        ((None, None), (1, 2), (0, 9), (1, 2)),
        ((3, None), None, (0, 9), (3, 9)),
        ((None, 4), None, (0, 9), (0, 4)),
        ((3, 4), None, (None, None), (3, 4)),
        ((3, None), None, (None, None), (3, 2**63 - 1)),
        ((None, 4), None, (None, None), (-(2**63), 4)),
        # What is known is kept where it is closer.
        ((3, 8), (5, 6), (0, 9), (5, 6)),
        ((3, 8), (2, 9), (0, 9), (3, 8)),
        ((3, 8), (5, 9), (0, 9), (5, 8)),
        # The ends of 32 bits say nothing.
        ((-INT32 - 5, 8), (-INT32, 6), (0, 9), (-INT32 - 5, 6)),
        ((-INT32 - 5, 8), (-INT32 + 1, 6), (0, 9), (-INT32 + 1, 6)),
        ((1, INT32 + 5), (2, INT32 - 1), (0, 9), (2, INT32 + 5)),
        ((1, INT32 + 5), (2, INT32 - 2), (0, 9), (2, INT32 - 2)),
    ],
)
def test_guesses_where_they_are_closer_than_what_is_known(
    guess: tuple[int | None, int | None],
    known: tuple[int, int] | None,
    span: tuple[int | None, int | None],
    expected: tuple[int, int] | None,
) -> None:
    ladders = {
        (7, low): [constant(end)] for low, end in zip((True, False), guess, strict=True) if end is not None
    }
    given = None if known is None else (constant(known[0]), constant(known[1]))
    found = Guesses(ladders).tightened(Terms(), 7, given, span)
    assert found == (None if expected is None else (constant(expected[0]), constant(expected[1])))
    assert Guesses(ladders).tightened(Terms(), 8, given, span) == given


def test_a_guess_against_sizes() -> None:
    terms, n, m, _ = sizes()
    found = Guesses({(0, True): [n], (0, False): [n + m]})
    # Of two sizes it is not known which is less.
    assert found.tightened(terms, 0, (m, n.scale(2) + m), (0, None)) == (n, n + m)
    assert found.tightened(terms, 0, (n + m, n + m), (0, None)) == (n + m, n + m)
    assert found.tightened(terms, 0, (n, n), (0, None)) == (n, n)
    # A symbol has no constant part to compare with the ends of 32 bits.
    assert found.tightened(terms, 0, (n.shift(-INT32), (n + m).shift(INT32)), (0, None)) == (n, n + m)
    assert found.tightened(terms, 0, (n.shift(INT32), n.shift(-INT32)), (0, None)) == (
        n.shift(INT32),
        n.shift(-INT32),
    )
    # Nor a sum, in which a large number stands.
    sides = (n + m).shift(-INT32), (n + m).shift(INT32)
    further = Guesses({(0, True): [sides[0].shift(-1)], (0, False): [sides[1].shift(1)]})
    assert further.tightened(terms, 0, sides, (0, None)) == sides


def test_guesses_are_given_up_one_after_the_other() -> None:
    found = Guesses({(0, True): [constant(3), constant(1)], (0, False): [], (1, False): [None]})
    assert bool(found)
    assert found.end(0, low=True) == constant(3)
    assert found.end(0, low=False) is None
    found.give_up(0, low=True)
    assert found.end(0, low=True) == constant(1)
    assert found.given_up == {0}
    found.give_up(0, low=True)
    assert found.end(0, low=True) is None
    assert not found


def test_bounds_are_guessed_from_stores_and_from_what_guards_them() -> None:
    terms, n, m, i = sizes()
    loaded, other = terms.loaded("s", (None, None)), terms.opaque("w")
    puts = [
        Put(0, constant(2), ()),
        Put(0, loaded.shift(1), (at_least_zero(n - loaded.shift(1)), at_least_zero(m - other))),
        Put(1, i, ()),
        Put(2, None, ()),
        Put(2, constant(5), ()),
        Put(3, loaded, (equal(loaded, m),)),
    ]
    found = guesses(terms, puts)
    assert found.end(0, low=True) == constant(2)
    # No fact tells that n is 2 or more.
    assert found.end(0, low=False) == constant(2)
    assert (found.end(1, low=True), found.end(1, low=False)) == (constant(0), n.shift(-1))
    assert found.end(2, low=True) is found.end(2, low=False) is None
    assert (found.end(3, low=True), found.end(3, low=False)) == (m, m)
    counted = guesses(terms, [Put(0, constant(0), ()), puts[1]])
    assert counted.end(0, low=False) == constant(0)
    counted.give_up(0, low=False)
    # It is only raised below a size.
    assert counted.end(0, low=False) == n
    assert not guesses(terms, [Put(0, constant(1), ())] * (MAX_STORES + 1))
    assert guesses(terms, [Put(0, constant(1), ())] * MAX_STORES).end(0, low=True) == constant(1)


def test_what_the_call_decides_is_the_same_in_another_reading() -> None:
    terms, n, m, i = sizes()
    target, a, b, _ = sizes()
    quotient, rest = terms.quotient(n, m), terms.remainder(n + m, constant(3))
    assert quotient is not None
    assert rest is not None
    moved = Transfer(terms, target).poly(quotient * rest + n * m.scale(2))
    assert moved == target.quotient(a, b) * target.remainder(a + b, constant(3)) + a * b.scale(2)  # type: ignore[operator]
    held = terms.symbol(sympy.Symbol("max(p)", integer=True), (None, None), holder=0)
    largest = terms.choice((Option(at_least_zero(n - m), n), Option(negated(at_least_zero(n - m)), m)), "max")
    above, below = terms.quotient(held, constant(2)), terms.quotient(n, terms.loaded("e", (1, None)))
    assert above is not None
    assert below is not None
    for none in (i, held, n * i, largest, above, below, None):
        assert Transfer(terms, target).poly(none) is None, none
