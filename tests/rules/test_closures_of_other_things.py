"""RLX505 about what closures and inner functions hold, and about calls of those that return nothing: with the VM."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import findings, parse

T4 = 'R.Tensor((4,), "float32")'
LOOKS = 'u = R.call_packed("vm.builtin.shape_of", d, ty_args=R.Shape)'
HELD = f"""
@R.function(private=True, pure=False)
def f(x: {T4}, d: R.Any) -> {T4}:
    {LOOKS}
    return x

@R.function(private=True, pure=False)
def calls(g: R.Any, x: {T4}) -> {T4}:
    y = R.invoke_closure(g, (x,), ty_args={T4})
    return y

@R.function(pure=False)
def main(x: {T4}) -> {T4}:
    d = MADE
    g = R.make_closure(Module.f, (d,))
    CALL
    return y
"""
MADE = {
    "a storage": 'R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))',
    "nothing": "R.null_value()",
    "a tuple": "(x, x)",
    "a tensor": "x",
}
CALLS = {
    "called": (f"y = R.invoke_closure(g, (x,), ty_args={T4})", "always-wrong"),
    # Who gets it may call it with anything.
    "passed on": ("y = Module.calls(g, x)", "needs-runtime-check"),
}
COPY = 'R.call_packed("vm.builtin.copy", {}, ty_args=' + T4 + ")"
INNER = f"""
@R.function(pure=False)
def main(x: {T4}) -> {T4}:
    d = {COPY.format("x")}
    @R.function(pure=False)
    def g(x: {T4}) -> R.Tuple():
        z = {COPY.format("HELD")}
        return R.tuple()
    CALL
    return x
"""
WITHOUT_RESULT = {
    # What the function uses, the call, what is said.
    "by its name": ("x", "y = g(x)", ["always-wrong"]),
    "by another name": ("x", "h = g\n    y = h(x)", ["always-wrong"]),
    "of a field": ("x", "t = (g, x)\n    h = t[0]\n    y = h(x)", ["always-wrong"]),
    "of a closure": ("d", "y = g(x)", []),
}


def _said(module: object) -> list[str]:
    return [check.verdict.value for check in findings(module, "RLX505")]


def _runs(module: object) -> bool:
    """Whether a call of `main` ends as it should; in a process of its own, which some of them end."""
    child = os.fork()
    if child == 0:
        signal.alarm(120)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            lifted = relax.transform.LambdaLift()(module)
            built = tvm.compile(lifted, "llvm", relax_pipeline="default")
            relax.VirtualMachine(built, tvm.cpu())["main"](tvm.runtime.tensor(np.ones(4, "float32")))
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


@pytest.mark.vm
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("made", MADE)
def test_what_a_closure_holds_is_taken_for_what_it_is(made: str, call: str) -> None:
    lines, verdict = CALLS[call]
    module = parse(HELD.replace("MADE", MADE[made]).replace("CALL", lines))
    fine = made == "a tensor"
    assert _said(module) == ([] if fine else [verdict])
    assert _runs(module) == fine


@pytest.mark.vm
@pytest.mark.parametrize("name", WITHOUT_RESULT)
def test_a_call_of_an_inner_function_that_returns_nothing(name: str) -> None:
    held, call, said = WITHOUT_RESULT[name]
    module = parse(INNER.replace("HELD", held).replace("CALL", call))
    assert _said(module) == said
    assert _runs(module) == (not said)


def test_a_field_of_what_a_closure_holds() -> None:
    text = HELD.replace("MADE", "((x, x), x)").replace("CALL", CALLS["called"][0])
    field = 'e = R.call_packed("vm.builtin.tuple_getitem", d, R.prim_value({}), ty_args=R.Any)'
    for number, said in ((0, ["always-wrong"]), (1, [])):
        looks = f"{field.format(number)}\n    {LOOKS.replace(', d,', ', e,')}"
        assert _said(parse(text.replace(LOOKS, looks))) == said
