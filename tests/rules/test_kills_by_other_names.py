"""RLX201 where what is used has another name than what was killed, with what the machine says of it."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, T4

FINE, UNSURE, WRONG = Verdict.ALWAYS_FINE, Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
PAIR = f"R.Tuple({T4}, {T4})"
NAMES = """
@R.function(pure=False)
def {name}(x: T4, p: PAIR):
    a = R.call_tir(Module.double, (x,), T4)
    {names}
    k = {kill}({killed})
    z = R.call_tir(Module.double, ({used},), T4)
    return z
"""
RETURNED = """
@R.function(private=True, pure=False)
def {name}_given(p: T4):
    k = R.vm.kill_object(p)
    return {returned}

@R.function(pure=False)
def {name}(x: T4, p: PAIR):
    every = Module.{name}_given(x)
    {taken}
    z = R.call_tir(Module.double, (one,), T4)
    return z
"""
TENSOR, OBJECT = "R.memory.kill_tensor", "R.vm.kill_object"
CAST = f"R.match_cast(s, {PAIR})"
CASES = [
    # A field of a tuple that is a field of another one.
    ("t = ((a, x), x); s = t[0]; b = s[0]", "a", "b", WRONG),
    ("i = (a, x); t = (i, x); s = t[0]; b = s[0]", "a", "b", WRONG),
    ("t = ((a, x), x); s = t[0]; o = s; b = o[0]", "b", "a", WRONG),
    (f"t = ((a, x), x); s = t[0]; o = {CAST}; b = o[0]", "a", "b", WRONG),
    ("t = ((a, x), x); s = t[0]; b = s[1]", "a", "b", FINE),
    ("t = ((a, x), x); c = ((x, t[0]), x); d = c[0]; e = d[1]; b = e[0]", "a", "b", WRONG),
    ("t = ((a, x), x); c = ((x, t[0]), x); d = c[0]; e = d[1]; b = e[1]", "a", "b", FINE),
    # What is taken from somebody else's tuple has a register of its own each time.
    ("t = (p, x); s = t[0]; c = s[0]; b = s[0]", "c", "b", FINE),
    ("c = p[0]; t = ((c, x), x); s = t[0]; b = s[0]", "c", "b", WRONG),
    # To TVM the fields put together again are the tuple; in another order they are a new one.
    ("c = p[0]; d = p[1]; q = (c, d); t = (q, x); s = t[0]; b = s[0]", "c", "b", FINE),
    ("c = p[0]; d = p[1]; q = (d, c); t = (q, x); s = t[0]; b = s[1]", "c", "b", WRONG),
]
LATE = ["b = a", f"b = R.match_cast(a, {T4})", "t = (a, x); b = t[0]", "t = ((a, x), x); s = t[0]; b = s[0]"]
"""Where the pass that removes such bindings does not run, each name has a register of its own."""
RETURNS = [
    ("(p, p)", "one = every[0]", WRONG),
    ("(p, p)", "one = every[1]", WRONG),
    ("((p, p), p)", "inner = every[0]; one = inner[0]", WRONG),
    ("((p, p), p)", "inner = every[0]; one = inner[1]", WRONG),
    (
        "(p, R.call_tir(Module.double, (R.const([1, 2, 3, 4], 'float32'),), T4))",
        "one = every[1]",
        FINE,
    ),
]


def lines(text: str) -> str:
    """One binding on each line."""
    return text.replace("; ", "\n    ")


def functions() -> str:
    """All programs, by number."""
    named = "".join(
        NAMES.format(name=f"named{number}", names=lines(names), kill=TENSOR, killed=killed, used=used)
        for number, (names, killed, used, _) in enumerate(CASES)
    )
    late = "".join(
        NAMES.format(name=f"late{number}", names=lines(names), kill=OBJECT, killed="a", used="b")
        for number, names in enumerate(LATE)
    )
    returned = "".join(
        RETURNED.format(name=f"returned{number}", returned=result, taken=lines(taken))
        for number, (result, taken, _) in enumerate(RETURNS)
    )
    return KERNELS + (named + late + returned).replace("PAIR", PAIR).replace("T4", T4)


@cache
def machine(*, removes_bindings: bool = True) -> relax.VirtualMachine:
    """All programs, behind the default pipeline or one without KillAfterLastUse."""
    transform = relax.transform
    without = [
        transform.LegalizeOps(),
        transform.ToNonDataflow(),
        transform.RemovePurityChecking(),
        transform.CallTIRRewrite(),
        transform.LowerAllocTensor(),
        transform.LowerRuntimeBuiltin(),
        transform.ComputePrimValue(),
        transform.VMShapeLower(),
        transform.AttachGlobalSymbol(),
    ]
    pipeline = "default" if removes_bindings else tvm.transform.Sequential(without)
    built = relax.build(parse(functions()), "llvm", relax_pipeline=pipeline)
    return relax.VirtualMachine(built, tvm.cpu())


def fails(name: str, *, removes_bindings: bool = True) -> bool:
    """Whether a kernel gets nothing where it wants a tensor."""
    x, y, z = (tvm.runtime.tensor(np.ones(4, "float32")) for _ in range(3))
    try:
        machine(removes_bindings=removes_bindings)[name](x, (y, z))
    except (RuntimeError, TypeError):
        return True
    return False


@cache
def verdicts() -> dict[str, Verdict]:
    """The gravest verdict of each function, with that of the one that it alone calls."""
    found: dict[str, Verdict] = defaultdict(lambda: FINE)
    order = (FINE, UNSURE, WRONG)
    for check in checks(parse(functions()), "RLX201"):
        name = (check.function or "").removesuffix("_given")
        found[name] = max(found[name], check.verdict, key=order.index)
    return found


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: CASES[number][0])
def test_a_name_of_what_was_killed(number: int) -> None:
    assert verdicts()[f"named{number}"] is CASES[number][3]
    assert fails(f"named{number}") == (CASES[number][3] is WRONG)


@pytest.mark.parametrize("number", range(len(LATE)), ids=lambda number: LATE[number])
def test_it_depends_on_a_pass_what_shares_a_register(number: int) -> None:
    assert verdicts()[f"late{number}"] is UNSURE
    assert fails(f"late{number}")
    assert not fails(f"late{number}", removes_bindings=False)


@pytest.mark.parametrize("number", range(len(RETURNS)), ids=lambda number: "-".join(RETURNS[number][:2]))
def test_fields_that_are_returned_killed(number: int) -> None:
    assert verdicts()[f"returned{number}"] is RETURNS[number][2]
    assert fails(f"returned{number}") == (RETURNS[number][2] is WRONG)
