"""What a kernel loads for sure, and of which no result depends: RLX205 does not call that always wrong. The virtual
machine gives the right numbers with two different contents of what nobody has written.
"""

from __future__ import annotations

from textwrap import indent
from typing import Any

import numpy as np
import pytest
import sympy
import tvm
from tvm import relax

from relax_lint.model.prim_funcs import read_kernel
from tests.rules.checking import checks, parse

KERNEL = """
@T.prim_func(private=True, s_tir=True)
def kernel(t_: T.handle, y_: T.handle):
    n = T.int64()
    t = T.match_buffer(t_, ({size},), "int64")
    y = T.match_buffer(y_, ({size},), "int64")
{body}
"""
MAIN = """
@R.function(pure=False)
def main(y: R.Tensor(({given},), "int64")):
    s = R.memory.alloc_storage(R.shape([8 * {size}]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([{size}]), R.dtype("int64"))
    w = Module.kernel(t, y)
    return y
"""
EACH = "for i in range({size}):\n    y[i] = "
FILLED = EACH + "T.int64(7)\n"
USELESS = {
    "cancelled": EACH + "t[i] * 2 - t[i] - t[i]",
    "no bit": EACH + "T.bitwise_and(t[i], T.int64(1)) & T.int64(2)",
    "cancelled bits": EACH + "T.bitwise_xor(T.bitwise_xor(t[i], T.int64(5)), t[i])",
    "clipped": EACH + "T.max(T.min(t[i], T.int64(0)), T.int64(0))",
    "the least number": EACH + "T.min(t[i], T.int64(-9223372036854775807) - T.int64(1))",
    "never zero": EACH + 'T.Cast("int64", T.Cast("bool", T.bitwise_or(t[i], T.int64(1))))',
    "a comparison": EACH + 'T.Cast("int64", t[i] + t[i] >= t[i] * 2)',
    "a rest and its quotient": EACH + "t[i] % 4 // 4",
    "the first side less itself": EACH + "T.Select(i < {size}, t[0], t[1]) - t[0]",
    "the second side less itself": EACH + "T.Select(i > {size}, t[0], t[1]) - t[1]",
    "stored again where data says": FILLED + "y[t[0] % {size}] = T.int64(7)",
    "stored again if data says": FILLED
    + "for i in range({size}):\n    if t[i] > 3:\n        y[i] = T.int64(7)",
    "stored again as often as data says": FILLED + "for j in range(t[0] % 3 + 1):\n    y[0] = T.int64(7)",
    "the place is the number": EACH + "i\ny[t[0] % {size}] = t[0] % {size}",
}
USEFUL = {
    "not cancelled": EACH + "t[i] * 3 - t[i] - t[i]",
    "a bit": EACH + "T.bitwise_and(t[i], T.int64(3)) & T.int64(2)",
    "clipped on one side": EACH + "T.max(T.min(t[i], T.int64(1)), T.int64(0))",
    "a rest": EACH + "t[i] % 4 // 2",
    "only which side of a choice": EACH + "T.Select(t[i] > 0, T.int64(1), T.int64(2))",
    "only which value": EACH + "T.if_then_else(t[i] > 0, y[i], y[i] + 1)",
    "the first side less another element": EACH + "T.Select(i < {size}, t[0] * 2, t[1]) - t[2]",
    "the second side less the first": EACH + "T.Select(i > {size}, t[0], t[1] * 2) - t[0]",
    "another number": FILLED + "for i in range({size}):\n    if t[i] > 3:\n        y[i] = T.int64(8)",
    "not the place": EACH + "i\ny[t[0] % {size}] = t[0] % {size} + 1",
}


def _module(body: str, size: str, given: str) -> Any:
    text = KERNEL.format(size=size, body=indent(body.format(size=size), " " * 4))
    if size == "n":
        return parse(text + MAIN.format(given='"n"' if given == "n" else given, size=given))
    return parse(text.replace("    n = T.int64()\n", "") + MAIN.format(given=size, size=size))


def _said(body: str, size: str, given: str = "3") -> set[str]:
    module = _module(body, size, given)
    return {check.verdict.value for check in checks(module, "RLX205")} - {"always-fine"}


@pytest.mark.parametrize("size", ["n", "3", "4096"])
@pytest.mark.parametrize("form", USELESS)
def test_what_no_result_depends_on(form: str, size: str) -> None:
    assert _said(USELESS[form], size) == {"needs-runtime-check"}


@pytest.mark.parametrize("size", ["n", "3", "4096"])
@pytest.mark.parametrize("form", USEFUL)
def test_what_a_result_depends_on(form: str, size: str) -> None:
    assert _said(USEFUL[form], size) == {"always-wrong"}


def _compiled(body: str) -> Any:
    """The kernel alone, with what would not have been written as an argument."""
    text = KERNEL.format(size="n", body=indent(body.format(size="n"), " " * 4))
    main = """
@R.function(pure=False)
def main(t: R.Tensor(("n",), "int64"), y: R.Tensor(("n",), "int64")):
    w = Module.kernel(t, y)
    return y
"""
    return relax.VirtualMachine(tvm.compile(parse(text + main), "llvm"), tvm.cpu())["main"]


@pytest.mark.vm
@pytest.mark.parametrize("form", [*USELESS, *USEFUL])
def test_the_machine_gives_the_same_results_where_none_depends_on_it(form: str) -> None:
    run = _compiled(USELESS.get(form) or USEFUL[form])
    found = set()
    for number in range(-9, 10):
        given = np.full(3, number, "int64") + np.arange(3), np.full(3, -1, "int64")
        found.add(tuple(run(*map(tvm.runtime.tensor, given)).numpy().tolist()))
    assert (len(found) == 1) is (form in USELESS)


def test_a_rest_by_a_size_of_one_is_one_number() -> None:
    """`t[0] % n` is 0 where `n` is 1, whatever was written."""
    body = EACH + "t[i] % {size}"
    assert _said(body, "n", given="1") == {"needs-runtime-check"}
    assert _said(body, "n", given="2") == {"always-wrong"}


WRAPPING = {
    "n * n * n * n * n > 0": (8192, 6208),
    'T.Cast("int32", n) > 0': (2**31, 2**31 - 1),
}
"""Conditions that hold for all unbounded `n` > 0, a size at which they do not hold on the machine, and the largest
one up to which they are sure to.
"""


@pytest.mark.parametrize("condition", WRAPPING)
def test_a_condition_that_wraps_around(condition: str) -> None:
    wrong, last = WRAPPING[condition]
    body = f"if {condition}:\n    for i in range(n):\n        y[i] = t[i]"
    text = KERNEL.format(size="n", body=indent(body, " " * 4))
    kernel = read_kernel("kernel", parse(text)["kernel"])
    (when,) = kernel.read_if.values()
    assert kernel.unsure_reads == {0}
    (n,) = when.free_symbols
    assert when.subs(n, wrong) == False  # noqa: E712
    assert when.subs(n, last) == True  # noqa: E712
    assert _said(body, "n", given="n") == {"needs-runtime-check"}
    assert _said(body, "n", given=str(wrong)) == {"needs-runtime-check"}
    assert _said(body, "n", given="100") == {"always-wrong"}


@pytest.mark.vm
def test_the_machine_wraps_around() -> None:
    run = _compiled("if n * n * n * n * n > 0:\n    for i in range(n):\n        y[i] = t[i]")
    for size, is_read in ((8192, False), (6208, True)):
        given = np.ones(size, "int64"), np.zeros(size, "int64")
        assert bool(run(*map(tvm.runtime.tensor, given)).numpy().all()) is is_read


@pytest.mark.parametrize(
    "condition", ["n > 0", "n + 4 > 4", "n * 8 > 0", "n * 1024 * 1024 > 0", "n - 1 >= 0"]
)
def test_a_condition_that_no_size_lets_wrap_around(condition: str) -> None:
    body = f"if {condition}:\n    for i in range(n):\n        y[i] = t[i]"
    text = KERNEL.format(size="n", body=indent(body, " " * 4))
    assert not read_kernel("kernel", parse(text)["kernel"]).unsure_reads
    assert _said(body, "n", given="100") == {"always-wrong"}


SIZES = {
    "for i in range(T.max(n - m, 0)):\n    y[i] = t[i]": "n > m",
    "for i in range(n - m):\n    y[i] = t[i]": "n > m",
    "if n > m:\n    for i in range(n):\n        y[i] = t[i]": "n > m",
    "if n > 2 * m:\n    for i in range(n):\n        y[i] = t[i]": "n > 2 * m",
    "for i in range(n):\n    if i < n - m:\n        y[i] = t[i]": "n > m",
    "for i in range(T.min(n, m)):\n    y[i] = t[i]": "m >= 1",
    "if n > m + 3 or n < m:\n    for i in range(n):\n        y[i] = t[i]": "n > m + 3 or n < m",
}
"""Kernels with an argument of another size `m`, and when they read `t`, of which `n` is at least 1."""


@pytest.mark.parametrize("body", SIZES)
def test_a_condition_between_two_sizes(body: str) -> None:
    text = KERNEL.format(size="n", body=indent(body, " " * 4)).replace("y_: T", "x_: T.handle, y_: T")
    text = text.replace("    y = T", '    m = T.int64()\n    x = T.match_buffer(x_, (m,), "int8")\n    y = T')
    kernel = read_kernel("kernel", parse(text)["kernel"])
    when = kernel.read_if[0] if kernel.unsure_reads else sympy.true
    for n in range(1, 8):
        for m in range(8):
            values = {one: {"n": n, "m": m}[one.name] for one in when.free_symbols}
            assert (when.subs(values) == True) is eval(SIZES[body], {"n": n, "m": m})  # noqa: E712
