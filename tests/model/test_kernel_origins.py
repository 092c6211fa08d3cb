"""The search backwards for where an element comes from, against carrying out the statements and writing down what
each element was made of.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from operator import eq
from typing import TypeAlias

import pytest

from relax_lint.model.kernel_body.intervals import Interval, Number, Steps
from relax_lint.model.kernel_body.origin_loops import Repeated
from relax_lint.model.kernel_body.origins import (
    NO,
    PERHAPS,
    SURELY,
    Before,
    Either,
    Element,
    Fresh,
    Part,
    Search,
    Several,
    Store,
    Value,
)

Place: TypeAlias = "tuple[int, int | None]"
"""A memory and an index in it, None for the value of a name."""
SIZE, BUFFERS, NAME = 4, (0, 1, 2), 3


@dataclass(frozen=True)
class Linear:
    """`variable + plus`, or `plus` alone; of what is `hidden` nobody knows the value, which is one of these."""

    plus: int
    variable: int | None = None
    hidden: tuple[int, ...] = ()

    def number(self) -> Number:
        def known(steps: Steps) -> Interval | None:
            if self.hidden:
                return None
            found = (0, 0) if self.variable is None else steps[self.variable]
            return None if found is None else (found[0] + self.plus, found[1] + self.plus)

        return known

    def at(self, run: Run) -> int:
        if self.hidden:
            return run.chance.choice(self.hidden)
        return self.plus + (0 if self.variable is None else run.values[self.variable])


@dataclass
class Run:
    """One way to carry out everything. `made_of` says of each place what went into it, `around` what the
    conditions around have looked at.
    """

    chance: random.Random
    values: dict[int, int] = field(default_factory=dict)
    made_of: dict[Place, frozenset[Place]] = field(default_factory=dict)
    stored: set[Place] = field(default_factory=set)

    def of(self, place: Place) -> frozenset[Place]:
        return self.made_of.get(place, frozenset((place,)))


class Statement:
    """A statement that can be carried out, and its part of the search."""

    def part(self) -> Part:
        raise NotImplementedError

    def carry_out(self, run: Run) -> None:
        raise NotImplementedError

    def places(self) -> frozenset[Place]:
        """All that it may store to."""
        raise NotImplementedError


def _loaded(loads: list[tuple[int, Linear]]) -> Value:
    """Any of these elements; of an index that is not known it is not said that it leads anywhere."""

    def found(steps: Steps, before: Before) -> bool:
        for memory, index in loads:
            at = index.number()(steps)
            if memory == NAME:
                if before(Element(NAME)):
                    return True
            elif at is not None and at[0] == at[1] and before(Element(memory, (at[0],))):
                return True
        return False

    return found


def _taken(loads: list[tuple[int, Linear]], run: Run) -> frozenset[Place]:
    places = [(memory, None if memory == NAME else index.at(run)) for memory, index in loads]
    return frozenset().union(*map(run.of, places))


@dataclass
class Assignment(Statement):
    memory: int
    index: Linear
    loads: list[tuple[int, Linear]]
    asked: list[tuple[int, Linear]]

    def part(self) -> Part:
        indices = () if self.memory == NAME else (self.index.number(),)
        return Store(self.memory, indices, _loaded(self.loads), _loaded(self.asked))

    def carry_out(self, run: Run) -> None:
        place = (self.memory, None if self.memory == NAME else self.index.at(run))
        run.made_of[place] = _taken([*self.loads, *self.asked], run)
        run.stored.add(place)

    def places(self) -> frozenset[Place]:
        return frozenset(_all_of(self.memory))


def _all_of(memory: int) -> Iterator[Place]:
    yield from [(NAME, None)] if memory == NAME else [(memory, index) for index in range(-SIZE, 3 * SIZE)]


@dataclass
class Beginning(Statement):
    memory: int

    def part(self) -> Part:
        return Fresh(self.memory)

    def carry_out(self, run: Run) -> None:
        run.made_of.update(dict.fromkeys(self.places(), frozenset()))

    def places(self) -> frozenset[Place]:
        return frozenset(_all_of(self.memory))


@dataclass
class Block(Statement):
    statements: list[Statement]

    def part(self) -> Part:
        return Several([one.part() for one in self.statements])

    def carry_out(self, run: Run) -> None:
        for one in self.statements:
            one.carry_out(run)

    def places(self) -> frozenset[Place]:
        return frozenset().union(*(one.places() for one in self.statements))


@dataclass
class Loop(Statement):
    variable: int
    first: Linear
    extent: Linear
    stride: int
    asked: list[tuple[int, Linear]]
    body: Statement

    def part(self) -> Part:
        first, extent = self.first.number(), self.extent.number()
        stride = Linear(self.stride).number()
        return Repeated(self.variable, first, extent, stride, self.body.part(), _loaded(self.asked))

    def carry_out(self, run: Run) -> None:
        looked_at = _taken(self.asked, run) if self.first.hidden or self.extent.hidden else frozenset()
        first, extent = self.first.at(run), self.extent.at(run)
        for number in range(first, first + extent, self.stride):
            run.values[self.variable] = number
            self.body.carry_out(run)
        for place in self.places():
            run.made_of[place] = run.of(place) | looked_at

    def places(self) -> frozenset[Place]:
        return self.body.places()


@dataclass
class Choice(Statement):
    left: Linear
    limit: int
    asked: list[tuple[int, Linear]]
    then: Statement
    other: Statement

    def part(self) -> Part:
        left = self.left.number()

        def condition(steps: Steps) -> Interval | None:
            found = left(steps)
            if found is None:
                return None
            return int(found[1] < self.limit), int(found[0] < self.limit)

        return Either(condition, _loaded(self.asked), self.then.part(), self.other.part())

    def carry_out(self, run: Run) -> None:
        looked_at = _taken(self.asked, run) if self.left.hidden else frozenset()
        (self.then if self.left.at(run) < self.limit else self.other).carry_out(run)
        # What is done, and what is left as it is, tells what the condition was.
        for place in self.places():
            run.made_of[place] = run.of(place) | looked_at

    def places(self) -> frozenset[Place]:
        return self.then.places() | self.other.places()


class Writer:
    """Draws statements: all of them `known`, or with numbers that nobody knows."""

    def __init__(self, seed: int, *, known: bool) -> None:
        self._chance = random.Random(seed)
        self._known = known
        self._variables: list[int] = []
        self._count = 10

    def block(self, depth: int) -> Statement:
        return Block([self._statement(depth) for _ in range(self._chance.randint(1, 3))])

    def _statement(self, depth: int) -> Statement:
        kind = (
            self._chance.choice(["store", "store", "store", "loop", "loop", "choice"]) if depth else "store"
        )
        if kind == "loop":
            return self._loop(depth)
        if kind == "choice":
            asked = [] if self._chance.random() < 0.5 else self._loads(1)
            left = self._index(hidden=(0, 9))
            return Choice(left, 2, asked, self.block(depth - 1), self.block(depth - 1))
        if self._chance.random() < 0.08:
            return Beginning(self._chance.choice((1, 2)))
        memory = self._chance.choice((*BUFFERS, NAME))
        return Assignment(memory, self._index(), self._loads(2), self._loads(self._chance.choice((0, 0, 1))))

    def _loop(self, depth: int) -> Statement:
        extent = self._index(hidden=(0, 1, 2, 3))
        first = Linear(self._chance.choice((0, 0, 1, 2)))
        if not self._known and self._chance.random() < 0.1:
            first = Linear(0, None, (0, 1))
        asked = self._loads(self._chance.choice((0, 1)))
        self._count += 1
        self._variables.append(self._count)
        body = self.block(depth - 1)
        return Loop(self._variables.pop(), first, extent, self._chance.choice((1, 1, 2)), asked, body)

    def _loads(self, most: int) -> list[tuple[int, Linear]]:
        return [
            (self._chance.choice((*BUFFERS, NAME)), self._index())
            for _ in range(self._chance.randint(0, most))
        ]

    def _index(self, hidden: tuple[int, ...] = tuple(range(SIZE))) -> Linear:
        if not self._known and self._chance.random() < 0.2:
            return Linear(0, None, hidden)
        if self._variables and self._chance.random() < 0.6:
            return Linear(self._chance.choice((0, 0, 1)), self._chance.choice(self._variables))
        return Linear(self._chance.randrange(SIZE))


def _places() -> list[Place]:
    return [*((memory, index) for memory in BUFFERS for index in range(SIZE)), (NAME, None)]


def _element(place: Place) -> Element:
    return Element(place[0], None if place[1] is None else (place[1],))


def _found(part: Part) -> Mapping[tuple[Place, Place], bool]:
    """By place and origin."""
    found: dict[tuple[Place, Place], bool] = {}
    for place, origin in product(_places(), repeat=2):
        before = partial(eq, _element(origin))
        found[place, origin] = part.after(_element(place), {}, before, Search(10**6, 10**6))
    return found


def _one_of(chance: random.Random, ends: Interval) -> int:
    first, last = ends
    assert isinstance(first, int)
    assert isinstance(last, int)
    return chance.randint(first, last)


def _run(statement: Statement, seed: int) -> Run:
    run = Run(random.Random(seed))
    statement.carry_out(run)
    return run


@pytest.mark.parametrize("seed", range(30))
def test_where_all_is_known_everything_is_found(seed: int) -> None:
    for number in range(6):
        statement = Writer(seed * 100 + number, known=True).block(2)
        part, run = statement.part(), _run(statement, 0)
        for (place, origin), found in _found(part).items():
            assert found is (origin in run.of(place)), statement
        for place in _places():
            touched = part.touch(_element(place), {}, Search(10**6, 10**6))
            assert touched != NO or place not in run.stored
            assert touched != SURELY or place in run.stored
        one_of = partial(_one_of, random.Random(number))
        stored = [one for _ in range(40) for one in part.elements({}, one_of)]
        told = {(one.memory, None if one.indices in (None, ()) else one.indices[0]) for one in stored}
        assert told == run.stored


@pytest.mark.parametrize("seed", range(30))
def test_what_is_found_is_so_whatever_the_rest_is(seed: int) -> None:
    for number in range(6):
        statement = Writer(seed * 100 + number, known=False).block(2)
        runs = [_run(statement, other) for other in range(12)]
        for (place, origin), found in _found(statement.part()).items():
            assert not found or all(origin in run.of(place) for run in runs), statement
        for place in _places():
            touched = statement.part().touch(_element(place), {}, Search(10**6, 10**6))
            assert touched != NO or all(place not in run.stored for run in runs)
            assert touched != SURELY or all(place in run.stored for run in runs)


def _assigned(memory: int, *loads: int) -> Statement:
    return Assignment(memory, Linear(0), [(one, Linear(0)) for one in loads], [])


@pytest.mark.parametrize(
    ("then", "other", "origins"),
    [
        # What a condition has looked at counts where what is stored, or is not, tells how it came out.
        (_assigned(1, 2), Block([_assigned(2)]), {0}),
        (_assigned(1, 2), _assigned(1, 2), {0, 2}),
        (_assigned(1, 2), _assigned(1), {0}),
        (Block([_assigned(1), _assigned(1, 2)]), _assigned(1, 2), {0, 2}),
        (_assigned(2), _assigned(2), {1}),
    ],
)
def test_a_condition_on_data_counts(then: Statement, other: Statement, origins: set[int]) -> None:
    chosen = Choice(Linear(0, None, (0, 9)), 2, [(0, Linear(0))], then, other)
    found = _found(chosen.part())
    assert {origin for origin in BUFFERS if found[(1, 0), (origin, 0)]} == origins


@pytest.mark.parametrize("hidden", ["first", "extent"])
def test_how_often_a_loop_goes_round_counts(hidden: str) -> None:
    numbers = {"first": Linear(0), "extent": Linear(2), hidden: Linear(0, None, (0, 1))}
    loop = Loop(11, numbers["first"], numbers["extent"], 1, [(0, Linear(0))], _assigned(1, 1))
    found = _found(loop.part())
    # However often it is stored again, it is made of what it was.
    assert {origin for origin in BUFFERS if found[(1, 0), (origin, 0)]} == {0, 1}
    loop.asked = []
    assert {origin for origin in BUFFERS if _found(loop.part())[(1, 0), (origin, 0)]} == {1}


@pytest.mark.parametrize("stride", [None, (0, 0), (-1, -1), (0, 1), (1, 2)])
def test_of_steps_of_an_unknown_width_nothing_is_certain(stride: Interval | None) -> None:
    body = _assigned(1, 2).part()
    zero, two = Linear(0).number(), Linear(2).number()
    loop = Repeated(11, zero, two, lambda steps: stride, body, _loaded([]))
    assert loop.touch(_element((1, 0)), {}, Search(100, 100)) == PERHAPS
    assert list(loop.elements({}, lambda ends: ends[0])) == []
    assert not any(_found(loop)[(1, 0), (memory, 0)] for memory in BUFFERS)
