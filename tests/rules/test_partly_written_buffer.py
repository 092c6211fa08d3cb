"""RLX311 unwritten-internal-read: own buffers that are written in part and read where nothing was written."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse, verdicts
from tests.rules.one_kernel import called_kernel

_FIXED = """
@T.prim_func(private=True, s_tir=True)
def kernel(x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "float32")):
    z = T.alloc_buffer((9,), "float32")
{body}
@R.function
def main(x: R.Tensor((8,), "float32")):
    y = R.call_tir(Module.kernel, (x,), R.Tensor((8,), "float32"))
    return y
"""
_SOME = "for i in range(4):\n    z[i] = x[i]\n"
_ALL = "for i in range(8):\n    z[i] = x[i]\n"
_IF_POSITIVE = "for i in range(n):\n    if x[i] > T.float32(0):\n        z[i] = x[i]\n"


def of_fixed(body: str) -> list[tuple[str, str, str | None]]:
    """What is said of a kernel of 8 elements, with a buffer `z` of 9."""
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    return verdicts(checks(parse(_FIXED.format(body=lines)), "RLX311"))


def of_any(body: str, extent: str = "n") -> list[tuple[str, str, str | None]]:
    """The same of one of `n` elements, with a buffer `z` of so many."""
    text = called_kernel(f'z = T.alloc_buffer(({extent},), "float32")\n{body.strip()}')
    return verdicts(checks(parse(text), "RLX311"))


@pytest.mark.parametrize(
    "body",
    [
        _SOME + "for i in range(8):\n    y[i] = z[i]",
        _ALL + "for i in range(8):\n    y[i] = z[i + 1]",
        "for i in T.parallel(4):\n    z[2 * i] = x[i]\nfor i in T.parallel(8):\n    y[i] = z[i]",
        "for i in range(8):\n    if i == 1:\n        z[0] = x[0]\n    y[i] = x[i] + z[0]",
        "for i in range(8):\n    if i == 4:\n        break\n    z[i] = x[i]\nfor i in range(8):\n    y[i] = z[i]",
        'w = T.alloc_buffer((8,), "float32")\n'
        + _SOME
        + "for i in range(8):\n    w[i] = z[i]\nfor i in range(8):\n    y[i] = w[i]",
        _SOME + "y[0] = T.float32(0)\nfor i in range(8):\n    y[0] = y[0] + z[i]",
    ],
)
def test_what_every_run_shows_is_wrong(body: str) -> None:
    assert of_fixed(body) == [("RLX311", "always-wrong", None)]


@pytest.mark.parametrize(
    "body",
    [
        _ALL + "for i in range(8):\n    y[i] = z[i]",
        _SOME + "for i in range(4):\n    y[i] = z[i]",
        _SOME + "for i in range(8):\n    if i < 4:\n        y[i] = z[i]",
        _SOME + "for i in range(8):\n    y[i] = T.if_then_else(i < 4, z[i], T.float32(0))",
        _SOME + "for i in range(8):\n    y[i] = T.Select(i < 4, z[i], T.float32(0))",
        _SOME + "for i in range(8):\n    y[i] = z[i] * T.float32(0)",
        _SOME + "for i in range(8):\n    z[i] = z[i] + T.float32(1)\nfor i in range(4):\n    y[i] = z[i]",
        "for i in range(8):\n    if i == 0:\n        z[0] = x[0]\n    y[i] = x[i] + z[0]",
        "z[0] = x[0]\nfor i in range(8):\n    z[(i + 1) % 2] = x[i]\n    y[i] = z[i % 2]",
    ],
)
def test_what_nothing_shows_is_not_told(body: str) -> None:
    assert of_fixed(body) == []


@pytest.mark.parametrize(
    "body",
    [
        _SOME + "for i in range(8):\n    y[i] = z[i] * x[i]",
        _SOME + "for i in range(8):\n    if x[i] > T.float32(0):\n        y[i] = z[i]",
    ],
)
def test_what_data_may_hide_needs_a_check(body: str) -> None:
    assert of_fixed(body) == [("RLX311", "needs-runtime-check", None)]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("for i in range(n // 2):\n    z[i] = x[i]\nfor i in range(n):\n    y[i] = z[i]", ["n <= 0"]),
        ("for i in range(n - 1):\n    z[i + 1] = x[i]\nfor i in range(n):\n    y[i] = z[i]", ["n <= 0"]),
        ("for i in range(4):\n    z[i] = x[i]\nfor i in range(n):\n    y[i] = z[i]", [None]),
        (_IF_POSITIVE + "for i in range(n):\n    y[i] = z[i]", [None]),
        (_IF_POSITIVE + "for i in range(n):\n    if x[i] > T.float32(0):\n        y[i] = z[i]", []),
        ("for i in range(n):\n    z[i] = x[i]\nfor i in range(n):\n    y[i] = z[i]", []),
    ],
)
def test_at_any_size(body: str, said: list[str | None]) -> None:
    assert of_any(body) == [("RLX311", "needs-runtime-check", safe) for safe in said]


def test_padding_that_is_not_read_is_not_told() -> None:
    inner = "        if i * 4 + j < n:\n            y[i * 4 + j] = z[i * 4 + j]"
    body = (
        f"for i in range(n):\n    z[i] = x[i]\nfor i in range((n + 3) // 4):\n    for j in range(4):\n{inner}"
    )
    assert of_any(body, "n + 4") == []


_READ = "for i in range(n):\n    y[i] = z[i]"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        # Where the first load is not made another one is, of what nothing has stored.
        ("for i in range(n - 2):\n    z[i] = z[i] + x[i]\n" + _READ, ["n <= 2", "n <= 0"]),
        (
            "for i in range(n - 2):\n    z[i] = z[i] + x[i]\nfor i in range(n - 2):\n    y[i] = z[i]",
            ["n <= 2"],
        ),
        ("for i in range(n):\n    z[i] = z[i] + x[i]\n" + _READ, ["n <= 0"]),
    ],
)
def test_a_load_before_every_store_is_not_all_that_is_told(body: str, said: list[str | None]) -> None:
    assert of_any(body) == [("RLX311", "needs-runtime-check", safe) for safe in said]


_EMPTY = """
@T.prim_func(private=True, s_tir=True)
def kernel(a: T.handle, b: T.handle, c: T.handle):
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    p = T.match_buffer(b, (m,), "float32")
    y = T.match_buffer(c, (n,), "float32")
    z = T.alloc_buffer((n,), "float32")
{body}
@R.function
def main(x: R.Tensor(("n",), "float32"), p: R.Tensor(("m",), "float32")):
    n, m = T.int64(), T.int64()
    y = R.call_tir(Module.kernel, (x, p), R.Tensor((n,), "float32"))
    return y
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        # Seen where neither of two symbols is small.
        ("for i in range(T.min(n, 3)):\n    z[i] = p[0]\nfor i in range(n):\n    y[i] = z[i]", [None]),
        ("for i in range(n):\n    z[i] = p[0]\nfor i in range(n):\n    y[i] = z[i]", []),
        # At `m == 0` nothing is added, and what is read is as unwritten.
        (
            "for i in range(n):\n    for j in range(m):\n        z[i] = z[i] + p[j]\n"
            "for i in range(n):\n    y[i] = z[i]",
            ["m <= 0 or n <= 0", "n <= 0"],
        ),
        (
            "for i in range(n):\n    z[i] = T.float32(0)\n    for j in range(m):\n        z[i] = z[i] + p[j]\n"
            "for i in range(n):\n    y[i] = z[i]",
            [],
        ),
    ],
)
def test_with_two_symbols(body: str, said: list[str | None]) -> None:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    found = verdicts(checks(parse(_EMPTY.format(body=lines)), "RLX311"))
    assert found == [("RLX311", "needs-runtime-check", safe) for safe in said]
