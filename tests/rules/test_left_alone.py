"""RLX205 where the stores of a kernel are certain to leave a part of its output alone, which is returned."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pytest
import tvm

from tests.rules.checking import checks, parse

Said: TypeAlias = "tuple[str, str, str | None]"
CERTAIN: Said = ("always-wrong", "error", None)
EMPTY: Said = ("needs-runtime-check", "error", "n <= 0")
DOUBT: Said = ("needs-runtime-check", "note", None)
FINE = None

KERNEL = """
@T.prim_func({private})
def {name}(a: T.handle, c: T.handle, b: T.handle):
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(a, (m,), "float32")
    q = T.match_buffer(c, (n,), "float32")
    y = T.match_buffer(b, ({extents},), "float32")
{body}
"""
MAIN = """
@R.function
def main(q: R.Tensor(("n",), "float32"), x: R.Tensor(("m",), "float32")):
    n = T.int64()
    m = T.int64()
    r = R.call_tir(Module.kernel, (x, q), out_ty=R.Tensor(({extents},), "float32"))
    return r
"""

CASES: list[tuple[str, str, Said | None]] = [
    # The last, the first, one at both ends; none.
    ("n", "for i in range(n - 1):\n    y[i] = x[0]", EMPTY),
    ("n", "for i in range(n - 1):\n    y[i + 1] = x[0]", EMPTY),
    ("n", "for i in range(n):\n    y[i] = x[0]", FINE),
    ("8", "for i in range(7):\n    y[i] = x[0]", CERTAIN),
    ("8", "for i in range(7):\n    y[i] = x[0]\ny[7] = x[0]", FINE),
    # Holes are found where the sizes are known.
    ("8", "for i in range(4):\n    y[2 * i] = x[0]\n    y[6] = x[0]", CERTAIN),
    ("8", "for i in range(4):\n    y[2 * i] = x[0]\n    y[2 * i + 1] = x[0]", FINE),
    ("2 * n", "for i in range(n):\n    y[2 * i + 1] = x[0]", EMPTY),
    # A guard of a tail that is too narrow, and one that is not known to be.
    (
        "n",
        "for i, j in T.grid((n + 7) // 8, 8):\n    if i * 8 + j < n - 1:\n        y[i * 8 + j] = x[0]",
        EMPTY,
    ),
    ("n", "for i, j in T.grid((n + 7) // 8, 8):\n    if i * 8 + j < n:\n        y[i * 8 + j] = x[0]", FINE),
    ("n", "for i in range(n):\n    if x[0] < T.float32(1):\n        y[i] = x[0]", DOUBT),
    ("n", "for i in range(n):\n    if 0 < i:\n        y[i] = x[0]", EMPTY),
    ("n", "for i in range(n):\n    if i < 3:\n        y[i] = x[0]", DOUBT),
    # Rows and columns, and what leaves its row.
    ("n, 8", "for i, j in T.grid(n, 7):\n    y[i, j] = x[0]", EMPTY),
    ("n, 8", "for i, j in T.grid(n, 3):\n    for k in range(2):\n        y[i, j * 2 + k] = x[0]", EMPTY),
    ("2, 2", "for i in range(4):\n    y[0, i] = x[0]", FINE),
    ("n, 2", "for i in range(2 * n):\n    y[0, i] = x[0]", FINE),
    # A size of another argument: so much may be all that is asked for.
    ("n", "for i in range(m):\n    y[i] = x[i]", ("needs-runtime-check", "note", "n <= m")),
    # Several stores that come to all together, or do not; what contents decide.
    ("n", "for i in range(n - 1):\n    y[i] = x[0]\nif 0 < n:\n    y[n - 1] = x[0]", FINE),
    ("n", "for i in range(n - 2):\n    y[i] = x[0]\nif 1 < n:\n    y[n - 2] = x[0]", EMPTY),
    ("n", "for i in range(n):\n    y[T.Cast('int64', x[0])] = x[0]", DOUBT),
]


def _text(kernel: str, extents: str, private: str, name: str = "kernel") -> str:
    body = "\n".join(f"    {line}" for line in kernel.splitlines())
    return KERNEL.format(private=private, name=name, extents=extents, body=body)


def test_what_no_store_comes_to_is_returned_unwritten() -> None:
    for extents, kernel, said in CASES:
        main = MAIN.format(extents=extents)
        module = parse(_text(kernel, extents, "private=True") + main)
        found = [(c.verdict.value, c.severity.value, c.safe_when) for c in checks(module, "RLX205")]
        wrong = [one for one in found if one[0] != "always-fine"]
        assert wrong == ([said] if said else []), (extents, kernel)


def test_the_compiled_kernels_leave_it_alone() -> None:
    """What is called wrong at all sizes but 0 keeps what the tensor held before, and nothing of the rest does."""
    certain = [(extents, kernel, said) for extents, kernel, said in CASES if said in (FINE, EMPTY, CERTAIN)]
    text = "".join(
        _text(kernel, extents, "", f"kernel{number}") for number, (extents, kernel, _) in enumerate(certain)
    )
    compiled = tvm.compile(parse(text), target="llvm")
    for number, (extents, kernel, said) in enumerate(certain):
        for n in (1, 2, 5, 9):
            shape = tuple(eval(one, {"n": n}) for one in extents.split(", "))
            x = tvm.runtime.tensor(np.zeros(n, "float32"))
            y = tvm.runtime.tensor(np.full(shape, 7, "float32"))
            compiled[f"kernel{number}"](x, x, y)
            assert (y.numpy() == 7).any() == bool(said), (extents, kernel, n)


IN_MEMORY = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((8,), "float32"):
    s = R.memory.alloc_storage(R.shape([64]), 0, "global", "uint8")
    w = R.memory.alloc_tensor(s, 0, R.shape([8]), "float32")
{body}
    return w
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("_ = Module.kernel(x, x, w)", CERTAIN),
        # The other one writes the rest, or leaves it, too.
        ("_ = Module.kernel(x, x, w)\n_1 = Module.rest(x, x, w)", FINE),
        ("_ = Module.rest(x, x, w)\n_1 = Module.rest(x, x, w)", DOUBT),
        (
            "_ = Module.kernel(x, x, w)\nv = R.memory.view(w, R.shape([8]), 'float32', 0)\n_1 = Module.rest(x, x, v)",
            FINE,
        ),
        # Another tensor on its bytes is written, too.
        (
            "u = R.memory.alloc_tensor(s, 0, R.shape([8]), 'float32')\n_1 = Module.rest(x, x, u)\n_ = Module.kernel(x, x, w)",
            DOUBT,
        ),
        # On some paths only, and on both.
        (
            "if c:\n    _ = Module.kernel(x, x, w)\n    d = x\nelse:\n    d = x",
            ("needs-runtime-check", "warning", None),
        ),
        (
            "if c:\n    _ = Module.kernel(x, x, w)\n    d = x\nelse:\n    _1 = Module.kernel(x, x, w)\n    d = x",
            DOUBT,
        ),
        # Somebody may have written the rest.
        ("_ = Module.kernel(x, x, w)\n_1 = R.call_packed('tests.other', w, ty_args=R.Tuple)", None),
        ("_ = Module.kernel(x, x, w)\n_1 = R.call_pure_packed('tests.other', w, ty_args=R.Tuple)", DOUBT),
    ],
)
def test_only_the_one_that_wrote_it_left_it(body: str, said: Said | None) -> None:
    first = _text("for i in range(7):\n    y[i] = x[0]", "8", "private=True")
    second = _text("y[7] = x[0]", "8", "private=True", "rest")
    text = IN_MEMORY.format(body="\n".join(f"    {line}" for line in body.splitlines()))
    module = parse(first + second + text)
    found = [(c.verdict.value, c.severity.value, c.safe_when) for c in checks(module, "RLX205")]
    wrong = [one for one in found if one[0] != "always-fine"]
    assert wrong == ([said] if said else [])


READ_BEFORE = "for i in range(m):\n    y[i] = y[i] + x[i]"
NOT_READ = "for i in range(m):\n    y[i] = x[i]"


def test_what_is_written_in_the_end_may_be_read_before() -> None:
    """By the size that is written alone the first would be safe where the second is."""
    for kernel, regions in ((READ_BEFORE, {"n <= m", None}), (NOT_READ, {"n <= m"})):
        found = checks(parse(_text(kernel, "n", "private=True") + MAIN.format(extents="n")), "RLX205")
        assert {check.safe_when for check in found} == regions
        assert len(found) == len(regions)


def test_the_compiled_kernel_reads_it_before() -> None:
    text = _text(READ_BEFORE, "n", "", "before") + _text(NOT_READ, "n", "", "not_before")
    compiled = tvm.compile(parse(text), target="llvm")
    x = tvm.runtime.tensor(np.ones(4, "float32"))
    for name, value in (("before", 8), ("not_before", 1)):
        y = tvm.runtime.tensor(np.full(4, 7, "float32"))
        compiled[name](x, x, y)
        assert (y.numpy() == value).all()
