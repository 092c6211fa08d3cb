"""RLX205 of a tensor that nobody wrote, on a storage on which another function may have written: what is there is
known to nobody here, and may be what is meant to be read.
"""

from __future__ import annotations

from textwrap import indent

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, STORAGE, T4, TENSOR

UNSURE, WRONG = Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
ON = TENSOR.format("s")
COPY = f"b = {ON}; r = R.call_tir(Module.double, (b,), out_ty={T4}); return r"
FUNCTIONS = f"""
@R.function(pure=False, private=True)
def puts(s: R.Object, x: {T4}) -> {T4}:
    t = {ON}
    k = Module.double(x, t)
    return t

@R.function(pure=False, private=True)
def reads(s: R.Object) -> {T4}:
    t = {ON}
    r = R.call_tir(Module.double, (t,), out_ty={T4})
    return r

@R.function(pure=False, private=True)
def makes(x: {T4}) -> R.Object:
    s = {STORAGE}
    t = {ON}
    k = Module.double(x, t)
    return s
"""
CASES = {
    f"s = {STORAGE}; a = Module.puts(s, x); {COPY}": UNSURE,
    f"s = {STORAGE}; q = {STORAGE}; a = Module.puts(q, x); {COPY}": WRONG,
    f"s = {STORAGE}; t = {ON}; k = Module.double(x, t); r = Module.reads(s); return r": UNSURE,
    f"s = {STORAGE}; a = Module.puts(s, x); r = Module.reads(s); return r": UNSURE,
    f"s = Module.makes(x); {COPY}": UNSURE,
    f"s = {STORAGE}; {COPY}": WRONG,
}


def _text() -> str:
    mains = (
        f"@R.function(pure=False)\ndef main_{number}(x: {T4}):\n{indent(body.replace('; ', chr(10)), '    ')}\n"
        for number, body in enumerate(CASES)
    )
    return KERNELS + FUNCTIONS + "\n".join(mains)


def test_what_another_function_left_may_be_meant() -> None:
    found = checks(parse(_text()), "RLX205")
    inside = {one.verdict for one in found if one.function == "reads"}
    assert inside == {UNSURE}
    for number, (body, verdict) in enumerate(CASES.items()):
        said = {one.verdict for one in found if one.function == f"main_{number}"} - {Verdict.ALWAYS_FINE}
        assert said == ({verdict} if "Module.reads" not in body else set()), body


@pytest.mark.vm
def test_the_machine_reads_what_was_left() -> None:
    machine = relax.VirtualMachine(tvm.compile(parse(_text()), "llvm"), tvm.cpu())
    given = np.array([1, 2, -3, 4], "float32")
    for number, (body, verdict) in enumerate(CASES.items()):
        if verdict is UNSURE:
            result = machine[f"main_{number}"](tvm.runtime.tensor(given)).numpy()
            assert (result == 4 * given).all(), body
