"""RLX203 of a tensor that is read in every run by a kernel that carries a value through many steps, in which it
gets lost: halved or doubled often enough every number is nothing. Beside each of these stands one like it in which
something is left; and kernels that assert something, or are given a number besides tensors.
"""

from __future__ import annotations

from textwrap import indent

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.any_size import of_any_size, of_size
from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, STORAGE, T4, TENSOR
from tests.rules.test_what_comes_to_the_same import BYTES

UNSURE, WRONG = Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
LOOP = "for k in range({}):\n    {}"
OWN = 'o = T.alloc_buffer((1,), "{dtype}")\no[0] = {first}\nfor k in range({count}):\n    {step}\ny[i] = o[0]'
BOTH = (
    'o = T.alloc_buffer((1,), "int32")\ny[i] = x[i]\nfor k in range({}):\n    o[0] = y[i]\n    y[i] = o[0] {}'
)
KERNELS_OF = {
    # By the type of the elements: what is done with each of them, and whether anything is left of it.
    "doubled 40 times": ("int32", "y[i] = x[i]\n" + LOOP.format(40, "y[i] = y[i] * 2"), UNSURE),
    "doubled 20 times": ("int32", "y[i] = x[i]\n" + LOOP.format(20, "y[i] = y[i] * 2"), WRONG),
    "doubled and added": ("int32", "y[i] = x[i]\n" + LOOP.format(40, "y[i] = y[i] * 2 + x[i]"), WRONG),
    "added to itself": ("int32", "y[i] = x[i]\n" + LOOP.format(100, "y[i] = y[i] + y[i]"), UNSURE),
    "tripled 9 times": ("int32", "y[i] = x[i]\n" + LOOP.format(9, "y[i] = y[i] * 3"), WRONG),
    "shifted": ("int32", "y[i] = x[i]\n" + LOOP.format(100_000, "y[i] = y[i] * 256"), UNSURE),
    "halved 200 times": (
        "float32",
        "y[i] = x[i]\n" + LOOP.format(200, "y[i] = y[i] * T.float32(0.5)"),
        UNSURE,
    ),
    "halved 10 times": (
        "float32",
        "y[i] = x[i]\n" + LOOP.format(10, "y[i] = y[i] * T.float32(0.5)"),
        WRONG,
    ),
    "summed 1,000 times": ("int32", "y[i] = 0\n" + LOOP.format(1_000, "y[i] = y[i] + x[i]"), WRONG),
    "summed in a byte": (
        "int32",
        OWN.format(
            dtype="int8", first="T.int8(0)", count=256, step='o[0] = o[0] + T.Cast("int8", x[i])'
        ).replace("y[i] = o[0]", 'y[i] = T.Cast("int32", o[0])'),
        UNSURE,
    ),
    "summed in two": (
        "int32",
        OWN.format(
            dtype="int16", first="T.int16(0)", count=256, step='o[0] = o[0] + T.Cast("int16", x[i])'
        ).replace("y[i] = o[0]", 'y[i] = T.Cast("int32", o[0])'),
        WRONG,
    ),
    "largest": ("int32", "y[i] = 0\n" + LOOP.format(1_000, "y[i] = T.max(y[i], T.abs(x[i]))"), WRONG),
    "in a buffer": (
        "int32",
        OWN.format(dtype="int32", first="x[i]", count=32, step="o[0] = o[0] * 2"),
        UNSURE,
    ),
    "in a buffer, less": (
        "int32",
        OWN.format(dtype="int32", first="x[i]", count=9, step="o[0] = o[0] * 2"),
        WRONG,
    ),
    "through a buffer": ("int32", BOTH.format(64, "* 2"), UNSURE),
    "through a buffer, less": ("int32", BOTH.format(9, "* 2"), WRONG),
    "of each step anew": ("int32", LOOP.format(100, "y[i] = x[i] * 2"), WRONG),
    "asked and lost": ("int32", 'assert -5000 < x[i], "no"\ny[i] = x[i] * 0', UNSURE),
    "asked and lost in some sizes": ("int32", 'assert SIZE % 2 == 0, "no"\ny[i] = x[i] * 0', UNSURE),
    "asked and kept in some sizes": ("int32", 'assert SIZE % 2 == 0, "no"\ny[i] = x[i] * 1', WRONG),
    "asked and kept": ("int32", 'assert -5000 < x[i], "no"\ny[i] = x[i] * 1', WRONG),
}
HEAD = """
@T.prim_func(private=True, s_tir=True)
def kernel_NUMBER(x: T.Buffer((4,), "DTYPE"), y: T.Buffer((4,), "DTYPE")):
    for i in range(4):
        BODY
"""
MAIN = f"""
@R.function(pure=False)
def main_NUMBER(x: {T4}, y: {T4}):
    s = {STORAGE}
    t = {TENSOR.format("s")}
    k0 = Module.double(y, t)
    v = {TENSOR.format("OTHER")}
    k1 = Module.double(x, v)
    k2 = Module.double(v, y)
    u = R.astype(t, "DTYPE")
    a = R.call_tir(Module.kernel_NUMBER, (u,), out_ty=R.Tensor((4,), "DTYPE"))
    return a
"""


def _text(*, damaged: bool, size: str = "4") -> str:
    texts = [KERNELS]
    for number, (dtype, body, _) in enumerate(KERNELS_OF.values()):
        text = (HEAD + MAIN).replace("BODY", indent(body, " " * 8).strip())
        text = text.replace("NUMBER", f"{number}").replace("DTYPE", dtype)
        texts.append(text.replace("OTHER", "s" if damaged else STORAGE).replace("SIZE", size))
    return "".join(texts)


def _said(text: str) -> dict[str, tuple[Verdict, str | None]]:
    found = checks(parse(text), "RLX203")
    by_function = {one.function: (one.verdict, one.safe_when) for one in found if one.binding == "k1"}
    return {name: by_function[f"main_{number}"] for number, name in enumerate(KERNELS_OF)}


def test_what_gets_lost_on_the_way_is_not_always_wrong() -> None:
    wanted = {name: (verdict, None) for name, (_, _, verdict) in KERNELS_OF.items()}
    assert _said(_text(damaged=True)) == wanted


def test_what_gets_lost_in_each_of_many_elements() -> None:
    """Of such a kernel only some steps are carried out."""
    wanted = {name: (verdict, None) for name, (_, _, verdict) in KERNELS_OF.items()}
    assert _said(of_size(3_000)(_text(damaged=True))) == wanted


def test_of_tensors_of_any_size_too() -> None:
    said = _said(of_any_size(_text(damaged=True, size="n")))
    # Without elements all is right.
    wanted = {name: "n <= 0" if verdict is WRONG else None for name, (_, _, verdict) in KERNELS_OF.items()}
    assert {name: safe_when for name, (_, safe_when) in said.items()} == wanted


@pytest.mark.vm
def test_the_machine_returns_what_is_right_for_these_only() -> None:
    machines = [
        relax.VirtualMachine(tvm.compile(parse(_text(damaged=damaged)), "llvm"), tvm.cpu())
        for damaged in (True, False)
    ]
    for number, (name, (_, _, verdict)) in enumerate(KERNELS_OF.items()):
        given = [np.array(one, "float32") for one in ([1, 2, -3, 4], [-30, 10, 50, 20])]
        answers = [one[f"main_{number}"](*map(tvm.runtime.tensor, given)).numpy() for one in machines]
        assert np.allclose(*answers) == (verdict is UNSURE), name


STEPS = """
@T.prim_func(private=True, s_tir=True)
def steps(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (4,), "int32")
    y = T.match_buffer(b, (4, n), "int32")
    for i in range(4):
        y[i, 0] = x[i]
        for k in range(n):
            y[i, 0] = y[i, 0] * BY
"""


@pytest.mark.parametrize(("by", "is_sure"), [(2, False), (3, True)])
def test_as_many_steps_as_a_size_says(by: int, is_sure: bool) -> None:
    """Up to 31 steps leave something of what is doubled."""
    main = MAIN.replace("NUMBER", "0").replace("DTYPE", "int32").replace("OTHER", "s")
    main = main.replace("kernel_0", "steps").replace("R.Tensor((4,)", "R.Tensor((4, n)", 0)
    main = main.replace('out_ty=R.Tensor((4,), "int32")', 'out_ty=R.Tensor((4, n), "int32")')
    main = main.replace(f"y: {T4}):", f'y: {T4}, z: R.Tensor(("n",), "int32")):\n    n = T.int64()')
    found = checks(parse(KERNELS + STEPS.replace("BY", f"{by}") + main), "RLX203")
    (said,) = [one for one in found if one.binding == "k1"]
    assert (said.verdict, said.safe_when) == (UNSURE, None) if not is_sure else (WRONG, "n <= 0")


def test_a_kernel_that_is_given_a_number() -> None:
    """The kernel of a view with `n * 4` elements is told `n`."""
    for by, wanted in ((0, None), (3, "n <= 0")):
        view = f'{BYTES}; u = R.multiply(b, R.const({by}, "uint8")); return u'
        lines = MAIN.replace("NUMBER", "0").replace("OTHER", "s").partition("    u = ")[0]
        text = of_any_size(KERNELS + lines + indent(view.replace("; ", "\n"), "    "))
        (said,) = [one for one in checks(parse(text), "RLX203") if one.binding == "k1"]
        assert (said.verdict, said.safe_when) == (UNSURE, wanted), by
