"""Harm that is done under another name of a tensor is told whatever the way the name came about; nothing is
told to be always wrong that runs right.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

import pytest
import tvm

from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse
from tests.rules.ways import FUNCTIONS, KERNELS, KNOWN, UNKNOWN

T8 = 'R.Tensor((8,), "float32")'
MADE = "w = R.memory.alloc_tensor(s, 0, R.shape([8]), 'float32')"
AT_64 = "w = R.memory.alloc_tensor(s, 64, R.shape([8]), 'float32')"
OVER = "o = R.memory.alloc_tensor(s, 0, R.shape([8]), 'float32')"
WAY = "WAY"


def _filled(name: str) -> str:
    return f"_{name} = Module.fill({name})"


def _summed(name: str) -> str:
    return f"sum_{name} = Module.add_up({name}, e)"


def _in_place(name: str) -> str:
    return f"z = R.call_tir_inplace(Module.increase, ({name},), [0], out_ty=T8)"


WRONG = {
    "reads what nobody wrote": ("RLX205", [AT_64, WAY, _summed("v")]),
    "reads what is half written": ("RLX205", [AT_64, WAY, "h = Module.half(v)", _summed("w")]),
    "reads before it is written": ("RLX205", [AT_64, WAY, _summed("w"), _filled("v")]),
    "is overwritten": ("RLX203", [MADE, _filled("w"), WAY, OVER, _filled("o"), _summed("v")]),
    "overwrites": ("RLX203", [MADE, _filled("w"), OVER, _filled("o"), WAY, _filled("v"), _summed("o")]),
    "is half written again": (
        "RLX203",
        [MADE, _filled("w"), WAY, OVER, _filled("o"), "h = Module.half(v)", _summed("w")],
    ),
    "is changed in place": ("RLX206", [MADE, _filled("w"), WAY, _in_place("v"), _summed("w")]),
    "is read after a change in place": ("RLX206", [MADE, _filled("w"), WAY, _in_place("w"), _summed("v")]),
    "comes after a change in place": ("RLX206", [MADE, _filled("w"), _in_place("w"), WAY, _summed("v")]),
    "is at an offset": ("RLX303", [AT_64, _filled("w"), WAY, "x1 = Module.at_start(v, e)"]),
}
"""Of each of these the results are not those that are written there, or the call is refused."""
RIGHT = {
    "is written before": ("RLX205", [AT_64, WAY, _filled("w"), _summed("v")]),
    "is written by this name": ("RLX205", [AT_64, WAY, _filled("v"), _summed("w")]),
    "is read before it is overwritten": (
        "RLX203",
        [MADE, _filled("w"), WAY, _summed("v"), OVER, _filled("o"), _summed("o")],
    ),
    "is written again": ("RLX203", [MADE, _filled("w"), WAY, OVER, _filled("o"), _filled("v"), _summed("w")]),
    "is read before the change": (
        "RLX206",
        [MADE, _filled("w"), WAY, _summed("w"), _in_place("v"), _summed("z")],
    ),
    "is written after the change": (
        "RLX206",
        [MADE, _filled("w"), WAY, _in_place("w"), _filled("v"), _summed("v")],
    ),
    "is at no offset": ("RLX303", [MADE, _filled("w"), WAY, "x1 = Module.at_start(v, e)"]),
    "is used": ("RLX208", [AT_64, WAY, _filled("v"), _summed("v")]),
}
"""Of each of these the results are right."""


Case: TypeAlias = "tuple[str, tuple[str, ...]]"
"""A rule, and the lines of a function."""


@cache
def _said(*cases: Case) -> list[list[Check]]:
    """What the rule of each case says of its function, which is in a module with none of the others. To parse
    the functions that they have in common takes most of the time.
    """
    mains = (_main(number, lines) for number, (_, lines) in enumerate(cases))
    module = parse("\n".join((KERNELS, FUNCTIONS, *mains)).replace("T8", T8))
    functions = {variable.name_hint: (variable, function) for variable, function in module.functions.items()}
    own = [functions.pop(f"main{number}") for number in range(len(cases))]
    said = []
    for (rule, _), one in zip(cases, own, strict=True):
        found = checks(tvm.IRModule(dict([*functions.values(), one])), rule)
        said.append([check for check in found if (check.function or "").startswith("main")])
    return said


def _main(number: int, lines: tuple[str, ...]) -> str:
    body = "\n".join(f"    {line}" for line in lines)
    return f"""
@R.function(pure=False)
def main{number}(x: R.Tensor(("n",), "float32"), g: R.Tensor((), "bool"), e: R.Tensor((1,), "float32")):
    s = R.memory.alloc_storage(R.shape([512]), 0, "global", "uint8")
{body}
    return e
"""


def _each(programs: dict[str, tuple[str, list[str]]], way: list[str]) -> dict[str, list[Check]]:
    """What is said of each program with one way."""
    said = _said(*((rule, _with(lines, way)) for rule, lines in programs.values()))
    return dict(zip(programs, said, strict=True))


def _with(lines: list[str], way: list[str]) -> tuple[str, ...]:
    return tuple(line for one in lines for line in (way if one == WAY else [one]))


def _harms(found: list[Check]) -> bool:
    return any(one.verdict is not Verdict.ALWAYS_FINE for one in found)


@pytest.mark.parametrize("way", KNOWN)
def test_harm_is_told_by_every_name(way: str) -> None:
    found = _each(WRONG, KNOWN[way])
    assert [what for what, checks_ in found.items() if not _harms(checks_)] == []


@pytest.mark.parametrize("way", KNOWN)
def test_nothing_is_told_that_is_right(way: str) -> None:
    found = _each(RIGHT, KNOWN[way])
    loud = [what for what, checks_ in found.items() if _harms(checks_)]
    # That a recursion ends with what it was given is not known; where the builtin's result starts neither.
    unsure = way in {"a recursion", "a field by the machine"}
    assert loud == [] or (unsure and loud == ["is written by this name"])
    assert not any(one.verdict is Verdict.ALWAYS_WRONG for checks_ in found.values() for one in checks_)


@pytest.mark.parametrize("way", UNKNOWN)
def test_what_may_be_the_same_is_told_or_assumed_aloud(way: str) -> None:
    for what, found in _each(WRONG, UNKNOWN[way]).items():
        assert _harms(found) or any(one.assumes for one in found), what
    for what, found in _each(RIGHT, UNKNOWN[way]).items():
        assert not any(one.verdict is Verdict.ALWAYS_WRONG for one in found), what


@pytest.mark.parametrize(
    ("given", "verdict"),
    [("e", Verdict.ALWAYS_WRONG), *((one, Verdict.NEEDS_RUNTIME_CHECK) for one in "zw")],
)
def test_who_gets_what_was_changed_in_place_may_write_it(given: str, verdict: Verdict) -> None:
    """Then the older name stands for what he wrote; where he gets the older name, that is told."""
    call = f"k = R.call_packed('tests.other', {given}, ty_args=R.Tuple)"
    used = "k1 = R.call_packed('vm.builtin.make_tuple', z, ty_args=R.Tuple)"
    lines = [MADE, _filled("w"), _in_place("w"), used, call, _summed("w")]
    ((found,),) = _said(("RLX206", tuple(lines)))
    assert found.verdict is verdict
    assert bool(found.assumes) == (given == "w")


def _inside(before: list[str], after: list[str]) -> list[str]:
    head = ["@R.function(pure=False)", "def rest(a: R.Tensor((1,), 'float32')) -> R.Tensor((1,), 'float32'):"]
    return [*before, *head, *(f"    {line.replace(', e)', ', a)')}" for line in after), "    return a"]


def _inside_of_inside(before: list[str], after: list[str]) -> list[str]:
    head = ["@R.function(pure=False)", "def all_(a: R.Tensor((1,), 'float32')) -> R.Tensor((1,), 'float32'):"]
    return [*_inside(before, after), *head, "    b = rest(a)", "    return b", "y = all_(e)"]


PLACES: dict[str, Callable[[list[str], list[str]], list[str]]] = {
    "in a function inside": lambda before, after: [*_inside(before, after), "y = rest(e)"],
    "in one that another one calls": _inside_of_inside,
    "in one that was in a tuple": lambda before, after: [
        *_inside(before, after),
        "t9 = (rest, e)",
        "f9 = t9[0]",
        "y = f9(e)",
    ],
    "in a branch": lambda before, after: [
        *before,
        "if g:",
        *(f"    {line}" for line in after),
        "    y = e",
        "else:",
        "    y = e",
    ],
}
"""Where the last operations of a function may stand instead."""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("what", WRONG)
def test_harm_is_told_wherever_it_is_done(what: str, place: str) -> None:
    """Of what a function inside does to what it has from outside, RLX206 tells: it is given two names of it."""
    rule, lines = WRONG[what]
    body = list(_with(lines, KNOWN["a function"]))
    rule = rule if rule == "RLX303" else "RLX20"
    said = _said(*((rule, tuple(PLACES[place](body[:n], body[n:]))) for n in range(1, len(body))))
    silent = [
        count
        for count, found in enumerate(said, 1)
        if not _harms([one for one in found if one.rule not in {"RLX207", "RLX208"}])
    ]
    assert silent == []
