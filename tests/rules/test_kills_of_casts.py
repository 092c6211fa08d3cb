"""RLX201 and RLX202 where a name is a cast of another one: TVM takes both for one where the types that it gives
them are the same, whatever else is known of the values.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, findings, parse, stages

CALLEES = """
@R.function(private=True)
def joined(x: R.Tensor(("n", "m"), "float32"), s: R.Shape(["p"])) -> R.Tensor(ndim=2, dtype="float32"):
    n = T.int64(); m = T.int64(); p = T.int64()
    j = R.concat([x, R.zeros(R.shape([p, m]), "float32")], axis=0)
    z: R.Tensor(ndim=2, dtype="float32") = j
    return z

@R.function(private=True)
def both(x: R.Tensor(("n", "m"), "float32")) -> R.Tuple(ANY, ANY):
    n = T.int64(); m = T.int64()
    z: ANY = Module.joined(x, R.shape([m]))
    return (z, z)
""".replace("ANY", 'R.Tensor(ndim=2, dtype="float32")')
PROGRAM = """
@R.function(pure=False)
def {name}(x: R.Tensor(("n", "m"), "float32"), c: R.Tensor((), "bool")):
    n = T.int64(); m = T.int64(); k = T.int64()
    {names}
    {kills}
    z = R.multiply(b, b)
    return z
"""
ANY = "R.Tensor(ndim=2, dtype='float32')"
CHOSEN = (
    f"if c:> a0: {ANY} = Module.joined(x, R.shape([m]))> r = a0; "
    f"else:> a1: {ANY} = Module.joined(x, R.shape([m]))> r = a1; a = r"
)
GIVEN = f"a: {ANY} = Module.joined(x, R.shape([m]))"


def cast(first: str, second: str = "m") -> str:
    """The cast of `a`."""
    return f"b = R.match_cast(a, R.Tensor(({first}, {second}), 'float32'))"


REMOVED = [
    f"a = R.add(x, x); {cast('n')}",
    # New symbols stand for what the extents are.
    f"a = R.add(x, x); {cast('k')}",
    f"a = R.concat([x, x], axis=0); {cast('k')}",
    f"a = R.concat([x, x], axis=0); {cast('n * 2', 'k')}",
    f"t = (R.add(x, x), x); a = t[0]; {cast('n')}",
]
"""What TVM takes for one value with two names."""
LEFT = [
    # The same sum, written in another way.
    f"a = R.concat([x, x], axis=0); {cast('n + n')}",
    f"a = R.concat([x, x], axis=0); {cast('2 * n')}",
    # The IR says less of the result than its function tells.
    f"{GIVEN}; {cast('n + m')}",
    f"{CHOSEN}; {cast('n + m')}",
    f"{GIVEN}; d = R.match_cast(a, {ANY}); e = a; b = R.match_cast(e, R.Tensor((n + m, m), 'float32'))",
    f"t: R.Tuple({ANY}, {ANY}) = Module.both(x); a = t[0]; {cast('n + m')}",
    # A cast to less takes away what was known.
    f"d = R.add(x, x); a = R.match_cast(d, {ANY}); {cast('n')}",
]
"""What is a value of its own."""
ALL = [(text, True) for text in REMOVED] + [(text, False) for text in LEFT]


def lines(text: str) -> str:
    """One binding on each line; `>` stands before those of a branch."""
    return text.replace("; ", "\n    ").replace(":> ", ":\n        ").replace("> r", "\n        r")


def function(number: int, kills: str) -> str:
    """One function, with some kills between the cast and the use."""
    return lines(PROGRAM.format(name=f"f{number}", names=ALL[number][0], kills=kills))


@cache
def module(kills: str) -> Any:
    """All of them."""
    return parse(lines(CALLEES) + "".join(function(number, kills) for number in range(len(ALL))))


@cache
def machine() -> relax.VirtualMachine:
    with tvm.target.Target("llvm"):
        return relax.VirtualMachine(relax.build(module("_k = R.memory.kill_tensor(a)"), "llvm"), tvm.cpu())


def fails(number: int) -> bool:
    """Whether a kernel is given nothing, once the other name is killed."""
    x, c = tvm.runtime.tensor(np.ones((3, 3), "float32")), tvm.runtime.tensor(np.array(True))
    try:
        machine()[f"f{number}"](x, c)
    except TypeError:
        return True
    return False


def reported(code: str, kills: str) -> set[str | None]:
    """The functions in which something is found."""
    return {check.function for check in findings(module(kills), code)}


@pytest.mark.vm
@pytest.mark.parametrize("number", range(len(ALL)), ids=lambda number: ALL[number][0])
def test_a_name_is_killed_with_the_other_one_where_tvm_gives_both_one_type(number: int) -> None:
    removed = ALL[number][1]
    assert fails(number) == removed
    assert (f"f{number}" in reported("RLX201", "_k = R.memory.kill_tensor(a)")) == removed


@pytest.mark.parametrize("number", range(len(ALL)), ids=lambda number: ALL[number][0])
def test_killed_by_both_names_it_is_killed_twice_where_they_are_one(number: int) -> None:
    kills = "o = R.multiply(b, b); _k = R.memory.kill_tensor(a); _l = R.memory.kill_tensor(b)"
    found = [check for check in checks(module(kills), "RLX202") if check.function == f"f{number}"]
    assert bool(found) == ALL[number][1]
    # Passes between the cast and the kills may have found the type anew.
    assert all(check.verdict.value == "needs-runtime-check" for check in found)


def test_what_tvm_kills_itself_is_killed_once() -> None:
    for stage, lowered in stages(module("_u = R.add(x, x)")):
        assert findings(lowered, "RLX201") == findings(lowered, "RLX202") == [], stage
