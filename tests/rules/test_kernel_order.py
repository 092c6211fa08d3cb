"""RLX206 and RLX306 on kernels of which the order of the steps, or a way out, decides."""

from __future__ import annotations

from textwrap import indent

import pytest

from tests.rules.checking import DOUBLE, checks, parse

KERNEL = """
@T.prim_func(private=True)
def copy(x: T.Buffer(({n},), "float32"), y: T.Buffer(({n},), "float32")):
    for i in range({n}):
        y[i] = x[i]

@T.prim_func(private=True)
def f(x: T.Buffer(({n},), "float32"), y: T.Buffer(({n},), "float32")):
{body}

@R.function(pure=False)
def main(x: R.Tensor(({n},), "float32")) -> R.Tensor(({n},), "float32"):
    storage = R.memory.alloc_storage(R.shape([{n} * 4]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(storage, 0, R.shape([{n}]), "float32")
    Module.copy(x, a)
    Module.f(a, a)
    return a
"""


SYMBOLIC = (
    DOUBLE
    + """
@T.prim_func(private=True)
def f(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (n,), "float32")
{body}

@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
    n = T.int64()
    storage = R.memory.alloc_storage(R.shape([n * 4]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(storage, 0, R.shape([n]), "float32")
    Module.double(x, a)
    Module.f(a, a)
    return a
"""
)


def verdict(body: str, code: str = "RLX206") -> str | None:
    """The verdict on the call of a kernel of eight elements with itself."""
    module = parse(KERNEL.format(n=8, body=indent(body, "    ")))
    found = [check.verdict.value for check in checks(module, code)]
    return found[-1] if found else None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("for i in range(8):\n    y[i] = x[7 - i]", "always-wrong"),
        ("for i in range(7):\n    y[i + 1] = x[i]", "always-wrong"),
        # In rising order what is read has not been overwritten.
        ("for i in range(7):\n    y[i] = x[i + 1]", "needs-runtime-check"),
        ("for i in range(8):\n    y[i] = x[i] + x[0]", "always-wrong"),
        ("for i in range(8):\n    y[i] = T.max(x[i], x[0])", "needs-runtime-check"),
        ("for k in range(2):\n    for i in range(8):\n        y[i] = x[i] + T.float32(1)", "always-wrong"),
        ("for i in range(8):\n    y[7 - i] = x[7 - i] * x[7 - i]", "always-fine"),
        ("for i in range(8):\n    y[i] = x[i]\nfor i in range(8):\n    y[i] = y[i] + x[i]", "always-fine"),
    ],
)
def test_a_call_in_place(body: str, said: str) -> None:
    assert verdict(body) == said


@pytest.mark.parametrize(
    "body",
    [
        # Wrong at every size but 1, and right at every size.
        "for i in range(n):\n    y[i] = x[n - 1 - i] * T.float32(2)",
        "for i in range(n):\n    y[i] = x[T.min(i + 1, n - 1)]",
    ],
)
def test_trials_at_some_sizes_prove_nothing_for_the_others(body: str) -> None:
    found = checks(parse(SYMBOLIC.format(body=indent(body, "    "))), "RLX206")[-1]
    assert found.verdict.value == "needs-runtime-check"
    assert found.safe_when is None
    assert found.proof


def test_an_index_behind_a_way_out_is_not_judged() -> None:
    outside = "for i in range(9):\n    y[i] = T.float32(0)"
    assert verdict(outside, "RLX306") == "always-wrong"
    left = "for i in range(9):\n    if i == 8:\n        break\n    y[i] = T.float32(0)"
    assert verdict(left, "RLX306") is None
    stepped = "for i in T.serial(0, 9, step=5):\n    y[i] = T.float32(0)"
    assert verdict(stepped, "RLX306") is None
