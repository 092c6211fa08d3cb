"""What a closure holds is read by who calls it, if at all: RLX205 and RLX203, with what the VM does."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

UNSURE, WRONG = Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
T4 = 'R.Tensor((4,), "float32")'
TEXT = f"""
@T.prim_func(private=True, s_tir=True)
def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]

@R.function(pure=False)
def held(p: {T4}, t: {T4}) -> {T4}:
    BODY

@R.function(pure=False)
def main(x: {T4}, z: {T4}, c: R.Tensor((), "bool")):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    BEFORE
    CALL
    return v
"""
CLOSURE = """f = R.make_closure(Module.held, (t,))
    c = R.invoke_closure(f, (x,), ty_args=T4)
    k0 = R.print(c, format="")
    v = R.call_packed("relax_lint.tests.held", c, ty_args=T4)"""
OVERWRITTEN = """k = Module.copy(z, t)
    u = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    l = Module.copy(x, u)"""
BODIES = {
    "left alone": ("return p", [1, 2, 3, 4]),
    "written first": ("k = Module.copy(p, t)\n    return t", [1, 2, 3, 4]),
    "read": ("w = R.call_tir(Module.copy, (t,), T4)\n    return w", None),
}


def _module(body: str, before: str = "", call: str = CLOSURE) -> object:
    text = TEXT.replace("BODY", body).replace("BEFORE", before).replace("CALL", call)
    return parse(text.replace("T4", T4))


def _run(module: object) -> list[float]:
    tvm.register_global_func("relax_lint.tests.held", lambda one: one, override=True)
    machine = relax.VirtualMachine(tvm.compile(module, "llvm", relax_pipeline="default"), tvm.cpu())
    given = np.arange(1, 5, dtype="float32"), np.full(4, 9, "float32")
    return list(machine["main"](*map(tvm.runtime.tensor, (*given, np.array(True)))).numpy())


@pytest.mark.vm
@pytest.mark.parametrize("body", BODIES)
def test_a_closure_reads_what_it_holds_as_its_function_does(body: str) -> None:
    lines, returned = BODIES[body]
    module = _module(lines)
    found = [check for check in checks(module, "RLX205") if check.function == "main"]
    assert {check.verdict for check in found} == (set() if returned else {WRONG})
    assert all("`t`" in check.message for check in found)
    if returned is not None:
        assert _run(module) == returned


@pytest.mark.parametrize(
    "call",
    [
        "v = (f, x)",
        'v = R.call_packed("relax_lint.tests.calls", f, x, ty_args=T4)',
        "if c:\n        g = f\n        v = g\n    else:\n        h = x\n        v = h",
    ],
)
def test_who_is_not_known_may_read_what_a_closure_holds(call: str) -> None:
    module = _module(BODIES["left alone"][0], call=f"f = R.make_closure(Module.held, (t,))\n    {call}")
    found = [check for check in checks(module, "RLX205") if check.function == "main"]
    assert all(check.verdict is UNSURE or check.assumes for check in found)
    overwritten = _module(
        BODIES["left alone"][0], OVERWRITTEN, f"f = R.make_closure(Module.held, (t,))\n    {call}"
    )
    found = [check for check in checks(overwritten, "RLX203") if check.binding == "l"]
    assert UNSURE in {check.verdict for check in found}
    assert WRONG not in {check.verdict for check in found}


@pytest.mark.vm
def test_what_is_written_over_what_a_closure_holds_is_read_if_its_function_reads_it() -> None:
    module = _module("return p", OVERWRITTEN)
    found = [check for check in checks(module, "RLX203") if check.binding == "l"]
    assert {check.verdict for check in found} <= {Verdict.ALWAYS_FINE}
    assert _run(module) == [1, 2, 3, 4]
    # `x` is written over `z`, which is read.
    read = _module("w = R.call_tir(Module.copy, (t,), T4)\n    return w", OVERWRITTEN)
    found = [check for check in checks(read, "RLX203") if check.binding == "l"]
    assert {check.verdict for check in found} == {WRONG}
    assert _run(read) == [1, 2, 3, 4]


@pytest.mark.parametrize(("body", "verdicts"), [("left alone", set()), ("read", {WRONG})])
def test_a_call_without_a_closure_is_judged_by_the_body(body: str, verdicts: set[Verdict]) -> None:
    module = _module(BODIES[body][0], call="v = Module.held(x, t)")
    found = [check for check in checks(module, "RLX205") if check.function == "main"]
    assert {check.verdict for check in found if check.verdict is not Verdict.ALWAYS_FINE} == verdicts


@pytest.mark.parametrize(
    ("call", "verdict"),
    [
        ("f = R.make_closure(o, (t,))\n    v = f", UNSURE),
        ("f = R.make_closure(o, (x, t))\n    v = (f, x)", UNSURE),
        ("f = R.make_closure(o, (x,))\n    v = R.call_tir(Module.copy, (t,), T4)", WRONG),
    ],
)
def test_a_closure_of_who_is_not_known_may_never_be_called(call: str, verdict: Verdict) -> None:
    """Nothing looks at what it holds where nobody calls it."""
    text = TEXT.replace("BODY", "return p").replace("BEFORE", "q = x").replace("CALL", call)
    (found,) = checks(parse(text.replace(f"z: {T4}", "o: R.Object").replace("T4", T4)), "RLX205")
    assert found.verdict is verdict


@pytest.mark.parametrize("uses", ["return f", f"v = R.invoke_closure(f, (x,), ty_args={T4})\n    return v"])
@pytest.mark.parametrize(
    ("fills", "expected"),
    [
        # Whoever calls it may write `t` first, or leave it alone.
        ("", [UNSURE]),
        (
            'k = R.call_tir_inplace(Module.fill, (t,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))',
            [],
        ),
    ],
)
def test_of_a_function_that_is_passed_in_nobody_knows_what_it_reads(
    uses: str, fills: str, expected: list[Verdict]
) -> None:
    text = f"""
@T.prim_func(private=True, s_tir=True)
def fill(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = T.float32(1)

@R.function(pure=False)
def main(x: {T4}, g: R.Callable(ret={T4}, purity=False)):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    {fills or "l = x"}
    f = R.make_closure(g, (t,))
    {uses}
"""
    found = [check.verdict for check in checks(parse(text), "RLX205") if check.verdict != Verdict.ALWAYS_FINE]
    assert found == expected
