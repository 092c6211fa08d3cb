"""RLX206: what an in-place call overwrites and a kernel writes anew holds for every name what the kernel wrote,
in a function that is called as well.
"""

from __future__ import annotations

from textwrap import indent

import pytest

from tests.rules.checking import checks, parse

KERNELS = """
@T.prim_func(private=True)
def twice(y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = y[i] * T.float32(2)

@T.prim_func(private=True)
def zero(y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = T.float32(0)

@T.prim_func(private=True)
def front(y: T.Buffer((4,), "float32")):
    for i in range(2):
        y[i] = T.float32(0)

@T.prim_func(private=True)
def to_itself(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]
"""
IN_PLACE = 'w = R.call_tir_inplace(Module.twice, (p,), [0], R.Tensor((4,), "float32"))'
CALLED = """
@R.function(private=True, pure=False)
def put(p: R.Tensor((4,), "float32")):
{lines}
    return w

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    p = R.add(x, x)
    w = Module.put(p)
    return (p, w)
"""
DIRECT = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    p = R.add(x, x)
{lines}
    return (p, w)
"""


SURE, PERHAPS = "always-wrong", "needs-runtime-check"


@pytest.mark.parametrize(
    ("lines", "direct", "called"),
    [
        ((IN_PLACE,), [SURE], [SURE]),
        # Of a function that is called it is known only that this may be past.
        ((IN_PLACE, "a = Module.zero(w)"), [], [PERHAPS]),
        ((IN_PLACE, "a = Module.to_itself(w, w)"), [], [PERHAPS]),
        ((IN_PLACE, "a = Module.front(w)"), [PERHAPS], [PERHAPS]),
        (("a = Module.front(p)", IN_PLACE), [SURE], [SURE]),
        ((IN_PLACE, "a = Module.zero(w)", IN_PLACE.replace("p,", "w,")), [SURE], [SURE]),
    ],
)
def test_what_a_callee_writes_anew(lines: tuple[str, ...], direct: list[str], called: list[str]) -> None:
    body = indent("\n".join(lines), "    ")
    for text, expected in ((DIRECT, direct), (CALLED, called)):
        found = checks(parse(KERNELS + text.replace("{lines}", body)), "RLX206")
        told = {one.verdict.value for one in found if one.function == "main"} - {"always-fine"}
        assert sorted(told) == expected, text
