"""Tensors that share a storage, written over and filled again, on some paths or on all. The machine computes the same
with a storage for each tensor: where the results differ, something was wrong.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, STORAGE, T4, TENSOR

FINE, UNSURE, WRONG = Verdict.ALWAYS_FINE, Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
MORE = """
@T.prim_func(private=True, s_tir=True)
def half(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(2):
        y[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def first(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i // 2]

@T.prim_func(private=True, s_tir=True)
def middle(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i // 2 + 1]
"""
FUNCTION = """
@R.function(pure=False)
def {name}(x: T4, c: R.Tensor((), "bool"), d: R.Tensor((), "bool")):
    s = STORAGE
    s2 = STORAGE
    {lines}
    return z
"""


def lines(text: str) -> str:
    """`a = on s` puts a tensor on a storage; a bar begins another line; `v = c ? a : b` chooses."""
    text = re.sub(r"(\w+) = on (\w+)", lambda m: f"{m[1]} = {TENSOR.format(m[2])}", text)
    text = re.sub(r"(\w+) := (\w+)\((.+?)\)", r"\1 = R.call_tir(Module.\2, (\3,), T4)", text)
    text = re.sub(r"(\w+) -> (\w+)\((.+?)\)", r"\1 = Module.\2(\3)", text)
    text = re.sub(r"if (\w): (.+?) else: ([^|]+)", _branches, text)
    return re.sub(r" *\| *", "\n    ", text).replace("~", "\n        ")


def _branches(found: re.Match[str]) -> str:
    condition, then, otherwise = (part.strip().replace("; ", "~") for part in found.groups())
    return f"if {condition}:~{then} | else:~{otherwise} "


A_B = "a = on s | w1 -> double(x, a) | b = on s2 | w2 -> double(x, b)"
CHOSEN = "if c: v0 = a; v = v0 else: v0 = b; v = v0"
OVER = "a2 = on s | w3 -> add(x, x, a2) | b2 = on s2 | w4 -> add(x, x, b2)"
CASES = [
    # Over one tensor twice: what fills a part of it again may be all that is read.
    (
        "a = on s | w -> double(x, a) | b = on s | w1 -> double(x, b) | w2 -> add(x, x, b)"
        " | w3 -> half(x, a) | z := first(a)",
        FINE,
    ),
    (
        "a = on s | w -> double(x, a) | b = on s | w1 -> double(x, b) | w2 -> add(x, x, b)"
        " | w3 -> half(x, a) | z := middle(a)",
        UNSURE,
    ),
    (
        "a = on s | w -> double(x, a) | b = on s | w1 -> double(x, b) | w2 -> add(x, x, b)"
        " | w3 -> double(x, a) | z := first(a)",
        FINE,
    ),
    # A tensor that there is on some paths only.
    ("if c: a = on s; w -> double(x, a); v = a else: v = x | b = on s | w1 -> add(x, x, b) | z := add(v, b)", UNSURE),
    # Either of two tensors, by one name, in both branches of an `If`.
    (f"{A_B} | {CHOSEN} | {OVER} | if d: w5 -> double(x, v); o = x else: w6 -> double(x, v); o = x | z := add(v, o)", FINE),
    (f"{A_B} | {CHOSEN} | {OVER} | if d: w5 -> double(x, v); o = x else: w6 -> half(x, v); o = x | z := add(v, o)", UNSURE),
    (f"{A_B} | {CHOSEN} | {OVER} | if d: w5 -> half(x, v); o = x else: w6 -> double(x, v); o = x | z := add(v, o)", UNSURE),
    (
        f"{A_B} | {CHOSEN} | {OVER}"
        " | if d: w5 -> half(x, v); w7 -> double(x, v); o = x else: w6 -> double(x, v); o = x | z := add(v, o)",
        FINE,
    ),
]  # fmt: skip


def functions() -> str:
    """All programs, by number."""
    programs = [
        FUNCTION.format(name=f"f{number}", lines=lines(text)) for number, (text, _) in enumerate(CASES)
    ]
    return KERNELS + MORE + "".join(programs).replace("T4", T4).replace("STORAGE", STORAGE)


def machine(text: str) -> relax.VirtualMachine:
    """Of a module."""
    return relax.VirtualMachine(relax.build(parse(text), "llvm"), tvm.cpu())


@cache
def machines() -> tuple[relax.VirtualMachine, relax.VirtualMachine]:
    """As the programs are, and with a storage for each tensor."""
    apart = re.sub(
        r"R\.memory\.alloc_tensor\(\w+, .*", 'R.builtin.alloc_tensor(R.shape([4]), "float32", 0)', functions()
    )
    return machine(functions()), machine(apart)


def differs(name: str) -> set[bool]:
    """Whether what is computed differs, for each way through a program."""
    found = set()
    for truths in product((True, False), repeat=2):
        given: list[Any] = [np.arange(1, 5, dtype="float32"), *map(np.array, truths)]
        one, other = (each[name](*map(tvm.runtime.tensor, given)).numpy().tolist() for each in machines())
        found.add(one != other)
    return found


@cache
def verdicts() -> dict[str, set[Verdict]]:
    """Those of each function."""
    found: dict[str, set[Verdict]] = {}
    for check in checks(parse(functions()), "RLX203"):
        found.setdefault(check.function or "", set()).add(check.verdict)
    return found


@pytest.mark.parametrize("number", range(len(CASES)))
def test_what_is_said_of_a_storage_that_is_shared(number: int) -> None:
    said, real = verdicts()[f"f{number}"] - {FINE} or {FINE}, differs(f"f{number}")
    assert said == {CASES[number][1]}
    assert real != {True} if said == {UNSURE} else real == {said == {WRONG}}
