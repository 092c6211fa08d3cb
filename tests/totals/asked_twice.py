"""Drawn functions with two `If`s on one condition and things in between that may overwrite it, and what each call
of them allocates, by carrying it out.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any, TypeAlias

BOOL = 'R.Tensor((), "bool")'
PAIR = f"R.Tuple({BOOL}, {BOOL})"
FIRST, SECOND = (1000, 10), (20, 2000)
"""The bytes of the storages in the branches of both `If`s, the one first that is taken where it holds."""
PACKED, PURE = "tests.asked_twice.turns", "tests.asked_twice.same"

FUNCTIONS = f"""
@T.prim_func(private=True)
def flip(c: T.Buffer((), "bool")):
    c[()] = not c[()]

@T.prim_func(private=True)
def look(c: T.Buffer((), "bool"), d: T.Buffer((), "bool")):
    d[()] = c[()]

@R.function(private=True)
def same(t: {BOOL}) -> {BOOL}:
    return t

@R.function(private=True)
def still(t: {BOOL}) -> {BOOL}:
    e = Module.same(t)
    u = R.memory.view(e, R.shape([]), "bool")
    return u

@R.function(private=True)
def swap(t: {BOOL}, u: {BOOL}) -> {PAIR}:
    return (u, t)

@R.function(private=True)
def turned(p: {PAIR}) -> {PAIR}:
    t = p[0]
    u = p[1]
    q = Module.swap(t, u)
    return q

@R.function(private=True, pure=False)
def flips(t: {BOOL}) -> {BOOL}:
    e = Module.same(t)
    Module.flip(e)
    return t

@R.function(private=True, pure=False)
def flips_second(p: {PAIR}) -> {BOOL}:
    q = Module.turned(p)
    t = q[0]
    u = Module.flips(t)
    return u

@R.function(private=True, pure=False)
def looks(t: {BOOL}, u: {BOOL}) -> {BOOL}:
    Module.look(t, u)
    return u
"""


class Tensor:
    """One tensor that is true or not."""

    def __init__(self, holds: bool) -> None:
        self.holds = holds


Value: TypeAlias = "Tensor | tuple[Tensor, Tensor]"
Step: TypeAlias = "tuple[str, str, tuple[str, ...]]"
"""The name that it gives, what it does, and to what."""

TEXTS = {
    "alias": "{o} = {a}",
    "pair": "{o} = ({a}, {b})",
    "first": "{o} = {a}[0]",
    "second": "{o} = {a}[1]",
    "view": '{o} = R.memory.view({a}, R.shape([]), "bool")',
    "same": "{o} = Module.same({a})",
    "still": "{o} = Module.still({a})",
    "swap": "{o} = Module.swap({a}, {b})",
    "turned": "{o} = Module.turned({a})",
    "flip": "Module.flip({a})",
    "flips": "{o} = Module.flips({a})",
    "flips second": "{o} = Module.flips_second({a})",
    "in place": f"{{o}} = R.call_tir_inplace(Module.flip, ({{a}},), inplace_indices=[0], out_ty={BOOL})",
    "look": "Module.look({a}, {b})",
    "looks": "{o} = Module.looks({a}, {b})",
    "packed": f'{{o}} = R.call_packed("{PACKED}", {{a}}, ty_args=[{BOOL}])',
    "pure packed": f'{{o}} = R.call_pure_packed("{PURE}", {{a}}, ty_args={BOOL})',
}
TAKE_PAIRS = {"first", "second", "turned", "flips second"}
GIVE_PAIRS = {"pair", "swap", "turned"}
GIVE_NOTHING = {"flip", "look"}
UNKNOWN = {"packed", "pure packed"}


@dataclass
class Behaviour:
    """What functions that are not known do: whether they flip what they get, and what they give back (None:
    what they got). `overwritten`: whether the condition was.
    """

    choices: list[tuple[bool, bool | None]] = field(default_factory=list)
    condition: Tensor | None = None
    overwritten: bool = False

    def write(self, tensor: Tensor, holds: bool) -> None:
        """A tensor is overwritten, perhaps with what it holds."""
        self.overwritten |= tensor is self.condition
        tensor.holds = holds

    def unknown(self, tensor: Tensor, *, pure: bool) -> Tensor:
        """A call of such a function."""
        flips, new = self.choices.pop() if self.choices else (True, None)
        if flips and not pure:
            self.write(tensor, not tensor.holds)
        return tensor if new is None else Tensor(new)


def _carry_out(what: str, given: list[Any], run: Behaviour) -> Value | None:
    one = given[0]
    if what in {"flip", "flips", "in place"}:
        run.write(one, not one.holds)
    elif what == "flips second":
        run.write(one[1], not one[1].holds)
    elif what in {"look", "looks"}:
        run.write(given[1], one.holds)
    elif what in UNKNOWN:
        return run.unknown(one, pure=what == "pure packed")
    results: dict[str, Callable[[], Value]] = {
        "pair": lambda: (one, given[1]),
        "swap": lambda: (given[1], one),
        "turned": lambda: (one[1], one[0]),
        "first": lambda: one[0],
        "second": lambda: one[1],
        "flips second": lambda: one[1],
        "looks": lambda: given[1],
    }
    if what in results:
        return results[what]()
    same: Value = one
    return same


@dataclass(frozen=True)
class Part:
    """A function of two conditions that has some steps, asks for one, has more steps and asks again."""

    before: tuple[Step, ...]
    condition: str
    between: tuple[Step, ...]

    @property
    def steps(self) -> tuple[Step, ...]:
        """All of them."""
        return (*self.before, *self.between)

    def lines(self) -> Iterator[str]:
        """The lines of its body."""
        for number, (steps, sizes) in enumerate(((self.before, FIRST), (self.between, SECOND))):
            yield from texts(steps)
            for branch, size in zip((f"if {self.condition}:", "else:"), sizes, strict=True):
                yield branch
                name = f"{number}_{size}"
                yield f'    s{name} = R.memory.alloc_storage(R.shape([{size}]), 0, "global", "uint8")'
                yield f'    t{name} = R.memory.alloc_tensor(s{name}, 0, R.shape([{size}]), "uint8")'
                yield f"    r{number} = t{name}"
        yield "return (r0, r1)"

    def bytes_of(self, values: dict[str, Any], run: Behaviour) -> int:
        """What the storages of one call take."""
        carry_out(self.before, values, run)
        condition = run.condition = values[self.condition]
        first = FIRST[0 if condition.holds else 1]
        carry_out(self.between, values, run)
        return first + SECOND[0 if condition.holds else 1]


@dataclass(frozen=True)
class Drawn:
    """A public function of two conditions that has some steps and calls the part, or (`part_of` None) is it."""

    before: tuple[Step, ...]
    part: Part
    given: tuple[str, str] | None

    @property
    def unknown(self) -> int:
        """How many calls of unknown functions there are."""
        return sum(what in UNKNOWN for _, what, _ in (*self.before, *self.part.steps))

    def text(self, name: str) -> str:
        """Its functions."""
        lines = [*texts(self.before), *self.part.lines()]
        found = ""
        if self.given is not None:
            found = _function(f"{name}_part", list(self.part.lines()), "private=True, pure=False")
            call = f"r = Module.{name}_part({', '.join(self.given)})"
            lines = [*texts(self.before), call, "return r"]
        return found + _function(name, lines, "pure=False")

    def bytes_of(self, c: Tensor, d: Tensor, run: Behaviour) -> int:
        """What the storages of one call take."""
        values: dict[str, Any] = {"c": c, "d": d}
        carry_out(self.before, values, run)
        if self.given is not None:
            values = dict(zip(("c", "d"), (values[name] for name in self.given), strict=True))
        return self.part.bytes_of(values, run)

    def runs(self) -> Iterator[tuple[int, bool]]:
        """The bytes of every run, and whether the condition is overwritten in it."""
        choices = [(flips, new) for flips in (True, False) for new in (None, True, False)]
        for chosen in product(choices, repeat=self.unknown):
            for c, d in inputs():
                run = Behaviour(list(chosen))
                yield self.bytes_of(c, d, run), run.overwritten


def inputs() -> Iterator[tuple[Tensor, Tensor]]:
    """Two tensors, or one that is given twice."""
    for one, other in product((True, False), repeat=2):
        yield Tensor(one), Tensor(other)
    for holds in (True, False):
        yield (Tensor(holds),) * 2


def texts(steps: tuple[Step, ...]) -> Iterator[str]:
    """The lines of steps."""
    for name, what, given in steps:
        yield TEXTS[what].format(o=name, a=given[0], b=given[-1])


def carry_out(steps: tuple[Step, ...], values: dict[str, Any], run: Behaviour) -> None:
    """Do them."""
    for name, what, given in steps:
        values[name] = _carry_out(what, [values[one] for one in given], run)


def _function(name: str, lines: list[str], how: str) -> str:
    head = f"\n@R.function({how})\ndef {name}(c: {BOOL}, d: {BOOL}) -> R.Any:\n"
    return head + "".join(f"    {line}\n" for line in lines)


class Drawing:
    """Draws functions."""

    def __init__(self, seed: int, *, unknown: bool) -> None:
        self._random = random.Random(seed)
        self._kinds = [what for what in TEXTS if unknown or what not in UNKNOWN]
        self._unknown = 0

    def draw(self) -> Drawn:
        """One more."""
        self._unknown = 0
        tensors, pairs = ["c", "d"], list[str]()
        if self._random.random() < 0.5:
            return Drawn((), self._part(tensors, pairs), None)
        before = self._steps("m", tensors, pairs, self._random.randrange(3))
        given = self._random.choice(tensors), self._random.choice(tensors)
        return Drawn(before, self._part(["c", "d"], []), given)

    def _part(self, tensors: list[str], pairs: list[str]) -> Part:
        before = self._steps("b", tensors, pairs, self._random.randrange(3))
        condition = self._random.choice(tensors)
        return Part(before, condition, self._steps("e", tensors, pairs, self._random.randrange(1, 5)))

    def _steps(self, prefix: str, tensors: list[str], pairs: list[str], count: int) -> tuple[Step, ...]:
        found = list[Step]()
        while len(found) < count:
            what = self._random.choice(self._kinds)
            among = pairs if what in TAKE_PAIRS else tensors
            if not among or (what in UNKNOWN and self._unknown == 2):
                continue
            self._unknown += what in UNKNOWN
            arity = 2 if what in {"pair", "swap", "look", "looks"} else 1
            name = f"{prefix}{len(found)}"
            found.append((name, what, tuple(self._random.choice(among) for _ in range(arity))))
            if what not in GIVE_NOTHING:
                (pairs if what in GIVE_PAIRS else tensors).append(name)
        return tuple(found)
