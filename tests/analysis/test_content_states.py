"""RLX205 for what a function reads and writes on its ways, against every way: reads of elements that nobody wrote."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import TypeAlias

import pytest

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

Body: TypeAlias = "tuple[str | tuple[int, Body, Body], ...]"
"""Events one behind the other; a choice is the number of its condition and two bodies."""

FILLED = {"low": {0, 1}, "high": {2, 3}, "all": {0, 1, 2, 3}}
T4 = 'R.Tensor((4,), "float32")'
B = 'R.Tensor((), "bool")'
KERNELS = """
@T.prim_func(private=True, s_tir=True)
def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]
""" + "".join(
    f"""
@T.prim_func(private=True, s_tir=True)
def {name}(y: T.Buffer((4,), "float32")):
    for i in range({min(filled)}, {max(filled) + 1}):
        y[i] = T.float32(1)
"""
    for name, filled in FILLED.items()
)
MAIN = f"""
@R.function(private=True, pure=False)
def inner_NUMBER(y: {T4}, z: {T4}, c0: {B}, c1: {B}, c2: {B}):
BODY
    r = R.tuple()
    return r

@R.function(pure=False)
def main_NUMBER(z: {T4}, c0: {B}, c1: {B}, c2: {B}):
    y = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))
    MADE
    u = Module.inner_NUMBER(y, z, c0, c1, c2)
    return z
"""
COUNT = 18


def drawn(chance: random.Random, parts: Sequence[str], depth: int = 2) -> Body:
    found: list[str | tuple[int, Body, Body]] = []
    for _ in range(chance.choice((1, 1, 2, 3) if depth < 2 else (2, 2, 3))):
        if depth and chance.random() < 0.55:
            condition = chance.randrange(3)
            then, other = (
                drawn(chance, parts, depth - 1) if chance.random() < 0.85 else () for _ in range(2)
            )
            found.append((condition, then, other))
        else:
            found.append(chance.choice(parts))
    return tuple(found)


def lines(body: Body, indent: str, names: Iterator[int]) -> Iterator[str]:
    for part in body:
        if isinstance(part, str):
            yield f"{indent}q{next(names)} = Module.{'copy(y, z)' if part == 'read' else f'{part}(y)'}\n"
            if part == "read":
                # The next read writes it over: nobody would see what this one found.
                yield f'{indent}q{next(names)} = R.print(z, format="")\n'
            continue
        condition, then, other = part
        yield f"{indent}if c{condition}:\n"
        yield from lines(then, indent + "    ", names)
        result = next(names)
        yield f"{indent}    w{result} = z\n{indent}else:\n"
        yield from lines(other, indent + "    ", names)
        yield f"{indent}    w{result} = z\n"


def is_wrong(body: Body, conditions: Sequence[bool], written: set[int]) -> bool:
    """Whether something is read that nothing has written; `written` grows."""
    for part in body:
        if part == "read":
            if len(written) < 4:
                return True
        elif isinstance(part, str):
            written |= FILLED[part]
        elif is_wrong(part[1] if conditions[part[0]] else part[2], conditions, written):
            return True
    return False


@cache
def programs(halves: bool) -> list[tuple[Body, str]]:
    """Bodies, each with what its caller writes before."""
    chance = random.Random(5)
    parts = ("read", "read", "low", "high", "all") if halves else ("read", "read", "all")
    befores = ("", "", "low", "all") if halves else ("", "", "", "all")
    return [(drawn(chance, parts), chance.choice(befores)) for _ in range(COUNT)]


@cache
def verdicts(halves: bool) -> dict[str, set[Verdict]]:
    text = KERNELS
    for number, (body, before) in enumerate(programs(halves)):
        names = iter(range(1000))
        made = f"m = Module.{before}(y)" if before else "m = z"
        text += (
            MAIN.replace("BODY\n", "".join(lines(body, "    ", names)))
            .replace("MADE", made)
            .replace("NUMBER", str(number))
        )
    found: dict[str, set[Verdict]] = {f"main_{number}": set() for number in range(COUNT)}
    for check in checks(parse(text), "RLX205"):
        if check.function in found:
            found[check.function].add(check.verdict)
    return found


@pytest.mark.parametrize(("halves", "decided"), [(False, 11), (True, 6)])
def test_what_is_said_of_a_call_holds_on_every_way(halves: bool, decided: int) -> None:
    """Halves that are written one behind the other are not put together, so that less is decided."""
    found = 0
    for number, (body, before) in enumerate(programs(halves)):
        wrong = {
            is_wrong(body, conditions, set(FILLED.get(before, ())))
            for conditions in product((False, True), repeat=3)
        }
        said = verdicts(halves)[f"main_{number}"]
        if Verdict.ALWAYS_WRONG in said:
            assert wrong == {True}, (body, before)
            found += 1
        elif said <= {Verdict.ALWAYS_FINE}:
            assert wrong == {False}, (body, before)
            found += 1
    assert found >= decided
