"""RLX206: what a function returns may be a constant of the module, always or on some paths. To overwrite it in place
changes what the next run gets, as the VM shows.
"""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, T4

ONES = 'R.const([1, 1, 1, 1], "float32")'
BRANCH = f"""
    if c:
        p = {ONES}
        q = p
    else:
        p = OTHER
        q = p"""
FUNCTION = """
@R.function(private=True, pure=False)
def {name}(x: T4, c: R.Tensor((), "bool")):{body}
    return {result}
"""
NEW = "R.call_tir(Module.double, (x,), T4)"
CALLEES = "".join(
    FUNCTION.format(name=name, body=body, result=result)
    for name, body, result in (
        ("always", f"\n    q = {ONES}", "q"),
        ("or_new", BRANCH.replace("OTHER", NEW), "q"),
        ("or_given", BRANCH.replace("OTHER", "x"), "q"),
        ("or_another", BRANCH.replace("OTHER", ONES.replace("1", "3")), "q"),
        ("beside", f"{BRANCH.replace('OTHER', NEW)}\n    n = {NEW}", "(n, q)"),
        ("called", "\n    q = Module.or_new(x, c)", "q"),
        ("new", BRANCH.replace("OTHER", NEW).replace(ONES, NEW), "q"),
    )
)
MAIN = """
@R.function(pure=False)
def main(x: T4, c: R.Tensor((), "bool")):
    y = R.call_tir(Module.double, (x,), T4)
    LINES
    o = R.call_tir_inplace(Module.twice, (r,), [0], T4)
    s = R.call_tir(Module.double, (o,), T4)
    return s
"""
FINE, UNSURE, WRONG = Verdict.ALWAYS_FINE, Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
WAYS = {
    # What is overwritten, the verdict, and the conditions under which the second run gives something else.
    "always": ("r = Module.always(y, c)", WRONG, {True, False}),
    "or something new": ("r = Module.or_new(y, c)", UNSURE, {True}),
    "or the argument": ("r = Module.or_given(y, c)", UNSURE, {True}),
    "or another one": ("r = Module.or_another(y, c)", WRONG, {True, False}),
    "through another function": ("r = Module.called(y, c)", UNSURE, {True}),
    "in a tuple": ("t = Module.beside(y, c); r = t[1]", UNSURE, {True}),
    "beside it in a tuple": ("t = Module.beside(y, c); r = t[0]", FINE, set[bool]()),
    "always something new": ("r = Module.new(y, c)", FINE, set[bool]()),
}


@pytest.mark.vm
@pytest.mark.parametrize("way", WAYS)
def test_a_constant_that_a_callee_returns_is_overwritten(way: str) -> None:
    lines, expected, changed = WAYS[way]
    module = parse(
        KERNELS + (CALLEES + MAIN).replace("LINES", lines.replace("; ", "\n    ")).replace("T4", T4)
    )
    found = [check for check in checks(module, "RLX206") if check.function == "main" and check.binding == "o"]
    said = {check.verdict for check in found if "the constant" in check.message}
    assert said == ({expected} - {FINE})
    assert {check.verdict for check in found} - {FINE} == said
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())

    def run(condition: bool) -> list[float]:
        given = (np.ones(4, "float32"), np.array(condition))
        return list(machine["main"](*map(tvm.runtime.tensor, given)).numpy())

    assert {condition for condition in (True, False) if run(condition) != run(condition)} == changed
