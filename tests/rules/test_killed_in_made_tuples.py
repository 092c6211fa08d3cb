"""RLX201 where what was killed is put into a tuple by the virtual machine, with what that says of each use."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, T4

FINE, UNSURE, WRONG = Verdict.ALWAYS_FINE, Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
FUNCTION = """
@R.function(pure=False)
def {name}(x: T4):
    a = R.call_tir(Module.double, (x,), T4)
    {before}
    z = R.call_tir(Module.double, ({used},), T4)
    return z
"""
KILL = "k = R.memory.kill_tensor(a)"
MADE = 'p = R.call_packed("vm.builtin.make_tuple", x, a, ty_args=R.Tuple(T4, T4))'
NESTED = 'q = R.call_packed("vm.builtin.make_tuple", p, x, ty_args=R.Tuple(R.Tuple(T4, T4), T4))'
OBJECT = 'p = R.call_packed("vm.builtin.make_tuple", x, a, ty_args=R.Object)'
TAKEN = 'b = R.call_packed("vm.builtin.tuple_getitem", p, R.prim_value({}), ty_args=T4)'
CASES = {
    "the empty field": (f"{KILL}; {MADE}; b = p[1]", "b", WRONG),
    "another name of the tuple": (f"{KILL}; {MADE}; o = p; b = o[1]", "b", WRONG),
    "the other field": (f"{KILL}; {MADE}; b = p[0]", "b", FINE),
    "nobody uses the field": (f"{KILL}; {MADE}; b = p[1]", "x", FINE),
    "nobody uses the tuple": (f"{KILL}; {MADE}", "x", FINE),
    "killed behind the tuple": (f"{MADE}; {KILL}; b = p[1]", "b", FINE),
    "the tuple is killed": (f"{MADE}; k = R.memory.kill_tensor(p); b = p[0]", "b", WRONG),
    "the machine takes the field": (f"{KILL}; {MADE}; {TAKEN.format(1)}", "b", WRONG),
    "the machine takes the other one": (f"{KILL}; {MADE}; {TAKEN.format(0)}", "b", FINE),
    "the type does not tell": (f"{KILL}; {OBJECT}; {TAKEN.format(1)}", "b", WRONG),
    "the type does not tell of the other": (f"{KILL}; {OBJECT}; {TAKEN.format(0)}", "b", FINE),
    "in another tuple": (f"{KILL}; {MADE}; t = (p, x); s = t[0]; b = s[1]", "b", WRONG),
    "the other of another tuple": (f"{KILL}; {MADE}; t = (p, x); s = t[0]; b = s[0]", "b", FINE),
    "in a made tuple": (f"{KILL}; {MADE}; {NESTED}; s = q[0]; b = s[1]", "b", UNSURE),
    "beside it in a made tuple": (f"{KILL}; {MADE}; {NESTED}; b = q[1]", "b", FINE),
}


def lines(text: str) -> str:
    """One binding on each line."""
    return text.replace("; ", "\n    ")


def functions() -> str:
    """All programs, by number."""
    made = (
        FUNCTION.format(name=f"f{number}", before=lines(before), used=used)
        for number, (before, used, _) in enumerate(CASES.values())
    )
    return KERNELS + "".join(made).replace("T4", T4)


@cache
def machine() -> relax.VirtualMachine:
    """All programs, behind the default pipeline."""
    return relax.VirtualMachine(relax.build(parse(functions()), "llvm"), tvm.cpu())


@cache
def verdicts() -> dict[str, Verdict]:
    """The gravest verdict of each function."""
    found: dict[str, Verdict] = {}
    order = (FINE, UNSURE, WRONG)
    for check in checks(parse(functions()), "RLX201"):
        name = str(check.function)
        found[name] = max(found.get(name, FINE), check.verdict, key=order.index)
    return found


@pytest.mark.parametrize("case", CASES)
def test_what_is_killed_goes_into_a_tuple(case: str) -> None:
    name = f"f{list(CASES).index(case)}"
    expected = CASES[case][2]
    assert verdicts().get(name, FINE) is expected
    x = tvm.runtime.tensor(np.ones(4, "float32"))
    if expected is FINE:
        assert set(machine()[name](x).numpy().tolist()) in ({2.0}, {4.0})
    else:
        with pytest.raises((RuntimeError, TypeError)):
            machine()[name](x)
