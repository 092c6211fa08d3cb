"""RLX206 for names of what a branch chose: it is certain that they are overwritten only where they are made of the name
that is. The machine adds 4 * x and what an older name, 2 * x, has become.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, T4

FUNCTION = """
@R.function(pure=False)
def {name}(x: T4, c: R.Tensor((), "bool")):
    a = R.call_tir(Module.double, (x,), T4)
    b = R.call_tir(Module.add, (x, x), T4)
    if c:
        v0 = a
        v = v0
    else:
        v0 = b
        v = v0
    {before}
    w = R.call_tir_inplace(Module.twice, ({overwritten},), [0], T4)
    {after}
    z = R.call_tir(Module.add, (w, u), T4)
    return z
"""
NOTHING = "k = x"
VIEW = 'u = R.memory.view({}, R.shape([4]), R.dtype("float32"), R.prim_value(0))'
CAST = 'u = R.match_cast(v, R.Tensor("float32", ndim=1))'
BOTH, ONE = {True, False}, {True}
CASES = [
    # Before the call, what it overwrites, behind it; the conditions at which `u` is overwritten.
    (NOTHING, "v", "u = v", BOTH),
    (NOTHING, "v", VIEW.format("v"), BOTH),
    (NOTHING, "v", CAST, BOTH),
    (NOTHING, "v", "t = (v, x)\n    u = t[0]", BOTH),
    (VIEW.format("a"), "v", NOTHING, ONE),
    (NOTHING, "a", VIEW.format("v"), ONE),
    (NOTHING, "a", "u = v", ONE),
    (NOTHING, "a", "t = (v, x)\n    u = t[0]", ONE),
]


@cache
def functions() -> str:
    """All programs."""
    texts = (
        FUNCTION.format(name=f"f{number}", before=before, overwritten=overwritten, after=after)
        for number, (before, overwritten, after, _) in enumerate(CASES)
    )
    return KERNELS + "".join(texts).replace("T4", T4)


@cache
def machine() -> relax.VirtualMachine:
    """Of all programs."""
    return relax.VirtualMachine(relax.build(parse(functions()), "llvm"), tvm.cpu())


@cache
def verdicts() -> dict[str, set[str]]:
    """What is said of each function."""
    found: dict[str, set[str]] = {}
    for check in checks(parse(functions()), "RLX206"):
        found.setdefault(check.function or "", set()).add(check.verdict.value)
    return found


@pytest.mark.parametrize("number", range(len(CASES)))
def test_an_older_name_of_either(number: int) -> None:
    said = verdicts()[f"f{number}"] - {"always-fine"}
    overwritten = set()
    for condition in (True, False):
        given = (np.ones(4, "float32"), np.array(condition))
        (result,) = set(machine()[f"f{number}"](*map(tvm.runtime.tensor, given)).numpy().tolist())
        overwritten |= {condition} if result == 8 else set()
        assert result in (6, 8)
    assert overwritten == CASES[number][3]
    assert said == {"always-wrong" if overwritten == BOTH else "needs-runtime-check"}
