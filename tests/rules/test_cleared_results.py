"""RLX201 for objects that a private function kills and returns: null values, at which the machine fails where it looks
into them.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, STORAGE, T4, TENSOR

UNSURE, WRONG = Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
PAIR = f"R.Tuple({T4}, {T4})"
TUPLE = """
@R.function(private=True, pure=False)
def {name}_given(p: PAIR) -> PAIR:
    k = R.vm.kill_object(p)
    return p
"""
ON_STORAGE = """
@R.function(private=True, pure=False)
def {name}_given(p: PAIR):
    s = STORAGE
    k = R.memory.kill_storage(s)
    return s
"""
BETWEEN = """
@R.function(private=True, pure=False)
def {name}_between(p: PAIR) -> PAIR:
    inner = Module.{name}_given(p)
    return {returned}
"""
AGAIN = """
@R.function(private=True, pure=False)
def {name}_given(p: PAIR) -> PAIR:
    q = Module.{name}_given(p)
    k = R.vm.kill_object(q)
    return q
"""
LOOKS = """
@R.function(private=True, pure=False)
def {name}_looks(q: {type}, y: T4):
    return y
"""
MAIN = """
@R.function(pure=False)
def {name}(x: T4, c: R.Tensor((), "bool")):
    t = (x, x)
    {lines}
    return {result}
"""
ONE = "one = Module.{name}_given(t)"
FIELD = "f = {}[0]; z = R.call_tir(Module.double, (f,), T4)"
ALWAYS, NEVER, WHERE_TRUE = {True, False}, set[bool](), {True}
CASES = {
    # The functions, what `main` does, what it returns; the conditions at which it fails; the verdict.
    "a field that is used": (TUPLE, f"{ONE}; {FIELD.format('one')}", "z", ALWAYS, WRONG),
    "a field that is taken": (TUPLE, f"{ONE}; f = one[1]", "x", ALWAYS, WRONG),
    "a field of another name": (TUPLE, f"{ONE}; o = one; r = o; f = r[1]", "x", ALWAYS, WRONG),
    "a field on some paths": (
        TUPLE,
        f"{ONE}; if c:;     f = one[0];     z = f; else:;     z = x",
        "z",
        WHERE_TRUE,
        UNSURE,
    ),
    "a field in each branch": (
        TUPLE,
        f"{ONE}; if c:;     f = one[0];     z = f; else:;     g = one[1];     z = g",
        "z",
        ALWAYS,
        WRONG,
    ),
    "ignored": (TUPLE, ONE, "x", NEVER, UNSURE),
    "another name": (TUPLE, f"{ONE}; o = one", "x", NEVER, UNSURE),
    "in a tuple": (TUPLE, f"{ONE}; o = (one, x); q = o[1]", "q", NEVER, UNSURE),
    "killed again": (TUPLE, f"{ONE}; k = R.vm.kill_object(one)", "x", NEVER, UNSURE),
    "a tensor on it": (ON_STORAGE, f"{ONE}; u = {TENSOR.format('one')}", "x", None, WRONG),
    "given to who does not look": (
        ON_STORAGE + LOOKS.replace("{type}", "R.Object"),
        f"{ONE}; z = Module.{{name}}_looks(one, x)",
        "z",
        NEVER,
        UNSURE,
    ),
    "given to who checks it": (
        TUPLE + LOOKS.replace("{type}", PAIR),
        f"{ONE}; z = Module.{{name}}_looks(one, x)",
        "z",
        None,
        WRONG,
    ),
    "handed on and looked at": (
        TUPLE + BETWEEN.replace("{returned}", "inner"),
        f"one = Module.{{name}}_between(t); {FIELD.format('one')}",
        "z",
        ALWAYS,
        WRONG,
    ),
    "handed on and ignored": (
        TUPLE + BETWEEN.replace("{returned}", "inner"),
        "one = Module.{name}_between(t)",
        "x",
        NEVER,
        UNSURE,
    ),
    "one of two calls": (TUPLE, f"other = Module.{{name}}_given(t); {ONE}; f = one[0]", "x", ALWAYS, UNSURE),
    "by a function that calls itself": (AGAIN, f"{ONE}; f = one[0]", "x", None, UNSURE),
}  # fmt: skip


@cache
def functions() -> str:
    """All programs."""
    text = "".join(
        (inner + MAIN)
        .replace("{lines}", lines.replace("; ", "\n    "))
        .replace("{result}", result)
        .replace("{name}", f"f{number}")
        for number, (inner, lines, result, _, _) in enumerate(CASES.values())
    )
    return KERNELS + text.replace("PAIR", PAIR).replace("T4", T4).replace("STORAGE", STORAGE)


@cache
def machine() -> relax.VirtualMachine:
    """Of all programs."""
    return relax.VirtualMachine(relax.build(parse(functions()), "llvm"), tvm.cpu())


@cache
def verdicts() -> dict[str, Verdict]:
    """What is said of each function that kills."""
    found = checks(parse(functions()), "RLX201")
    return {check.function or "": check.verdict for check in found if "returned" in check.message}


@pytest.mark.parametrize("name", CASES)
def test_a_null_value_that_is_returned(name: str) -> None:
    number = list(CASES).index(name)
    *_, failing, verdict = CASES[name]
    assert verdicts()[f"f{number}_given"] is verdict
    if failing is None:
        # The machine does not survive it.
        return
    failed = set()
    for condition in (True, False):
        given = (np.ones(4, "float32"), np.array(condition))
        try:
            machine()[f"f{number}"](*map(tvm.runtime.tensor, given))
        except (RuntimeError, TypeError):
            failed.add(condition)
    assert failed == failing
