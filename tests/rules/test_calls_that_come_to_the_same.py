"""RLX203 of a tensor that functions of the module read, or from which they compute what they return, where all of it
comes to the same in the end: it runs right. These are the programs of one function, cut in two.
"""

from __future__ import annotations

from collections.abc import Callable
from textwrap import indent
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.any_size import of_any_size, of_size
from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, STORAGE, T4, TENSOR
from tests.rules.test_what_comes_to_the_same import CASES, SCALED, UNSURE

DAMAGE = f"""t = {TENSOR.format("STORAGE_0")}
k0 = Module.double(y, t)
v = {TENSOR.format("STORAGE_1")}
k1 = Module.double(x, v)
k2 = Module.double(v, y)
"""
READ_INSIDE = f"""
@R.function(private=True, pure=False)
def read_NUMBER(t: {T4}, x: {T4}, y: {T4}, u: {T4}) -> TYPE:
LINES
    return a

@R.function(pure=False)
def main_NUMBER(x: {T4}, y: {T4}):
    s = {STORAGE}
    q = {STORAGE}
    u = {TENSOR.format("q")}
DAMAGE
    a = Module.read_NUMBER(t, x, y, u)
    return a
"""
DAMAGED_INSIDE = f"""
@R.function(private=True, pure=False)
def made_NUMBER(x: {T4}, y: {T4}) -> {T4}:
    s = {STORAGE}
DAMAGE
    RETURNED
    return r

@R.function(pure=False)
def main_NUMBER(x: {T4}, y: {T4}):
    q = {STORAGE}
    u = {TENSOR.format("q")}
    t = Module.made_NUMBER(x, y)
LINES
    return a
"""
FORMS = {
    "read inside": READ_INSIDE,
    "computed inside": DAMAGED_INSIDE.replace(
        "RETURNED", f"r = R.call_tir(Module.double, (t,), out_ty={T4})"
    ),
    "returned": DAMAGED_INSIDE.replace("RETURNED", "r = t"),
}


def _text(form: str, *, damaged: bool) -> str:
    texts = [KERNELS, SCALED]
    second = "s" if damaged else STORAGE
    damage = DAMAGE.replace("STORAGE_0", "s").replace("STORAGE_1", second)
    for number, lines in enumerate(CASES):
        last = lines.rpartition("a = ")[2]
        type_ = 'R.Tensor((), "float32")' if last.startswith("R.sum") else T4
        text = FORMS[form].replace("NUMBER", f"{number}").replace("TYPE", type_)
        text = text.replace("DAMAGE\n", indent(damage, "    "))
        texts.append(text.replace("LINES", indent(lines.replace("; ", "\n"), "    ")))
    return "\n".join(texts)


def _module(form: str, *, damaged: bool) -> Any:
    return parse(_text(form, damaged=damaged))


def _where(form: str, number: int) -> str:
    return f"main_{number}" if form == "read inside" else f"made_{number}"


@pytest.mark.parametrize("form", FORMS)
def test_what_comes_to_the_same_over_calls_is_not_always_wrong(form: str) -> None:
    found = checks(_module(form, damaged=True), "RLX203")
    for number, (lines, verdict) in enumerate(CASES.items()):
        said = [one for one in found if one.function == _where(form, number) and one.binding == "k1"]
        # A caller that only compares what it gets shows nothing for sure of so few elements.
        is_compared = form != "read inside" and "R.greater" in lines
        assert [one.verdict for one in said] == [UNSURE if is_compared else verdict], (number, lines)


@pytest.mark.parametrize("resized", [of_size(1_000), of_any_size], ids=("1000", "n"))
@pytest.mark.parametrize("form", FORMS)
def test_that_is_known_of_other_sizes(form: str, resized: Callable[[str], str]) -> None:
    found = checks(parse(resized(_text(form, damaged=True))), "RLX203")
    for number, (lines, verdict) in enumerate(CASES.items()):
        said = [one for one in found if one.function == _where(form, number) and one.binding == "k1"]
        # Without elements all is right.
        told = [Verdict.ALWAYS_WRONG if one.safe_when == "n <= 0" else one.verdict for one in said]
        assert told == [verdict], (number, lines)


@pytest.mark.vm
@pytest.mark.parametrize("form", FORMS)
def test_the_machine_returns_what_is_right_for_these_only(form: str) -> None:
    machines = [
        relax.VirtualMachine(tvm.compile(_module(form, damaged=damaged), "llvm"), tvm.cpu())
        for damaged in (True, False)
    ]
    for number, (lines, verdict) in enumerate(CASES.items()):
        given = [np.array(one, "float32") for one in ([1, 2, -3, 4], [-3, 1, 5, 2])]
        answers = [one[f"main_{number}"](*map(tvm.runtime.tensor, given)).numpy() for one in machines]
        assert np.allclose(*answers) == (verdict is UNSURE), lines


SHAPES = {
    "three levels": """
@R.function(private=True, pure=False)
def inner(a: T4, b: T4) -> T4:
    r = R.add(a, b)
    return r

@R.function(private=True, pure=False)
def outer(a: T4, b: T4) -> T4:
    r = Module.inner(a, b)
    return r
""",
    "a tuple": """
@R.function(private=True, pure=False)
def pair(a: T4, b: T4) -> R.Tuple(T4, T4):
    r = R.add(a, b)
    return (b, r)

@R.function(private=True, pure=False)
def outer(a: T4, b: T4) -> T4:
    p = Module.pair(a, b)
    r = p[1]
    return r
""",
    "in place": """
@R.function(private=True, pure=False)
def changed(a: T4) -> T4:
    r = R.call_tir_inplace(Module.twice, (a,), inplace_indices=[0], out_ty=T4)
    return r

@R.function(private=True, pure=False)
def outer(a: T4, b: T4) -> T4:
    c = R.call_tir(Module.add, (a, b), out_ty=T4)
    k = Module.changed(c)
    return c
""",
    "by a branch": """
@R.function(private=True, pure=False)
def outer(a: T4, b: T4) -> T4:
    m = R.max(b)
    g = R.greater(m, R.const(0.0, "float32"))
    if g:
        i = R.add(a, b)
        c = i
    else:
        j = R.negative(a)
        c = j
    return c
""",
    "a number of times": """
@R.function(private=True, pure=False)
def outer(a: T4, n: R.Tensor((), "int64")) -> T4:
    g = R.greater(n, R.const(0, "int64"))
    if g:
        m = R.subtract(n, R.const(1, "int64"))
        d = R.add(a, a)
        i = Module.outer(d, m)
        c = i
    else:
        c = a
    return c
""",
}
ENDS = {
    "once": ("r0 = Module.outer(t, SECOND)\na = R.negative(r0)", True),
    "apart": ("r0 = Module.outer(t, SECOND)\nr1 = Module.outer(t, SECOND)\na = R.subtract(r0, r1)", False),
    "together": ("r0 = Module.outer(t, SECOND)\nr1 = Module.outer(t, SECOND)\na = R.add(r0, r1)", True),
}


def _shaped(shape: str, end: str, *, damaged: bool) -> Any:
    second = "s" if damaged else STORAGE
    damage = DAMAGE.replace("STORAGE_0", "s").replace("STORAGE_1", second)
    lines = ENDS[end][0].replace("SECOND", 'R.const(2, "int64")' if shape == "a number of times" else "x")
    body = f"s = {STORAGE}\n{damage}{lines}\nreturn a"
    head = f"\n@R.function(pure=False)\ndef main(x: {T4}, y: {T4}):\n"
    return parse(KERNELS + SHAPES[shape].replace("T4", T4) + head + indent(body, "    "))


@pytest.mark.vm
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_functions_do_to_damage_is_carried_out(shape: str, end: str) -> None:
    (said,) = (one for one in checks(_shaped(shape, end, damaged=True), "RLX203") if one.binding == "k1")
    given = [np.array(one, "float32") for one in ([1, 2, -3, 4], [-3, 1, 5, 2])]
    damaged, right = (
        relax.VirtualMachine(tvm.compile(_shaped(shape, end, damaged=one), "llvm"), tvm.cpu())["main"](
            *map(tvm.runtime.tensor, given)
        ).numpy()
        for one in (True, False)
    )
    assert np.allclose(damaged, right) != ENDS[end][1]
    # Of a function that calls itself it is not told what it shows for sure.
    is_told = shape != "a number of times"
    assert (said.verdict is Verdict.ALWAYS_WRONG) == (ENDS[end][1] and is_told)
