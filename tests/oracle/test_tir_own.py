"""What is said of a kernel's own buffers holds at every size of a grid: a fixed sample, and what the comparison sees.

`python -m tests.oracle.tir.own` does the same with random kernels for as long as it is told to.
"""

from __future__ import annotations

from collections import Counter
from textwrap import indent
from typing import Any

import pytest
import sympy
import tvm
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.unwritten import Unwritten
from relax_lint.model.kernel_inside.reading import _Reader
from tests.oracle.as_often import assert_as_often
from tests.oracle.tir.compare import Disagreement, Unusable
from tests.oracle.tir.own import Seen, compare, compare_function, runs
from tests.oracle.tir.own_writer import some

HEAD = """
@T.prim_func(s_tir=True)
def f(x_: T.handle, y_: T.handle):
    n = T.int64()
    x = T.match_buffer(x_, (n,), "float32")
    y = T.match_buffer(y_, (n,), "float32")
    s = T.alloc_buffer((n,), "float32")
"""
HALF = "for i in range(n // 2):\n    s[i] = x[i]\n"
ALL = "for i in range(n):\n    y[i] = s[i]"


def _kernel(body: str) -> Any:
    return tvm.script.from_source(HEAD + indent(body, "    ") + "\n")


def _is_large(symbol: sympy.Symbol) -> Boolean:
    return sympy.Ge(symbol, 4)


def test_what_is_said_of_own_buffers_holds_at_every_size() -> None:
    seen: Counter[str] = Counter()
    for kernel in some(20, 6):
        try:
            seen += compare(kernel)
        except Unusable:
            seen["not taken"] += 1
    least = {
        "kernels": 19,
        "sizes said fine": 13,
        "sizes said wrong": 36,
        "read early and never told said nothing": 3,
        "told at most sizes by all contents said needs-runtime-check": 3,
        "told at some sizes or by some contents said needs-runtime-check": 5,
    }
    assert_as_often(seen, least)


@pytest.mark.parametrize(
    ("body", "at", "expected"),
    [
        (HALF + ALL, 4, Seen(4, 4, 4)),
        (HALF + "for i in range(n // 2):\n    y[i] = s[i]", 4, None),
        (HALF + "for i in range(n):\n    y[i] = s[i] * (x[i] - x[i])", 4, Seen(4, 4, 0)),
        (HALF + "for i in range(n):\n    y[i] = s[i] * x[i]", 1, Seen(4, 4, 3)),
    ],
)
def test_what_the_interpreter_sees(body: str, at: int, expected: Seen | None) -> None:
    (found,) = runs(_kernel(body), (at,)).values()
    assert found.get("s") == expected


def test_a_region_that_is_too_large_is_contradicted(monkeypatch: pytest.MonkeyPatch) -> None:
    body = HALF + ALL
    assert compare_function(_kernel(body))["sizes said wrong"]
    monkeypatch.setattr(
        Unwritten, "always", lambda self, wrong: sympy.And(wrong, *map(_is_large, wrong.free_symbols))
    )
    monkeypatch.setattr(_Reader, "_left_out", lambda *_: sympy.true)
    with pytest.raises(Disagreement, match="said to be fine and an output tells"):
        compare_function(_kernel(body))


def test_a_read_that_is_never_made_is_contradicted(monkeypatch: pytest.MonkeyPatch) -> None:
    body = "for i in range(n):\n    s[i] = x[i]\n" + ALL
    assert compare_function(_kernel(body)) == Counter({"kernels": 1})
    monkeypatch.setattr("relax_lint.model.kernel_inside.reading._comes_before", lambda *_: True)
    with pytest.raises(Disagreement, match="said to be wrong and nothing unwritten is read"):
        compare_function(_kernel(body))


def test_an_early_load_says_nothing_of_later_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    body = "for i in range(n - 2):\n    s[i] = s[i] + x[i]\n" + ALL
    assert compare_function(_kernel(body))["sizes said fine"]
    monkeypatch.setattr(_Reader, "partly", lambda *_: ())
    with pytest.raises(Disagreement, match="said to be fine and an output tells"):
        compare_function(_kernel(body))
