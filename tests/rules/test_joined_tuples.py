"""RLX206 for the fields of tuples that an `If` gives, with what the VM returns.

Each program runs as it is and with every in-place call replaced by one that returns something new: it is wrong
where the two differ.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from textwrap import indent
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

KERNELS = """
@T.prim_func(private=True, s_tir=True)
def double_in_place(x: T.Buffer((T.int64(4),), "float32")):
    for i in range(T.int64(4)):
        x[i] = x[i] * T.float32(2)

@T.prim_func(private=True, s_tir=True)
def double(x: T.Buffer((T.int64(4),), "float32"), y: T.Buffer((T.int64(4),), "float32")):
    for i in range(T.int64(4)):
        y[i] = x[i] * T.float32(2)

@T.prim_func(private=True, s_tir=True)
def copy(x: T.Buffer((T.int64(4),), "float32"), y: T.Buffer((T.int64(4),), "float32")):
    for i in range(T.int64(4)):
        y[i] = x[i]

@R.function(private=True, pure=False)
def pair(p: R.Tensor((4,), "float32"), q: R.Tensor((4,), "float32")):
    return (p, q)
"""
FINE, SOMETIMES, WRONG = "fine", Verdict.NEEDS_RUNTIME_CHECK.value, Verdict.ALWAYS_WRONG.value

USE = 'k2 = R.call_packed("vm.builtin.make_tuple", n, ty_args=R.Tuple)'


@dataclass(frozen=True)
class Case:
    """The lines of the branches and behind them, what is said of each in-place call by the name of what it
    gives, and whether the call is wrong with the condition and without.
    """

    then: str
    other: str
    behind: str
    said: dict[str, str]
    wrong: tuple[bool, bool]


CASES = {
    "the newer name on both ways": Case(
        "n = DOUBLE(a); t = (n, a)", "e = DOUBLE(a); t = (e, a)", "w = t[0]", {}, (False, False)
    ),
    "the older name on both ways": Case(
        "n = DOUBLE(a); t = (n, a)",
        "e = DOUBLE(a); t = (e, a)",
        "w = t[1]",
        {"n": WRONG, "e": WRONG},
        (True, True),
    ),
    "both of another order, the newer one": Case(
        "n = DOUBLE(a); t = (n, a)", "e = DOUBLE(a); t = (a, e)", "w = t[0]", {"e": WRONG}, (False, True)
    ),
    "both of another order, the other one": Case(
        "n = DOUBLE(a); t = (n, a)", "e = DOUBLE(a); t = (a, e)", "w = t[1]", {"n": WRONG}, (True, False)
    ),
    "doubled before, and one way has the older name": Case(
        "t = (d, b)", "t = (a, b)", "w = t[0]", {"d": SOMETIMES}, (False, True)
    ),
    "doubled before, and the older name is another field": Case(
        "t = (d, a)", "t = (d, a)", "w = t[0]", {}, (False, False)
    ),
    "doubled before, and the older name is the field": Case(
        "t = (d, a)", "t = (d, a)", "w = t[1]", {"d": WRONG}, (True, True)
    ),
    "doubled behind, swapped": Case(
        "t = (a, b)", "t = (b, a)", "n = DOUBLE(a); w = t[0]", {"n": SOMETIMES}, (True, False)
    ),
    "doubled behind, in one order": Case(
        "t = (a, b)", "t = (a, b)", f"n = DOUBLE(a); {USE}; w = t[0]", {"n": WRONG}, (True, True)
    ),
    "doubled behind, the other field": Case(
        "t = (a, b)", "t = (a, b)", "n = DOUBLE(a); w = t[1]", {}, (False, False)
    ),
    "doubled behind, both fields are one tensor": Case(
        "t = (a, a)", "t = (a, a)", f"n = DOUBLE(a); {USE}; w = t[1]", {"n": WRONG}, (True, True)
    ),
    "a tuple in a tuple": Case(
        "n = DOUBLE(a); t = (b, (n, a))",
        "e = DOUBLE(a); t = (b, (e, a))",
        "q = t[1]; w = q[0]",
        {},
        (False, False),
    ),
    "a tuple in a tuple, the older name": Case(
        "n = DOUBLE(a); t = (b, (n, a))",
        "e = DOUBLE(a); t = (b, (e, a))",
        "q = t[1]; w = q[1]",
        {"n": WRONG, "e": WRONG},
        (True, True),
    ),
    "another name for the tuple": Case(
        "n = DOUBLE(a); t = (n, a)",
        "e = DOUBLE(a); t = (e, a)",
        "u = t; w = u[1]",
        {"n": WRONG, "e": WRONG},
        (True, True),
    ),
    "the tuple in another one": Case(
        "n = DOUBLE(a); t = (n, a)",
        "e = DOUBLE(a); t = (e, a)",
        "u = (b, t); q = u[1]; w = q[0]",
        {},
        (False, False),
    ),
    "a branch inside of a branch": Case(
        "if k: u = (d, a); else: u = (d, b); t = (u[0], b)", "t = (d, a)", "w = t[0]", {}, (False, False)
    ),
    "what a call gives in one branch": Case(
        "t = Module.pair(d, b)", "t = (d, b)", "w = t[0]", {}, (False, False)
    ),
    "what a call gives in one branch, the older name": Case(
        "t = Module.pair(d, a)", "t = (d, a)", "w = t[1]", {"d": SOMETIMES}, (True, True)
    ),
}


def _text(case: Case) -> str:
    type_ = 'R.Tensor((4,), "float32")'
    doubled = rf"R.call_tir_inplace(Module.double_in_place, (\1,), inplace_indices=[0], out_ty={type_})"
    lines = [
        f"a = R.call_tir(Module.copy, (x,), out_ty={type_})",
        f"b = R.call_tir(Module.copy, (y,), out_ty={type_})",
        *(["d = DOUBLE(a)"] if re.search(r"\bd\b", case.then + case.other) else []),
        "if c:",
        indent(_lines(case.then), "    "),
        "else:",
        indent(_lines(case.other), "    "),
        _lines(case.behind),
        f"r = R.call_tir(Module.copy, (w,), out_ty={type_})",
        "return r",
    ]
    body = indent(re.sub(r"DOUBLE\((\w+)\)", doubled, "\n".join(lines)), "    ")
    head = f"@R.function(pure=False)\ndef main(x: {type_}, y: {type_}, c: R.Tensor((), 'bool'), k: R.Tensor((), 'bool')):\n"
    return f"{KERNELS}\n{head}{body}\n"


def _lines(code: str) -> str:
    inner = re.fullmatch(r"if k: (.*); else: (.*?); (.*)", code)
    if inner is not None:
        return "if k:\n    {}\nelse:\n    {}\n{}".format(*inner.groups())
    return code.replace("; ", "\n")


def _run(module: Any, condition: bool) -> list[float]:
    machine = relax.VirtualMachine(tvm.compile(module, "llvm", relax_pipeline="default"), tvm.cpu())
    x, y = np.arange(1, 5, dtype="float32"), np.arange(11, 15, dtype="float32")
    given = (x, y, np.array(condition), np.array(True))
    return list(machine["main"](*map(tvm.runtime.tensor, given)).numpy())


@pytest.mark.vm
@pytest.mark.parametrize("name", CASES)
def test_each_field_is_followed_by_itself(name: str) -> None:
    case = CASES[name]
    text = _text(case)
    meant = text.replace("call_tir_inplace(Module.double_in_place", "call_tir(Module.double").replace(
        "inplace_indices=[0], ", ""
    )
    module, apart = parse(text), parse(meant)
    said = {
        str(check.binding): check.verdict.value
        for check in checks(module, "RLX206")
        if check.function == "main" and check.verdict is not Verdict.ALWAYS_FINE
    }
    assert said == case.said
    assert tuple(_run(module, c) != _run(apart, c) for c in (True, False)) == case.wrong
