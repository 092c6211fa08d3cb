"""What `FuseTIR` leaves out beside what nothing names: fields of tuples, casts that a type proves, arguments that a
function does nothing with, what only inner functions use that nobody calls, and functions whose results nobody uses.
Each with the VM, and a twin that needs it.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

UNSURE, WRONG = Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
T4 = 'R.Tensor((4,), "float32")'
BEYOND = 'R.memory.alloc_tensor(s, R.prim_value(8192), R.shape([4]), R.dtype("float32"))'
STORAGE = 's = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'
TEXT = """
@R.function(private=True)
def second(p: T4, q: T4) -> T4:
    return q

@R.function(private=True, pure=False)
def second_with_effects(p: T4, q: T4) -> T4:
    k = R.print(q, format="{}")
    return q

@R.function(private=True)
def both(p: T4, q: T4) -> T4:
    r = R.add(p, q)
    return r

@R.function(private=True)
def beyond(p: T4) -> T4:
    STORAGE
    u = BEYOND
    r = R.add(u, p)
    return r

@R.function(private=True)
def calls_it(p: T4) -> T4:
    r = Module.beyond(p)
    return r

@R.function(pure=False)
def main(x: T4, c: R.Tensor((), "bool")):
    STORAGE
    LINES
"""
INNER = "@R.function\ndef inner(y: T4) -> T4:\n    r = R.add(y, u)\n    return r\n"
CASES: dict[str, tuple[str, str]] = {
    # Where nothing needs `u`, and where something does.
    "a field": ("u = BEYOND\nt = (u, x)\nr = t[1]\nreturn r", "u = BEYOND\nt = (u, x)\nr = t[0]\nreturn r"),
    "a field by another name": (
        "u = BEYOND\nt = (u, x)\nv = t\nr = v[1]\nreturn r",
        "u = BEYOND\nt = (u, x)\nv = t\nr = v[0]\nreturn r",
    ),
    "a field of a field": (
        "u = BEYOND\nt = (u, x)\nv = (x, t)\nw = v[1]\nr = w[1]\nreturn r",
        "u = BEYOND\nt = (u, x)\nv = (x, t)\nw = v[1]\nr = w[0]\nreturn r",
    ),
    "a field in a branch": (
        "u = BEYOND\nt = (u, x)\nif c:\n    r = t[1]\nelse:\n    r = x\nreturn r",
        "u = BEYOND\nt = (u, x)\nif c:\n    v = t\nelse:\n    v = t\nr = v[1]\nreturn r",
    ),
    "a cast": (
        'u = BEYOND\nm = T.int64()\nr = R.match_cast(u, R.Tensor((m,), "float32"))\nreturn x',
        'u = BEYOND\nr = R.match_cast(u, R.Tensor(ndim=1, dtype="float32"))\nreturn x',
    ),
    "a cast to the same": (
        "u = BEYOND\nr = R.match_cast(u, T4)\nreturn x",
        "u = BEYOND\nr = R.match_cast(u, T4)\nreturn r",
    ),
    "a cast of a tuple": (
        "u = BEYOND\nt = (u, x)\nr = R.match_cast(t, R.Tuple(T4, T4))\nreturn x",
        "u = BEYOND\nt = (u, x)\nr = R.match_cast(t, R.Tuple(T4, T4))\nreturn r",
    ),
    "an argument": (
        "u = BEYOND\nr = Module.second(u, x)\nreturn r",
        "u = BEYOND\nr = Module.both(u, x)\nreturn r",
    ),
    "an argument of what has effects": (
        "u = BEYOND\nr = Module.second_with_effects(u, x)\nreturn x",
        "u = BEYOND\nr = Module.second_with_effects(x, u)\nreturn x",
    ),
    "the shape": (
        "u = BEYOND\nr = R.zeros_like(u)\nreturn r",
        "u = BEYOND\nr = R.add(R.zeros_like(u), u)\nreturn r",
    ),
    "an inner function": (f"u = BEYOND\n{INNER}return x", f"u = BEYOND\n{INNER}r = inner(x)\nreturn r"),
    "an inner function whose result nobody uses": (
        f"u = BEYOND\n{INNER}r = inner(x)\nreturn x",
        f"u = BEYOND\n{INNER}@R.function\ndef outer(y: T4) -> T4:\n    r = inner(y)\n    return r\nr = outer(x)\nreturn r",
    ),
    "a function": ("r = Module.beyond(x)\nreturn x", "r = Module.beyond(x)\nreturn r"),
    "a function of a function": ("r = Module.calls_it(x)\nreturn x", "r = Module.calls_it(x)\nreturn r"),
}


def _module(lines: str) -> Any:
    text = TEXT.replace("LINES", lines.replace("\n", "\n    ")).replace("STORAGE", STORAGE)
    return parse(text.replace("BEYOND", BEYOND).replace("T4", T4))


def _said(lines: str) -> set[Verdict]:
    """What is said of the tensor beyond its storage, in the functions that lead to it."""
    found = checks(_module(lines), "RLX101")
    within = "main" if "BEYOND" in lines else "beyond"
    return {check.verdict for check in found if check.function == within} & {UNSURE, WRONG}


def _fails(lines: str) -> bool:
    """Whether a run of what the pipeline of a target builds ends with an error."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            target = tvm.target.Target("llvm")
            lifted = relax.transform.LambdaLift()(_module(lines))
            pipeline = relax.get_default_pipeline(target)
            machine = relax.VirtualMachine(relax.build(lifted, target, relax_pipeline=pipeline), tvm.cpu())
            machine["main"](*map(tvm.runtime.tensor, (np.ones(4, "float32"), np.array(True))))
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] != 0


@pytest.mark.vm
@pytest.mark.parametrize("name", CASES)
def test_what_nothing_needs_is_not_always_wrong(name: str) -> None:
    unused, used = CASES[name]
    assert _said(unused) == {UNSURE}
    assert not _fails(unused)
    assert _said(used) == {WRONG}
    assert _fails(used)


@pytest.mark.parametrize("lines", ["r = Module.calls_it(x)\nu = BEYOND\nt = (u, r)\nq = t[1]\nreturn q"])
def test_a_function_whose_result_is_needed_is_kept(lines: str) -> None:
    assert _said(lines) == {UNSURE}
    found = checks(_module(lines), "RLX101")
    assert {check.verdict for check in found if check.function == "beyond"} == {WRONG}


def test_a_function_that_leads_to_itself_is_kept() -> None:
    again = """
@R.function(private=True)
def again(p: T4, q: T4, c: R.Tensor((), "bool")) -> T4:
    STORAGE
    u = BEYOND
    if c:
        r = Module.again(u, q, c)
    else:
        r = R.add(p, q)
    return r
"""
    text = again + TEXT.replace("LINES", "r = Module.again(x, x, c)\n    return r")
    module = parse(text.replace("STORAGE", STORAGE).replace("BEYOND", BEYOND).replace("T4", T4))
    found = [check for check in checks(module, "RLX101") if check.function == "again"]
    assert {check.verdict for check in found} == {WRONG}
