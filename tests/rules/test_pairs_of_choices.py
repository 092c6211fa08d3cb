"""Two tensors of a call that `If`s give: of the same condition, its negation, or another one. What RLX206 makes of
the pair, compared with every run.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from textwrap import indent
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

HEAD = """
@T.prim_func(private=True)
def turned(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[3 - i] + T.float32(1)

@T.prim_func(private=True)
def fill(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = T.Cast("float32", i)

@R.function(private=True, pure=False)
def inner(p: R.Tensor((4,), "float32"), q: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    w = Module.turned(p, q)
    v = Module.turned(p, q)
    return q

@R.function(pure=False)
def main(
    x: R.Tensor((4,), "float32"), z: R.Tensor(("n",), "float32"),
    c: R.Tensor((), "bool"), d: R.Tensor((), "bool")
) -> R.Tensor((4,), "float32"):
    n = T.int64()
"""
CONDITIONS = ("c", "d", "n < 3", "n >= 3")
ALLOCATED = """
s{0} = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
{0} = R.memory.alloc_tensor(s{0}, R.prim_value(0), R.shape([4]), R.dtype("float32"))
f{0} = Module.fill({0})
"""
FINE, WRONG, OPEN = Verdict.ALWAYS_FINE, Verdict.ALWAYS_WRONG, Verdict.NEEDS_RUNTIME_CHECK
Given = tuple[str, str, str]
"""A condition, and what its branches give."""


def _chosen(name: str, given: Given) -> str:
    condition, then, otherwise = given
    return f"if {condition}:\n    {name} = {then}\nelse:\n    {name} = {otherwise}\n"


def _module(one: Given, other: Given, around: str = "", callee: str = "turned") -> Any:
    body = "".join(map(ALLOCATED.format, "ab")) + _chosen("e", one) + _chosen("f", other)
    call = f"r = Module.{callee}(e, f)\n"
    if around:
        call = f"if {around}:\n{indent(call, '    ')}    u = f\nelse:\n    u = f\n"
    return parse(HEAD + indent(f"{body}{call}return {'u' if around else 'f'}\n", "    "))


def _runs() -> Iterator[dict[str, bool]]:
    for c, d, small in product((True, False), repeat=3):
        yield {"c": c, "d": d, "n < 3": small, "n >= 3": not small}


def _shares(one: Given, other: Given, around: str, run: dict[str, bool]) -> bool | None:
    """Whether a run gives the kernel one tensor twice; None where it does not come there."""
    if around and not run[around]:
        return None
    return (one[1] if run[one[0]] else one[2]) == (other[1] if run[other[0]] else other[2])


def _expected(one: Given, other: Given, around: str) -> Verdict:
    seen = {_shares(one, other, around, run) for run in _runs()} - {None}
    return FINE if seen == {False} else WRONG if seen == {True} else OPEN


def _verdict(module: Any) -> Verdict:
    found = {check.verdict for check in checks(module, "RLX206") if check.binding == "r"}
    assert len(found) <= 1
    return found.pop() if found else FINE


SAME = ("c", "a", "b")
SEEN: list[tuple[Given, Given, str, Verdict]] = [
    (SAME, ("c", "a", "b"), "", WRONG),
    (SAME, ("c", "b", "a"), "", FINE),
    (SAME, ("d", "a", "b"), "", OPEN),
    (SAME, ("d", "a", "a"), "c", WRONG),
    (SAME, ("d", "b", "b"), "c", FINE),
    (SAME, ("d", "b", "b"), "d", OPEN),
    (("n < 3", "a", "b"), ("n >= 3", "a", "b"), "", FINE),
    (("n < 3", "a", "b"), ("n >= 3", "b", "a"), "", WRONG),
]


@pytest.mark.parametrize(("one", "other", "around", "said"), SEEN)
def test_what_two_branches_give_at_once(one: Given, other: Given, around: str, said: Verdict) -> None:
    assert _expected(one, other, around) is said
    assert _verdict(_module(one, other, around)) is said


@pytest.mark.parametrize("seed", range(40))
def test_a_pair_is_what_the_runs_make_of_it(seed: int) -> None:
    chance = random.Random(seed)
    one, other = ((chance.choice(CONDITIONS), *chance.choices("ab", k=2)) for _ in range(2))
    around = chance.choice(("", *CONDITIONS))
    assert _verdict(_module(one, other, around)) is _expected(one, other, around)  # type: ignore[arg-type]


def test_one_value_twice_is_one_tensor_whatever_it_is() -> None:
    text = HEAD + indent("".join(map(ALLOCATED.format, "ab")) + _chosen("e", SAME), "    ")
    again = '    v = R.memory.view(e, R.shape([4]), R.dtype("float32"), 0)\n'
    for line in ("    r = Module.turned(e, e)\n", again + "    r = Module.turned(e, v)\n"):
        assert _verdict(parse(text + line + "    return e\n")) is WRONG


def test_a_condition_that_is_overwritten_in_between_is_another_one() -> None:
    flip = """
@T.prim_func(private=True)
def flip(c: T.Buffer((), "bool")):
    c[()] = not c[()]
"""
    body = "".join(map(ALLOCATED.format, "ab")) + _chosen("e", SAME) + "k = Module.flip(c)\n"
    body += _chosen("f", ("c", "b", "a")) + "r = Module.turned(e, f)\nreturn f\n"
    assert _verdict(parse(flip + HEAD + indent(body, "    "))) is OPEN


@pytest.mark.parametrize(
    ("other", "said"), [(("c", "b", "a"), FINE), (("c", "a", "b"), OPEN), (("d", "a", "b"), OPEN)]
)
def test_a_function_that_is_given_both(other: Given, said: Verdict) -> None:
    assert _verdict(_module(SAME, other, callee="inner")) is said


@pytest.mark.vm
@pytest.mark.parametrize("callee", ["turned", "inner"])
@pytest.mark.parametrize(("other", "right"), [(("c", "b", "a"), True), (("c", "a", "b"), False)])
def test_the_machine_agrees(other: Given, right: bool, callee: str) -> None:
    module = _module(SAME, other, callee=callee)
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    x = np.zeros(4, "float32")
    for c in (True, False):
        given = map(tvm.runtime.tensor, (x, x, np.array(c), np.array(True)))
        found = machine["main"](*given).numpy()
        assert np.array_equal(found, [4, 3, 2, 1]) is right
