"""RLX203, RLX205, RLX206 of tensors that are written again in parts and read several times: one read, or one view, of
what is good does not speak for the others. All that is right returns ones only.
"""

from __future__ import annotations

from textwrap import indent

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

FINE, UNSURE, WRONG = Verdict.ALWAYS_FINE, Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
STORAGE = 'R.memory.alloc_storage(R.shape([32]), R.prim_value(0), R.str("global"), R.dtype("float32"))'
ON = 'R.memory.alloc_tensor(s, R.prim_value(0), R.shape([8]), R.dtype("float32"))'
T8 = 'R.Tensor((8,), "float32")'
KERNELS = {
    "fill": ("8", "8", "y[i] = T.float32(1)"),
    "sevens": ("8", "8", "y[i] = T.float32(7)"),
    "low": ("8", "4", "y[i] = T.float32(1)"),
    "high": ("8", "4", "y[i + 4] = T.float32(1)"),
    "zeros_high": ("8", "4", "y[i + 4] = T.float32(0)"),
    "thrice": ("8", "8", "y[i] = y[i] * T.float32(3)"),
    "first_two": ("4", "2", "y[i] = T.float32(1)"),
    "last_two": ("4", "2", "y[i + 2] = T.float32(1)"),
    "of_low": ("8", "4", "o[i] = y[i]"),
    "of_all": ("8", "8", "o[i] = y[i]"),
}
BEGIN = f"s = {STORAGE}; y = {ON}; k0 = Module.fill(y)"
OVER = f"z = {ON}; k1 = Module.sevens(z)"
IN_PLACE = f"b = R.call_tir_inplace(Module.thrice, (y,), [0], out_ty={T8})"
HIGH_IN_PLACE = f"b = R.call_tir_inplace(Module.zeros_high, (y,), [0], out_ty={T8})"
OF_LOW = "o4 = NEW(4); k3 = Module.of_low(y, o4)"
OF_ALL = "o = NEW(8); k4 = Module.of_all(y, o)"
PARTS = "y = NEW(8); v = VIEW(y, 4, 0); w = VIEW(y, 4, 16); k0 = Module.first_two(v); k1 = Module.last_two(v)"
IN_BRANCHES = "if c:;  k2 = Module.low(y);  k5 = Module.high(y);  r = Module.of_all(y, o);else:;  OTHER"
LATER = "k2 = Module.low(y);  r = Module.of_all(y, o)"
CASES = {
    # By the rule: what is done, and what is said of it.
    "RLX203": {
        f"{BEGIN}; {OVER}; k2 = Module.low(y); {OF_LOW}; return o4": FINE,
        f"{BEGIN}; {OVER}; k2 = Module.low(y); {OF_LOW}; {OF_ALL}; return (o4, o)": UNSURE,
        f"{BEGIN}; {OVER}; k2 = Module.low(y); {OF_ALL}; {OF_LOW}; return (o4, o)": UNSURE,
        f"{BEGIN}; {OVER}; k2 = Module.low(y); {OF_LOW}; return (o4, y)": UNSURE,
        f"{BEGIN}; {OVER}; k2 = Module.low(y); {OF_LOW}; k5 = Module.high(y); {OF_ALL}; return (o4, o)": FINE,
        f"{BEGIN}; {OVER}; o = NEW(8); {IN_BRANCHES.replace('OTHER', LATER)}; return o": UNSURE,
        f"{BEGIN}; {OVER}; o = NEW(8); {IN_BRANCHES.replace('OTHER', f'k6 = Module.high(y);  {LATER}')}; "
        "return o": FINE,
    },
    "RLX206": {
        f"{BEGIN}; {IN_PLACE}; k2 = Module.low(y); {OF_LOW}; return o4": FINE,
        f"{BEGIN}; {IN_PLACE}; k2 = Module.low(y); {OF_LOW}; {OF_ALL}; return (o4, o)": UNSURE,
        f"{BEGIN}; {IN_PLACE}; o = NEW(8); {IN_BRANCHES.replace('OTHER', 'r = Module.of_all(y, o)')}; return o": UNSURE,
        # Only what is written in place is another one then.
        f"{BEGIN}; {HIGH_IN_PLACE}; v = VIEW(y, 4, 0); k2 = Module.high(b); return (v, b)": UNSURE,
        f"{BEGIN}; {HIGH_IN_PLACE}; v = VIEW(y, 4, 8); return (v, b)": WRONG,
        f"{BEGIN}; {HIGH_IN_PLACE}; v = VIEW(y, 4, 16); return (v, b)": WRONG,
    },
    "RLX205": {
        f"{PARTS}; return v": FINE,
        f"{PARTS}; return (v, w)": UNSURE,
        f"{PARTS}; return (w, v)": UNSURE,
        f"{PARTS}; d = R.concat((v, y)); return d": UNSURE,
        f"{PARTS}; k2 = Module.high(y); return (v, w, y)": FINE,
        "y = NEW(8); v = VIEW(y, 0, 0); return (v, y)": WRONG,
        "y = NEW(8); v = VIEW(y, 0, 0); d = R.concat((v, y)); return d": WRONG,
        "y = NEW(8); v = VIEW(y, 0, 0); return v": FINE,
        "y = NEW(8); v = VIEW(y, 4, 0); k0 = Module.low(y); return v": FINE,
        "y = NEW(8); v = VIEW(y, 4, 0); k0 = Module.low(y); a = R.minimum(v, v); return a": FINE,
        "y = NEW(8); v = VIEW(y, 4, 8); k0 = Module.low(y); return v": UNSURE,
    },
}


def _lines(body: str) -> str:
    for name, text in (
        ("NEW", 'R.builtin.alloc_tensor(R.shape([{}]), R.dtype("float32"), R.prim_value(0))'),
        ("VIEW", 'R.memory.view({}, R.shape([{}]), R.dtype("float32"), R.prim_value({}))'),
    ):
        before, *calls = body.split(f"{name}(")
        body = before
        for call in calls:
            arguments, _, rest = call.partition(")")
            body += text.format(*arguments.split(", ")) + rest
    return "\n".join(line.replace("  ", "    ") if line[:1] == " " else line.strip() for line in _split(body))


def _split(body: str) -> list[str]:
    """Lines that begin with two spaces are in a branch."""
    return [line if line.startswith(("  ", "else")) else line.strip() for line in body.split(";")]


def _text(rule: str) -> str:
    texts = []
    for name, (size, steps, line) in KERNELS.items():
        output = f", o: T.Buffer(({steps},), 'float32')" if "o[" in line else ""
        texts.append(
            f"@T.prim_func(private=True, s_tir=True)\ndef {name}(y: T.Buffer(({size},), 'float32'){output}):\n"
            f"    for i in range({steps}):\n        {line}\n"
        )
    for number, body in enumerate(CASES[rule]):
        texts.append(
            f"@R.function(pure=False)\ndef main_{number}(c: R.Tensor((), 'bool')):\n{indent(_lines(body), '    ')}\n"
        )
    return "\n".join(texts)


@pytest.mark.parametrize("rule", CASES)
def test_each_read_counts(rule: str) -> None:
    found = checks(parse(_text(rule)), rule)
    for number, (body, verdict) in enumerate(CASES[rule].items()):
        said = {one.verdict for one in found if one.function == f"main_{number}"}
        worst = next(one for one in (WRONG, UNSURE, FINE) if one in said)
        assert worst is verdict, body


@pytest.mark.vm
@pytest.mark.parametrize("rule", CASES)
def test_the_machine_returns_ones_where_it_is_fine(rule: str) -> None:
    machine = relax.VirtualMachine(tvm.compile(parse(_text(rule)), "llvm"), tvm.cpu())
    for number, (body, verdict) in enumerate(CASES[rule].items()):
        results = [
            result.numpy()
            for condition in (True, False)
            for result in _all(machine[f"main_{number}"](tvm.runtime.tensor(np.array(condition))))
        ]
        are_ones = all((one == 1).all() for one in results)
        if verdict is FINE or rule != "RLX205":
            # What nobody wrote may be one by chance.
            assert are_ones == (verdict is FINE or "k2 = Module.high(b)" in body), body


def _all(given: object) -> list[tvm.runtime.Tensor]:
    return [given] if isinstance(given, tvm.runtime.Tensor) else [one for part in given for one in _all(part)]  # type: ignore[attr-defined]


RELIED_ON = """
@T.prim_func(private=True, s_tir=True)
def first(y: T.Buffer((8,), "float32")):
    y[0] = T.float32(1)

@T.prim_func(private=True, s_tir=True)
def behind(x_: T.handle, y: T.Buffer((8,), "float32")):
    p = T.int64()
    x = T.match_buffer(x_, (p,), "float32")
    for i in range(p):
        y[i + 1] = x[i]

@T.prim_func(private=True, s_tir=True)
def of_all(y: T.Buffer((8,), "float32"), o: T.Buffer((8,), "float32")):
    for i in range(8):
        o[i] = y[i]

@R.function(pure=False)
def main(GIVEN):
    x = FROM
    y = R.builtin.alloc_tensor(R.shape([8]), R.dtype("float32"), R.prim_value(0))
    o = R.builtin.alloc_tensor(R.shape([8]), R.dtype("float32"), R.prim_value(0))
    k0 = Module.first(y)
    k1 = Module.behind(x, y)
    k2 = Module.of_all(y, o)
    return o
"""


def test_parts_rely_on_the_types_that_say_how_large_they_are() -> None:
    """What a packed function returns nobody compares with its type."""
    unchecked = ("", 'R.call_packed("tests.make", ty_args=R.Tensor((7,), "float32"))')
    checked = ('z: R.Tensor((7,), "float32")', "z")
    for (given, source), is_assumed in ((unchecked, True), (checked, False)):
        text = RELIED_ON.replace("GIVEN", given).replace("FROM", source)
        said = [one for one in checks(parse(text), "RLX205") if "`y`" in one.message]
        assert {one.verdict for one in said} == {FINE}
        assert any("`x`" in assumed for one in said for assumed in one.assumes) == is_assumed
