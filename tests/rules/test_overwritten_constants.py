"""RLX206 for constants and parameters that a call overwrites: which of them, and how certainly.

A constant that was overwritten is seen by the next run: it holds something else then.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse
from tests.rules.test_older_names import KERNELS

TENSOR = 'R.Tensor((4,), "float32")'
IN_PLACE = f"R.call_tir_inplace(Module.double_in_place, ({{}},), inplace_indices=[0], out_ty={TENSOR})"
PROGRAM = f"""
@R.function(private=True, pure=False)
def surely(a: {TENSOR}) -> {TENSOR}:
    r = {IN_PLACE.format("a")}
    return r

@R.function(private=True, pure=False)
def perhaps(a: {TENSOR}, c: R.Tensor((), "bool")) -> {TENSOR}:
    if c:
        r = {IN_PLACE.format("a")}
    else:
        r = R.call_tir(Module.copy, (a,), out_ty={TENSOR})
    return r

@R.function(private=True, pure=False)
def one(a: {TENSOR}, b: {TENSOR}, c: R.Tensor((), "bool")) -> {TENSOR}:
    if c:
        r = {IN_PLACE.format("a")}
    else:
        r = {IN_PLACE.format("b")}
    return r

@R.function(private=True, pure=False)
def both(a: {TENSOR}, b: {TENSOR}, c: R.Tensor((), "bool")) -> {TENSOR}:
    s = {IN_PLACE.format("a")}
    if c:
        r = {IN_PLACE.format("b")}
    else:
        r = R.call_tir(Module.copy, (b,), out_ty={TENSOR})
    return r

@R.function(pure=False)
def main(x: {TENSOR}, y: {TENSOR}, c: R.Tensor((), "bool"), d: R.Tensor((), "bool")) -> R.Tuple({TENSOR}, {TENSOR}, {TENSOR}):
    k = metadata["relax.expr.Constant"][0]
    l = metadata["relax.expr.Constant"][1]
    if d:
        v = {{then}}
    else:
        v = {{otherwise}}
    r = {{call}}
    return (k, l, r)
"""
WRONG, UNSURE = "always-wrong", "needs-runtime-check"


def module_of(then: str, otherwise: str, call: str) -> Any:
    text = PROGRAM.replace("{then}", then).replace("{otherwise}", otherwise).replace("{call}", call)
    for place, value in enumerate((1, 2)):
        text = text.replace(f'metadata["relax.expr.Constant"][{place}]', f"R.const([{value}] * 4, 'float32')")
    text = text.replace("{{", "{").replace("}}", "}")
    return parse(KERNELS + text)


CASES = [
    ("k", "k", "Module.surely(k)", {"k": WRONG}),
    ("k", "k", "Module.perhaps(k, c)", {"k": UNSURE}),
    ("k", "l", "Module.surely(v)", {"k": UNSURE, "l": UNSURE}),
    ("k", "x", "Module.surely(v)", {"k": UNSURE, "x": UNSURE}),
    ("x", "y", "Module.surely(v)", {"x": UNSURE, "y": UNSURE}),
    ("k", "k", "Module.one(k, l, c)", {"k": UNSURE, "l": UNSURE}),
    ("x", "y", "Module.one(x, y, c)", {"x": UNSURE, "y": UNSURE}),
    ("k", "k", "Module.both(l, k, c)", {"k": UNSURE, "l": WRONG}),
    # The parameter that is written in any case is `k` as well.
    ("k", "k", "Module.both(k, k, c)", {"k": WRONG}),
    ("k", "l", IN_PLACE.format("v"), {"k": UNSURE, "l": UNSURE}),
    ("k", "x", IN_PLACE.format("v"), {"k": UNSURE, "x": UNSURE}),
    ("x", "y", IN_PLACE.format("v"), {"x": UNSURE, "y": UNSURE}),
    ("k", "k", IN_PLACE.format("k"), {"k": WRONG}),
]


@pytest.mark.parametrize(("then", "otherwise", "call", "expected"), CASES)
def test_what_is_overwritten_and_how_certainly(
    then: str, otherwise: str, call: str, expected: dict[str, str]
) -> None:
    found = checks(module_of(then, otherwise, call), "RLX206")
    told = [
        check
        for check in found
        if check.function == "main" and ("the constant" in check.message or "the parameter" in check.message)
    ]
    assert {check.message.split("`")[3]: check.verdict.value for check in told} == expected
    assert len(told) == len(expected)


@pytest.mark.parametrize(
    ("private", "over", "told"), [(True, "k", 1), (True, "a", 0), (False, "k", 1), (False, "a", 1)]
)
def test_a_private_function_may_overwrite_what_it_is_given_but_no_constant(
    private: bool, over: str, told: int
) -> None:
    text = f"""
@R.function(private={private}, pure=False)
def inner(a: {TENSOR}) -> {TENSOR}:
    k = R.const([1, 2, 3, 4], "float32")
    r = {IN_PLACE.format(over)}
    return r
"""
    found = checks(parse(KERNELS + text), "RLX206")
    assert (
        len([one for one in found if "the constant" in one.message or "the parameter" in one.message]) == told
    )


@pytest.mark.vm
@pytest.mark.parametrize(("then", "otherwise", "call", "expected"), CASES)
def test_what_the_next_run_sees(then: str, otherwise: str, call: str, expected: dict[str, str]) -> None:
    """Of each constant whether runs change it: never, always, or for some conditions."""
    changed: dict[str, set[bool]] = {"k": set(), "l": set()}
    for c in (False, True):
        for d in (False, True):
            # A machine shares the constants of its module.
            module = module_of(then, otherwise, call)
            machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
            given = [np.zeros(4, "float32"), np.zeros(4, "float32"), np.array(c), np.array(d)]
            for _ in range(2):
                result = machine["main"](*map(tvm.runtime.tensor, given))
            for name, value, had in zip("kl", [result[0], result[1]], (1, 2), strict=True):
                changed[name].add(bool((value.numpy() != had).any()))
    for name, seen in changed.items():
        verdict = {frozenset({True}): WRONG, frozenset({True, False}): UNSURE}.get(frozenset(seen))
        assert expected.get(name) == verdict
