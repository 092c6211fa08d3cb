"""Accesses of kernels at concrete numbers: what a trial says of random ones is what trying every step tells."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import pytest
import sympy

from relax_lint.model.kernel_access.accesses import BufferRef, KernelAccess, LoopRange, MemoryBounds
from relax_lint.model.kernel_access.atoms import Kind, Option
from relax_lint.model.kernel_access.conditions import (
    AnyOf,
    Condition,
    Every,
    Unread,
    any_of,
    at_least_zero,
    every,
)
from relax_lint.model.kernel_access.polynomials import Poly, constant
from relax_lint.model.kernel_access.terms import Terms
from relax_lint.model.kernel_access.trial import MAX_STEPS, Outcome, Trial, attempt
from tests.model.polynomials_at import NotKnown, Point, value_of
from tests.model.polynomials_at import holds as holds_of
from tests.model.test_kernel_terms import Writer

REF = BufferRef(0, 0, "x", None, "global", "float32")


value = partial(value_of, alike=False)
holds = partial(holds_of, alike=False)


def steps_of(access: KernelAccess, sizes: Point) -> Iterator[Point]:
    """All of them. Raises ZeroDivisionError."""
    points = [sizes]
    for loop in access.loops:
        number = None if loop.variable is None else loop.variable.single()
        if number is not None and access.terms[number].kind is Kind.LOOP:
            ends = access.terms[number].first, access.terms[number].last
            points = [
                {**at, number: x}
                for at in points
                for x in range(value(access.terms, ends[0], at), value(access.terms, ends[1], at) + 1)
            ]
    return iter(points)


def left(access: KernelAccess, at: Point) -> tuple[int, int, int] | None:
    """The first axis that an index leaves in a step, with the index and the extent. Raises NotKnown."""
    for axis, (index, extent) in enumerate(zip(access.where, access.shape, strict=True)):
        assert index is not None
        assert extent is not None
        here, most = value(access.terms, index, at), value(access.terms, extent, at)
        if here not in range(most):
            return axis, here, most
    return None


def seen(access: KernelAccess, sizes: Point) -> tuple[set[Outcome], list[tuple[Point, tuple[int, int, int]]]]:
    """What the steps show, and those that are outside."""
    outcomes: set[Outcome] = set()
    outside = []
    terms, memory = access.terms, access.memory
    for at in steps_of(access, sizes):
        try:
            made = holds(terms, Every(access.conditions), at)
            found = None if made is False else left(access, at)
            claims = access.claims if found is None else () if memory is None else memory.claims
            over = False
            if made is not False:
                for claim in claims:
                    over = over or value(terms, claim, at) >= 0
        except ZeroDivisionError:
            continue
        except NotKnown:
            outcomes.add(Outcome.UNKNOWN)
            continue
        if found is None or made is None:
            if over or found is not None:
                outcomes.add(Outcome.UNKNOWN)
            continue
        outcomes.add(Outcome.OUTSIDE if memory is None or over else Outcome.BESIDE)
        outside.append((at, found))
    return outcomes, outside


def drawn(chance: random.Random) -> tuple[Writer, KernelAccess]:
    """An access with two axes in two loops."""
    writer = Writer(chance)
    terms = writer.terms
    sizes, steps = writer.sizes, (writer.outer, writer.inner)
    rare = (writer.element, writer.word) if chance.random() < 0.5 else ()

    def poly(depth: int) -> Poly:
        return writer.tree(depth, (*sizes, *steps, *steps, *steps, *rare)).poly

    def condition(depth: int) -> Condition:
        if depth == 0:
            return Unread("data") if chance.random() < 0.1 else at_least_zero(poly(1))
        join = chance.choice((every, any_of))
        return join([condition(depth - 1), condition(depth - 1)])

    memory = chance.choice((None, None, MemoryBounds(), MemoryBounds((poly(1), poly(0)))))
    loops = [
        LoopRange("serial", one.poly, atom.first, atom.last.shift(1) - atom.first)
        for one in steps
        if (atom := terms[max(one.poly.atoms())])
    ]
    access = KernelAccess(
        terms,
        REF,
        True,
        0,
        (writer.outer.poly + poly(0), poly(chance.choice((0, 1, 2)))),
        (chance.choice(sizes).poly.shift(chance.randint(0, 4)), constant(chance.randint(1, 9))),
        tuple(loops),
        tuple(condition(chance.choice((0, 0, 1, 2))) for _ in range(chance.choice((0, 1, 2)))),
        memory=memory,
        claims=() if chance.random() < 0.7 else (poly(1),),
    )
    return writer, access


def compare(access: KernelAccess, sizes: Point) -> Outcome | None:
    """What the trial said, which is what trying every step shows; None where a loop divides by zero."""
    found = attempt(access, sizes)
    try:
        outcomes, outside = seen(access, sizes)
    except ZeroDivisionError:
        return None
    if found.outcome in (Outcome.OUTSIDE, Outcome.BESIDE):
        expected = found.axis, found.index, found.extent
        names = [
            {str(access.terms[one].name): x for one, x in at.items() if access.terms[one].kind is Kind.LOOP}
            for at, where in outside
            if where == expected
        ]
        assert dict(found.loops) in names
    if Outcome.BESIDE in outcomes and access.memory == MemoryBounds():
        assert (found.outcome, found.knows_memory) == (Outcome.BESIDE, False)
    else:
        order = (Outcome.OUTSIDE, Outcome.BESIDE, Outcome.UNKNOWN)
        assert found.outcome is next((one for one in order if one in outcomes), Outcome.INSIDE)
        assert found.knows_memory or found.outcome is not Outcome.OUTSIDE
    return found.outcome


def test_a_trial_of_random_accesses() -> None:
    said: Counter[Outcome | None] = Counter()
    chance = random.Random(4)
    for _ in range(60):
        writer, access = drawn(chance)
        names = [max(one.poly.atoms()) for one in writer.sizes]
        for numbers in itertools.product((0, 2, 5), (0, 1, 3), (-3, 2)):
            said[compare(access, dict(zip(names, numbers, strict=True)))] += 1
    assert all(said[one] > 40 for one in Outcome), said


def loop_of(terms: Terms, first: Poly, extent: Poly, name: str = "i") -> LoopRange:
    return LoopRange("serial", terms.loop(name, first, extent), first, extent)


def access_of(terms: Terms, where: Sequence[Poly | None], extent: int, *loops: LoopRange) -> KernelAccess:
    shape = (constant(extent),) * len(where)
    return KernelAccess(terms, REF, False, 0, tuple(where), shape, loops, ())


def variable(loop: LoopRange) -> Poly:
    assert loop.variable is not None
    return loop.variable


@pytest.mark.parametrize("extent", range(8))
def test_the_ends_of_a_loop_are_tried_first_and_every_step_in_the_end(extent: int) -> None:
    terms = Terms()
    loop = loop_of(terms, constant(2), constant(6))
    found = attempt(access_of(terms, [variable(loop)], extent, loop), {})
    # It runs from 2 to 7: the last one is outside first.
    assert found == Trial(Outcome.OUTSIDE, 0, 7, extent, {"i": 7})
    for hole in range(2, 8):
        there = variable(loop).shift(-hole)
        other = access_of(terms, [(-(there * there)).shift(extent)], extent, loop)
        expected = Outcome.OUTSIDE if extent < 25 else Outcome.INSIDE
        assert attempt(other, {}).outcome is expected
        assert attempt(replace(other, conditions=(at_least_zero(-(there * there)),)), {}) == Trial(
            Outcome.OUTSIDE, 0, extent, extent, {"i": hole}
        )


@pytest.mark.parametrize(
    ("steps", "outcome"), [(0, Outcome.INSIDE), (1, Outcome.INSIDE), (-1, Outcome.INSIDE)]
)
def test_a_loop_without_steps_makes_no_access(steps: int, outcome: Outcome) -> None:
    terms = Terms()
    loop = loop_of(terms, constant(0), constant(steps))
    assert attempt(access_of(terms, [variable(loop)], 1, loop), {}).outcome is outcome
    beyond = Outcome.OUTSIDE if steps > 0 else Outcome.INSIDE
    assert attempt(access_of(terms, [variable(loop).shift(1)], 1, loop), {}).outcome is beyond


def test_where_not_every_step_can_be_tried_nothing_is_known() -> None:
    terms = Terms()
    n = terms.symbol(sympy.Symbol("n", integer=True), (0, None))
    (number,) = n.atoms()
    loop = loop_of(terms, constant(0), n)
    access = access_of(terms, [constant(0)], 1, loop)
    assert attempt(access, {number: MAX_STEPS}).outcome is Outcome.INSIDE
    assert attempt(access, {number: MAX_STEPS + 1}).outcome is Outcome.UNKNOWN
    for unknown in (
        LoopRange("while"),
        LoopRange("serial", terms.opaque("k"), constant(0), None),
        LoopRange("serial", terms.loaded("k", (0, 3))),
    ):
        inside = access_of(terms, [constant(0)], 1, unknown, loop_of(terms, constant(0), constant(1)))
        assert attempt(inside, {}) == Trial(Outcome.UNKNOWN, 0, 0, 0, {})
        # One step that is outside is enough.
        assert attempt(access_of(terms, [constant(1)], 1, unknown), {}).outcome is Outcome.OUTSIDE
    one_step = access_of(terms, [constant(0)], 1, LoopRange("serial", n.scale(2), n.scale(2), constant(1)))
    assert attempt(one_step, {number: 1}).outcome is Outcome.INSIDE


def test_what_cannot_be_read_is_not_tried() -> None:
    terms = Terms()
    outside = access_of(terms, [constant(1)], 1)
    assert attempt(outside, {}).outcome is Outcome.OUTSIDE
    assert attempt(replace(outside, unread="it is not known"), {}).outcome is Outcome.UNKNOWN
    assert attempt(access_of(terms, [constant(1), None], 1), {}).outcome is Outcome.UNKNOWN
    # An axis without an index is not one that is left.
    wider = replace(outside, shape=(constant(1), constant(1)))
    assert attempt(wider, {}).axis == 0
    nowhere = replace(access_of(terms, [constant(0), constant(1)], 1), shape=(None, constant(1)))
    assert attempt(nowhere, {}).outcome is Outcome.UNKNOWN


def test_the_first_option_that_holds_is_the_one_of_a_choice() -> None:
    terms = Terms()
    data = terms.opaque("d", (0, 9))
    loop = loop_of(terms, constant(0), constant(4))
    i = variable(loop)
    for known in (True, False):
        last = at_least_zero(i if known else data)
        options = Option(at_least_zero(i.shift(-2)), constant(0)), Option(last, constant(7))
        access = access_of(terms, [terms.choice(options)], 7, loop)
        assert attempt(access, {}).outcome is (Outcome.OUTSIDE if known else Outcome.UNKNOWN)
        upper = replace(access, conditions=(at_least_zero(i.shift(-2)),))
        assert attempt(upper, {}).outcome is Outcome.INSIDE
        # What is taken where data decides is not known, whatever comes behind.
        later = terms.choice((Option(at_least_zero(data), constant(0)), Option(True, constant(7))))
        assert attempt(access_of(terms, [later], 7, loop), {}).outcome is Outcome.UNKNOWN
    # No option holds.
    none = terms.choice((Option(at_least_zero(i.shift(-9)), constant(0)),))
    assert attempt(access_of(terms, [none], 7, loop), {}).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("claim", "outcome", "step"),
    [
        # From the memory on it is outside, at its end, in one step that is tried late, and in none.
        (lambda i: i, Outcome.OUTSIDE, 9),
        (lambda i: i.shift(-9), Outcome.OUTSIDE, 9),
        (lambda i: -(i.shift(-5) * i.shift(-5)), Outcome.OUTSIDE, 5),
        (lambda i: i.shift(-10), Outcome.BESIDE, 9),
    ],
)
def test_an_axis_may_be_left_and_the_memory_not(
    claim: Callable[[Poly], Poly], outcome: Outcome, step: int
) -> None:
    terms = Terms()
    loop = loop_of(terms, constant(0), constant(10))
    access = access_of(terms, [variable(loop)], 3, loop)
    known = replace(access, memory=MemoryBounds((claim(variable(loop)), constant(-1))))
    assert attempt(known, {}) == Trial(outcome, 0, step, 3, {"i": step}, knows_memory=True)
    assert attempt(replace(access, memory=MemoryBounds()), {}) == Trial(
        Outcome.BESIDE, 0, 9, 3, {"i": 9}, knows_memory=False
    )


@pytest.mark.parametrize(
    ("parts", "outcome"),
    [
        ((False, False), Outcome.INSIDE),
        ((False, None), Outcome.UNKNOWN),
        ((None, True), Outcome.OUTSIDE),
        ((None, None), Outcome.UNKNOWN),
    ],
)
def test_one_of_several_conditions_is_enough(parts: tuple[bool | None, ...], outcome: Outcome) -> None:
    conditions = tuple(Unread("data") if part is None else part for part in parts)
    access = replace(access_of(Terms(), [constant(1)], 1), conditions=(AnyOf(conditions),))
    assert attempt(access, {}).outcome is outcome
