"""Random programs with several shape heaps."""

from __future__ import annotations

import random
from collections.abc import Sequence

from .program import CONSTANT, SAME, SKIP, SLOTS, STORE, Allocate, Compute, Match
from .several import (
    ALIASES,
    HEAP,
    TENSOR,
    Again,
    Body,
    Call,
    Choose,
    Function,
    Kind,
    New,
    On,
    Pack,
    Put,
    Several,
    Step,
    Unpack,
)

_WEIGHTS = {
    "fill": 3,
    "match": 5,
    "compute": 2,
    "allocate": 7,
    "sized": 3,
    "new": 1,
    "again": 3,
    "pack": 2,
    "unpack": 3,
    "choose": 3,
    "call": 5,
    "put": 1,
}


def random_several(seed: int, *, escapes: bool = False) -> Several:
    """A program, the same for the same seed. `escapes`: a packed function gets heaps, too."""
    rng = random.Random(seed)
    drawing = _Drawing(rng, escapes=escapes)
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        drawing.add_function()
    steps, _ = drawing.block({"x": TENSOR, "z": TENSOR}, rng.randint(5, 12), 2, heaps=2)
    return Several(tuple(drawing.functions), steps)


class _Drawing:
    def __init__(self, rng: random.Random, *, escapes: bool) -> None:
        self._rng = rng
        self._escapes = escapes
        self._count = 0
        # Most programs have heaps of one size, as every kernel and most other names need.
        self._sizes = rng.choice(((SLOTS,), (SLOTS,), (SLOTS, SLOTS, SLOTS - 1)))
        self.functions: list[Function] = []

    def add_function(self) -> None:
        """A function that can be called from now on."""
        rng = self._rng
        kinds = [self._kind(2) for _ in range(rng.choice((0, 1, 1, 2)))]
        parameters = tuple((self._name("p"), kind) for kind in kinds)
        scope: dict[str, Kind] = {"x": TENSOR, "z": TENSOR, **dict(parameters)}
        heaps = rng.choice((0, 0, 1)) if parameters else 1
        steps, scope = self.block(scope, rng.randint(1, 5), 1, heaps=heaps)
        result = self._any(scope)
        self.functions.append(
            Function(
                self._name("f"), parameters, Body(steps, result), scope[result], private=rng.random() < 0.9
            )
        )

    def block(
        self, scope: dict[str, Kind], count: int, depth: int, *, heaps: int = 0
    ) -> tuple[tuple[Step, ...], dict[str, Kind]]:
        """Some steps, which begin with new heaps, and the values that are there behind them."""
        scope = dict(scope)
        steps: list[Step] = []
        for _ in range(heaps):
            steps += self._new(scope)
        for _ in range(count):
            steps += self._step(scope, depth)
        return tuple(steps), scope

    # -- steps ---------------------------------------------------------------------------------

    def _step(self, scope: dict[str, Kind], depth: int) -> Sequence[Step]:
        heaps = [name for name, kind in scope.items() if kind == HEAP]
        packed = [name for name, kind in scope.items() if isinstance(kind, tuple)]
        possible = {
            "unpack": bool(packed),
            "choose": depth > 0,
            "call": bool(self.functions),
            "put": self._escapes,
        }
        words = [word for word in _WEIGHTS if possible.get(word, bool(heaps) or word == "new")]
        word = self._rng.choices(words, [_WEIGHTS[word] for word in words])[0]
        if word == "new":
            return self._new(scope)
        if word == "choose":
            return [self._choose(scope, depth)]
        if word == "call":
            return self._call(scope)
        if word == "unpack":
            return [self._unpack(self._rng.choice(packed), scope)]
        if word == "again":
            return [self._again(scope)]
        if word == "pack":
            return [self._pack(tuple(self._any(scope) for _ in range(self._rng.choice((1, 2, 2, 3)))), scope)]
        if word == "put":
            return [Put(self._name("v"), self._any(scope), self._rng.randrange(SLOTS - 1))]
        return self._uses(word, self._late(heaps), self._late(heaps))

    def _new(self, scope: dict[str, Kind]) -> list[Step]:
        made = New(self._name("h"), self._rng.choice(self._sizes))
        scope[made.name] = HEAP
        return [made, *(self._uses("fill", made.name, made.name) if self._rng.random() < 0.6 else ())]

    def _uses(self, word: str, heap: str, again: str) -> list[Step]:
        """Uses of a heap, the last perhaps of another."""
        rng = self._rng
        if word == "fill":
            slots = [slot for slot in range(SLOTS - 1) if rng.random() < 0.85]
            return [On(heap, Match(self._name("v"), rng.choice("xxzk"), STORE, slot)) for slot in slots]
        if word == "sized":
            # What fits as long as nobody else writes the slots.
            size, extent = rng.sample(range(SLOTS - 1), 2)
            made = On(heap, Compute(self._name("v"), "eight", size, extent))
            return [made, On(again, Allocate(self._name("v"), size, extent))]
        name = self._name("v")
        if word == "match":
            code = rng.choices((STORE, SKIP, SAME, CONSTANT), (8, 1, 2, 1))[0]
            operand = rng.choice((2, 4, 8)) if code == CONSTANT else self._slot()
            return [On(heap, Match(name, rng.choice("xzk"), code, operand))]
        if word == "compute":
            kernel = rng.choice(("twice", "twice", "maybe", "all"))
            return [On(heap, Compute(name, kernel, *rng.sample(range(SLOTS), 2)))]
        return [On(heap, Allocate(name, self._slot(), self._slot()))]

    def _again(self, scope: dict[str, Kind]) -> Step:
        source = self._any(scope)
        way = self._rng.choice(ALIASES) if scope[source] == HEAP else ALIASES[0]
        made = Again(self._name("h"), source, way)
        scope[made.name] = scope[source]
        return made

    def _pack(self, items: tuple[str, ...], scope: dict[str, Kind]) -> Pack:
        made = Pack(self._name("t"), items)
        scope[made.name] = tuple(scope[item] for item in items)
        return made

    def _unpack(self, source: str, scope: dict[str, Kind]) -> Step:
        kinds = scope[source]
        assert isinstance(kinds, tuple)
        made = Unpack(self._name("h"), source, self._rng.randrange(len(kinds)))
        scope[made.name] = kinds[made.index]
        return made

    def _choose(self, scope: dict[str, Kind], depth: int) -> Step:
        rng = self._rng
        then, in_then = self.block(scope, rng.randint(0, 3), depth - 1, heaps=rng.choice((0, 0, 1)))
        other, in_other = self.block(scope, rng.randint(0, 3), depth - 1, heaps=rng.choice((0, 0, 1)))
        kinds = [kind for kind in in_then.values() if kind in in_other.values() and kind != TENSOR]
        kind = rng.choice(kinds or [TENSOR])
        results = [
            self._late([name for name, one in inside.items() if one == kind])
            for inside in (in_then, in_other)
        ]
        made = Choose(self._name("h"), Body(then, results[0]), Body(other, results[1]))
        scope[made.name] = kind
        return made

    def _call(self, scope: dict[str, Kind]) -> list[Step]:
        function = self._rng.choice(self.functions)
        steps: list[Step] = []
        arguments = [self._of(kind, scope, steps) for _, kind in function.parameters]
        made = Call(self._name("h"), function.name, tuple(arguments))
        scope[made.name] = function.kind
        return [*steps, made]

    # -- values --------------------------------------------------------------------------------

    def _of(self, kind: Kind, scope: dict[str, Kind], steps: list[Step]) -> str:
        """A value of a kind: one that is there, or a new one, which is made first."""
        there = [name for name, one in scope.items() if one == kind]
        if there and self._rng.random() < 0.8:
            return self._late(there)
        if isinstance(kind, tuple):
            items = tuple(self._of(each, scope, steps) for each in kind)
            made = self._pack(items, scope)
            steps.append(made)
            return made.name
        if there:
            return self._rng.choice(there)
        new = self._new(scope)
        steps += new
        return next(step.name for step in new if isinstance(step, New))

    def _kind(self, depth: int) -> Kind:
        if depth > 0 and self._rng.random() < 0.3:
            return tuple(self._kind(depth - 1) for _ in range(self._rng.choice((1, 2, 2))))
        return HEAP if self._rng.random() < 0.85 else TENSOR

    def _any(self, scope: dict[str, Kind]) -> str:
        """A value, seldom one that is no heap and holds none."""
        others = [name for name, kind in scope.items() if kind != TENSOR]
        return self._late(others) if others and self._rng.random() < 0.95 else self._rng.choice("xz")

    def _late(self, names: Sequence[str]) -> str:
        """One of these, more often one of the last."""
        return names[max(self._rng.randrange(len(names)), self._rng.randrange(len(names)))]

    def _slot(self) -> int:
        return self._rng.choices((0, 1, 2, 3, SLOTS, -1), (9, 6, 4, 2, 0.2, 0.2))[0]

    def _name(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"
