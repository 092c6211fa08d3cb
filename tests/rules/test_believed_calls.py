"""What calls of packed functions say of themselves is believed, and listed: that they fill what they return,
write nothing else and keep nothing. What they are given counts as filled once somebody is taken to have filled it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, STORAGE, T4, TENSOR

FINE, UNSURE, WRONG = Verdict.ALWAYS_FINE, Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
HALF = """
@T.prim_func(private=True, s_tir=True)
def half(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(2):
        y[i] = x[i]
    for i in range(4):
        z[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def half_in_place(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(2):
        y[i] = x[i]
    for i in range(4):
        z[i] = x[i]
        x[i] = T.float32(0)
"""


def said(rule: str, lines: str) -> list[Check]:
    """What a rule says of a function with these lines."""
    body = "".join(f"    {line}\n" for line in lines.strip().splitlines())
    head = "\n@R.function(pure=False)\ndef main(x: T4, y: T4):\n"
    return checks(parse(KERNELS + HALF + (head + body).replace("T4", T4)), rule)


def assumed(found: list[Check]) -> list[str]:
    """What is assumed."""
    return [text for check in found for text in check.assumes]


@pytest.mark.parametrize(
    ("call", "texts"),
    [
        (
            'R.call_pure_packed("my.f", x, ty_args=T4)',
            ["`my.f` writes none of its arguments, and keeps none"],
        ),
        (
            'R.call_dps_packed("my.f", (x,), out_ty=T4)',
            ["`my.f` writes none of its arguments, and keeps none"],
        ),
        (
            'R.call_inplace_packed("my.f", x, y, inplace_indices=[0], ty_args=T4)',
            ["`my.f` writes no argument but those that it names, and keeps none"],
        ),
        (
            'R.call_inplace_packed("my.f", x, inplace_indices=[0], ty_args=T4)',
            ["`my.f` writes no argument but those that it names, and keeps none"],
        ),
        ('R.call_packed("my.f", x, ty_args=T4)', []),
        ("R.call_tir(Module.double, (x,), T4)", []),
        ("R.add(x, y)", []),
    ],
)
def test_who_says_that_it_writes_nothing_else(call: str, texts: list[str]) -> None:
    assert [text for text in assumed(said("RLX206", f"a = {call}\nreturn a")) if "writes" in text] == texts


@pytest.mark.vm
@pytest.mark.parametrize(
    "call",
    [
        f'R.call_dps_packed("relax_lint.tests.keep", (t,), {T4})',
        f'R.call_inplace_packed("relax_lint.tests.keep", t, inplace_indices=[0], ty_args={T4})',
    ],
)
def test_what_is_kept_all_the_same_may_come_back(call: str) -> None:
    text = f"""
@T.prim_func(private=True, s_tir=True)
def copy(a: T.handle, y: T.Buffer((4,), "float32")):
    x = T.match_buffer(a, (4,), "float32")
    for i in range(4):
        y[i] = x[i]

@R.function(pure=False)
def main(x: {T4}):
    s = {STORAGE.replace("16", "32")}
    t = R.memory.alloc_tensor(s, R.prim_value(16), R.shape([4]), R.dtype("float32"))
    w = R.call_packed("runtime.TVMTensorCopyFromTo", x, t, ty_args=R.Tuple)
    k = {call}
    z = R.call_packed("runtime.TVMTensorCopyFromTo", k, x, ty_args=R.Tuple)
    g = R.call_packed("relax_lint.tests.give", ty_args={T4})
    u = R.call_tir(Module.copy, (g,), out_ty={T4})
    return u
"""
    module = parse(text)
    kept: list[Any] = []

    def keep(one: Any, *output: Any) -> Any:
        kept.append(one)
        return output[0].copyfrom(one.numpy()) and None if output else one

    tvm.register_global_func("relax_lint.tests.keep", keep, override=True)
    tvm.register_global_func("relax_lint.tests.give", lambda: kept[-1], override=True)
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    with pytest.raises(ValueError, match="expected 0"):
        machine["main"](tvm.runtime.tensor(np.ones(4, "float32")))
    told = {text for check in checks(module, "RLX") for text in check.assumes}
    assert any(text.endswith("and keeps none") for text in told)


@pytest.mark.parametrize(
    ("call", "count"), [('R.call_dps_packed("my.f", (x,), out_ty=T4)', 1), ("R.add(x, y)", 0)]
)
def test_who_is_taken_to_fill_what_it_returns(call: str, count: int) -> None:
    found = said("RLX205", f"a = {call}\nz = R.call_tir(Module.double, (a,), T4)\nreturn z")
    assert [check.verdict for check in found] == [FINE] * count
    assert assumed(found) == ["`my.f` writes all of what it returns"] * count


@pytest.mark.parametrize(("kernel", "outputs"), [("half", "[T4, T4]"), ("half_in_place", "[T4, T4, T4]")])
@pytest.mark.parametrize("number", [0, 1])
def test_one_of_several_results_is_filled_in_part(kernel: str, outputs: str, number: int) -> None:
    if kernel == "half":
        call = f"R.call_tir(Module.half, (x,), {outputs})"
    else:
        number += 1
        call = f"R.call_tir_inplace(Module.half_in_place, (a,), [0, -1, -1], {outputs})"
    found = said("RLX205", f"a = R.add(x, y)\np = {call}\nt = p[{number}]\nreturn t")
    part = number == 0 if kernel == "half" else number == 1
    assert [check.verdict for check in found if check.verdict is not FINE] == ([WRONG] if part else [])


@pytest.mark.parametrize(
    ("first", "of_u", "of_t"),
    [
        ('R.call_packed("my.fill", x, t, ty_args=R.Tuple)', FINE, UNSURE),
        # Who is given it may not look at it.
        ("Module.double(x, t)", FINE, UNSURE),
        ("Module.half(x, t, z)", UNSURE, UNSURE),
        # Or write it, who is given what holds nothing.
        ("x", UNSURE, FINE),
    ],
)
def test_who_is_given_what_was_filled_may_only_read_it(first: str, of_u: Verdict, of_t: Verdict) -> None:
    """Of two tensors on one storage `u` is returned, and the last call is given `t`."""
    found = said(
        "RLX203",
        f"""s = {STORAGE}
t = {TENSOR.format("s")}
z = R.builtin.alloc_tensor(R.shape([4]), "float32", 0)
w = {first}
u = {TENSOR.format("s")}
v = Module.double(x, u)
k = R.call_packed("my.use", t, ty_args=R.Tuple)
return u""",
    )
    told = [check for check in found if check.verdict is not FINE]
    by_call = {check.binding: check.verdict for check in told}
    assert by_call.get("k", FINE) is of_u
    assert by_call.get("v", FINE) is of_t
    assert all("`my.use` may read and write" in text for check in told for text in check.assumes)
    assert all(check.assumes for check in told if check.binding == "k")
