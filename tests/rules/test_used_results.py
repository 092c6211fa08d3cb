"""What a private function returns is read by the callers that use it: RLX203 and RLX206, with what the VM returns."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

TYPE = 'R.Tensor((4,), "float32")'
PAIR = f"R.Tuple({TYPE}, {TYPE})"
TENSOR = 'R.memory.alloc_tensor(s, R.prim_value({}), R.shape([4]), R.dtype("float32"))'
STORAGE = 'R.memory.alloc_storage(R.shape([32]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'
IN_PLACE = f"R.call_tir_inplace(Module.double_in_place, (p,), inplace_indices=[0], out_ty={TYPE})"
PROGRAM = f"""
@T.prim_func(private=True, s_tir=True)
def double_in_place(x: T.Buffer((T.int64(4),), "float32")):
    for i in range(T.int64(4)):
        x[i] = x[i] * T.float32(2)

@T.prim_func(private=True, s_tir=True)
def double(x: T.Buffer((T.int64(4),), "float32"), y: T.Buffer((T.int64(4),), "float32")):
    for i in range(T.int64(4)):
        y[i] = x[i] * T.float32(2)

@T.prim_func(private=True, s_tir=True)
def copy(a: T.handle, y: T.Buffer((T.int64(4),), "float32", elem_offset=T.int64())):
    x = T.match_buffer(a, (T.int64(4),), "float32", elem_offset=T.int64())
    for i in range(T.int64(4)):
        y[i] = x[i]

@R.function(private=True, pure=False)
def changed(p: {TYPE}):
    w = {IN_PLACE}
    return (p, w)

@R.function(private=True, pure=False)
def laid(p: {TYPE}):
    s = {STORAGE}
    t = {TENSOR.format(0)}
    u = {TENSOR.format(12)}
    k = Module.copy(p, t)
    l = Module.copy(p, u)
    return (t, u)

@R.function(private=True, pure=False)
def passed_on(p: {TYPE}):
    t = Module.FUNCTION(p)
    return (p, t)

@R.function(private=True, pure=False)
def again(p: {TYPE}, c: R.Tensor((), "bool")) -> {PAIR}:
    if c:
        t = Module.again(p, R.const(False, "bool"))
        r = t
    else:
        r = Module.FUNCTION(p)
    return r

@R.function(private=True, pure=False)
def second(t: {PAIR}) -> {TYPE}:
    u = t[1]
    return u

@R.function(private=True, pure=False)
def first(t: {PAIR}) -> {TYPE}:
    u = t[0]
    v = R.call_tir(Module.copy, (u,), out_ty={TYPE})
    return v

@R.function(pure=False)
def main(x: {TYPE}, y: {TYPE}, c: R.Tensor((), "bool")) -> {TYPE}:
    a = R.call_tir(Module.copy, (x,), out_ty={TYPE})
    b = R.call_tir(Module.copy, (y,), out_ty={TYPE})
    LINES
    r = R.call_tir(Module.copy, (w,), out_ty={TYPE})
    return r
"""
ERROR, WARNING, FINE = "always-wrong", "needs-runtime-check", "always-fine"
USES = [
    ("p = Module.FUNCTION(a); w = p[0]", ERROR, (True, True)),
    ("p = Module.FUNCTION(a); w = p[1]", FINE, (False, False)),
    ("p = Module.FUNCTION(a); w = b", FINE, (False, False)),
    # One of two callers reads the field.
    ("p = Module.FUNCTION(a); z = p[1]; q = Module.FUNCTION(b); w = q[0]", ERROR, (True, True)),
    ("p = Module.FUNCTION(a); z = p[1]; q = Module.FUNCTION(b); w = q[1]", FINE, (False, False)),
    # By another name, in another tuple, as another type.
    ("p = Module.FUNCTION(a); q = p; t = (b, q); u = t[1]; w = u[0]", ERROR, (True, True)),
    ("p = Module.FUNCTION(a); q = p; t = (b, q); u = t[1]; w = u[1]", FINE, (False, False)),
    (f"p = Module.FUNCTION(a); q = R.match_cast(p, {PAIR}); w = q[0]", ERROR, (True, True)),
    (f"p = Module.FUNCTION(a); q = R.match_cast(p, {PAIR}); w = q[1]", FINE, (False, False)),
    # In branches.
    ("if c:; \tp = Module.FUNCTION(a); \tw = p[0]; else:; \tw = b", ERROR, (True, False)),
    ("if c:; \tp = Module.FUNCTION(a); \tw = p[1]; else:; \tw = b", FINE, (False, False)),
    ("p = Module.FUNCTION(a); if c:; \tw = p[0]; else:; \tw = b", WARNING, (True, False)),
    ("p = Module.FUNCTION(a); if c:; \tw = p[1]; else:; \tw = b", FINE, (False, False)),
    # By another function.
    ("p = Module.FUNCTION(a); w = Module.first(p)", ERROR, (True, True)),
    ("p = Module.FUNCTION(a); w = Module.second(p)", FINE, (False, False)),
    ("p = Module.passed_on(a); q = p[1]; w = q[0]", ERROR, (True, True)),
    ("p = Module.passed_on(a); q = p[1]; w = q[1]", FINE, (False, False)),
    # By callers of a function that calls itself.
    ("p = Module.again(a, c); w = p[0]", ERROR, (True, True)),
    ("p = Module.again(a, c); w = p[1]", FINE, (False, False)),
]


def _program(function: str, lines: str) -> str:
    body = lines.replace("; ", "\n    ").replace("\t", "    ")
    return PROGRAM.replace("LINES", body).replace("FUNCTION", function)


@pytest.mark.parametrize("function", ["changed", "laid"])
@pytest.mark.parametrize(("lines", "verdict"), [use[:2] for use in USES])
def test_what_is_returned_is_wrong_where_a_caller_uses_it(function: str, lines: str, verdict: str) -> None:
    rule = {"changed": "RLX206", "laid": "RLX203"}[function]
    found = checks(parse(_program(function, lines)), rule)
    said = [check.verdict.value for check in found if check.function == function]
    assert max(said, key=[FINE, WARNING, ERROR].index) == verdict


def _of_each(text: str, names: list[str]) -> dict[str, list[list[float]]]:
    """What the VM returns from each of the functions, where the branch is taken and where it is not."""
    machine = relax.VirtualMachine(tvm.compile(parse(text), "llvm", relax_pipeline="default"), tvm.cpu())
    x, y = np.arange(1, 5, dtype="float32"), np.arange(11, 15, dtype="float32")
    given: list[tuple[Any, ...]] = [(x, y, np.array(condition)) for condition in (True, False)]
    return {
        name: [list(machine[name](*map(tvm.runtime.tensor, inputs)).numpy()) for inputs in given]
        for name in names
    }


@pytest.mark.vm
def test_the_machine_returns_something_else_where_a_caller_uses_it() -> None:
    split = PROGRAM.index("@R.function(private=True, pure=False)\ndef passed_on")
    parts, wanted = [PROGRAM[:split]], {}
    for number, (lines, _, wrong) in enumerate(USES):
        for function in ("changed", "laid"):
            # Each case has its own functions: all are compiled at once.
            name = f"{function}_{number}"
            own = _program(function, lines)[split:]
            parts.append(re.sub(r"\b(passed_on|again|first|second|main)\b", rf"\1_{name}", own))
            wanted[f"main_{name}"] = wrong
    text = "".join(parts)
    apart = text.replace(TENSOR.format(12), TENSOR.format(16))
    apart = apart.replace(IN_PLACE, f"R.call_tir(Module.double, (p,), out_ty={TYPE})")
    found, fine = _of_each(text, [*wanted]), _of_each(apart, [*wanted])
    differs = {
        name: tuple(one != other for one, other in zip(found[name], fine[name], strict=True))
        for name in wanted
    }
    assert differs == wanted


def test_writes_before_the_call_do_not_matter() -> None:
    lines = "g = Module.changed(a); p = Module.changed(a); w = p[0]"
    found = checks(parse(_program("changed", lines)), "RLX206")
    assert [check.verdict.value for check in found if check.function == "changed"] == [ERROR]


@pytest.mark.parametrize("function", ["changed", "laid"])
def test_a_function_that_never_runs_is_judged_as_one_whose_result_is_used(function: str) -> None:
    text = PROGRAM[: PROGRAM.index("@R.function(private=True, pure=False)\ndef passed_on")]
    rule = {"changed": "RLX206", "laid": "RLX203"}[function]
    found = [check for check in checks(parse(text), rule) if check.function == function]
    assert ERROR in [check.verdict.value for check in found]
