"""Which parameters a kernel of known sizes fills, where its loops are left early."""

from __future__ import annotations

from textwrap import indent

import pytest
import sympy
import tvm

from relax_lint.model.prim_funcs import read_kernel
from relax_lint.vm import versions

WHILE = "k = T.alloc_buffer((1,), 'int32')\nk[0] = 0\nwhile k[0] < {}:\n    x[k[0]] = T.float32(7)\n    k[0] = k[0] + 1"


def is_whole(body: str) -> bool:
    """Whether a kernel of one vector of four elements is certain to write all of it."""
    text = '@I.ir_module\nclass Module:\n    @T.prim_func\n    def f(x: T.Buffer((4,), "float32")):\n'
    module = tvm.script.from_source(text + indent(body, " " * 8))
    ((name, function),) = versions.prim_functions(module)
    return bool(read_kernel(name, function).whole_writes[0] == sympy.true)


@pytest.mark.parametrize(
    ("body", "whole"),
    [
        ("for i in range(8):\n    if i == {}:\n        break\n    x[i] = T.float32(7)", (4, 3)),
        ("for i in range({}):\n    if i % 2 == 0:\n        continue\n    x[i // 2] = T.float32(7)", (8, 7)),
        (WHILE, (4, 3)),
        # Every third element, modulo four.
        ("for i in range({}):\n    x[i * 3 % 4] = T.float32(7)", (4, 3)),
    ],
)
def test_what_is_filled_is_found_by_carrying_it_out(body: str, whole: tuple[int, int]) -> None:
    assert [is_whole(body.format(number)) for number in whole] == [True, False]


@pytest.mark.parametrize(
    "body",
    [
        # What a local buffer holds before anything is stored is not known.
        "k = T.alloc_buffer((1,), 'int32')\nfor i in range(4):\n    if k[0] == 0:\n        x[i] = T.float32(7)",
        # What the argument holds neither.
        "for i in range(4):\n    if x[i] < T.float32(9):\n        x[i] = T.float32(7)",
        # 0, 100, -56, 44: numbers that wrap around.
        "for i in range(4):\n    x[T.Cast('int32', T.Cast('int8', i * 100)) % 4 + i * 0] = T.float32(7)",
        "for i in range(4):\n    if T.Cast('uint8', i) - T.uint8(1) < T.uint8(4):\n        x[i] = T.float32(7)",
        "for i in T.parallel(4):\n    if i % 4 == 0:\n        continue\n    x[i] = T.float32(7)",
    ],
)
def test_what_is_not_known_fills_nothing(body: str) -> None:
    assert not is_whole(body)
