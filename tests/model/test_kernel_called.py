"""PrimFuncs that a kernel calls with pointers and numbers: which of their accesses are proved, and which calls are not
followed.
"""

from __future__ import annotations

from functools import lru_cache
from textwrap import indent

import pytest
import tvm

from relax_lint.model.kernel_access.subroutines import MAX_FOLLOWED
from relax_lint.model.kernels import Kernel
from relax_lint.model.prim_funcs import Kernels

MODULE = """\
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def fill(a: T.handle("float32"), k: T.int64):
        A = T.decl_buffer((k,), "float32", data=a)
        for i in range(k):
            A[i] = T.float32(1)

    @T.prim_func(private=True)
    def row(a: T.handle("float32"), k: T.int64, j: T.int64):
        A = T.decl_buffer((k, 4), "float32", data=a)
        A[j, 0] = T.float32(1)

    @T.prim_func(private=True)
    def any_type(a: T.handle, k: T.int64):
        A = T.decl_buffer((k,), "float32", data=a)
        A[k - 1] = T.float32(1)

    @T.prim_func(private=True)
    def some_tensor(a: T.handle("float32"), b: T.Buffer((8,), "float32")):
        A = T.decl_buffer((8,), "float32", data=a)
        A[7] = b[7]

    @T.prim_func(private=True)
    def small(k: T.int64):
        assert k < 4, "too large"

    @T.prim_func(private=True)
    def small_or_odd(k: T.int64):
        if k % 2 == 1:
            return 0
        assert k < 4, "too large"

    @T.prim_func(private=True)
    def one(a: T.handle("float32"), k: T.int64):
        Module.fill(a, k)

    @T.prim_func(private=True)
    def two(a: T.handle("float32"), k: T.int64):
        Module.one(a, k)

    @T.prim_func(private=True)
    def three(a: T.handle("float32"), k: T.int64):
        Module.two(a, k)

    @T.prim_func(private=True)
    def four(a: T.handle("float32"), k: T.int64):
        Module.three(a, k)
"""
OUTER = """
    @T.prim_func(private=True)
    def {name}(x_: T.handle, y_: T.handle, z_: T.handle, w_: T.handle):
        n = T.int64()
        m = T.int64()
        l = T.int64()
        x = T.match_buffer(x_, (n,), "float32")
        y = T.match_buffer(y_, (n, 8), "float32")
        z = T.match_buffer(z_, (n, 8), "float32", strides=[16, 1])
        w = T.match_buffer(w_, (m, l), "float32")
"""
SIZE = " * ".join(["(n + m + l + 1)"] * 5)
CALLS = {
    "all": ("Module.fill(x.data, n)", "A proved"),
    "one more": ("Module.fill(x.data, n + 1)", "A exact"),
    "from the second on": ("Module.fill(T.address_of(x[1]), n - 1)", "A proved"),
    "from the second on, one more": ("Module.fill(T.address_of(x[1]), n)", "A exact"),
    "from one that data tells": ("Module.fill(T.address_of(x[T.Cast('int64', x[0])]), 1)", "x exact, A open"),
    "from the second row on": ("Module.fill(T.address_of(y[1, 0]), n * 8 - 8)", "A proved"),
    "from the second row on, one more": ("Module.fill(T.address_of(y[1, 0]), n * 8 - 7)", "A exact"),
    "from a column that data tells": (
        "Module.fill(T.address_of(y[1, T.Cast('int64', x[0])]), 1)",
        "x exact, A open",
    ),
    "from a row of a tensor with gaps": ("Module.fill(T.address_of(z[1, 0]), 8)", "A unread"),
    "rows": ("if n > 0:\n    Module.row(y.data, n, n - 1)", "A proved"),
    "rows of half the length": ("if n > 0:\n    Module.row(y.data, n * 2, n * 2 - 1)", "A proved"),
    "a row too far": ("Module.row(y.data, n * 2, n * 2)", "A exact"),
    "a pointer to anything": ("if n > 0:\n    Module.any_type(x.data, n)", "A proved"),
    "a pointer to anything, one more": ("Module.any_type(x.data, n + 1)", "A exact"),
    "a pointer and a tensor": ("Module.some_tensor(x.data, y.data)", "x unread, y unread"),
    "too few arguments": ("Module.fill(x.data)", "x unread"),
    "asserted": ("Module.small(n)\nif n >= 2:\n    x[3 - n] = T.float32(1)", "x proved"),
    "asserted or left": ("Module.small_or_odd(n)\nif n >= 2:\n    x[3 - n] = T.float32(1)", "x exact"),
    "three deep": ("Module.two(x.data, n)", "A proved"),
    "four deep": ("Module.three(x.data, n)", "A proved"),
    "five deep": ("Module.four(x.data, n)", "x unread"),
    "a place that is too large to write down": (
        f"S = T.alloc_buffer(({SIZE}, {SIZE}), 'float32')\nModule.fill(T.address_of(S[{SIZE} - 1, 0]), 1)",
        "A unread",
    ),
}
"""What is called, and by buffer what is said of the accesses: "exact" is outside in some call, "open" is not known."""


FOLLOWED = "Module.fill(x.data, n)\n" * MAX_FOLLOWED
MANY = {
    "so many calls": (FOLLOWED, "A" + " proved" * MAX_FOLLOWED),
    "one call more": (FOLLOWED + "Module.fill(x.data, n)", "A" + " proved" * MAX_FOLLOWED + ", x unread"),
}
CASES = {**CALLS, **MANY}


@lru_cache(maxsize=1)
def kernels() -> Kernels:
    """A kernel for each case, in order."""
    callers = (
        OUTER.format(name=f"caller_{place}") + indent(call, "        ")
        for place, (call, _) in enumerate(CASES.values())
    )
    return Kernels(tvm.script.from_source(MODULE + "\n".join(callers), check_well_formed=False))


def said(kernel: Kernel) -> str:
    found: dict[str, list[str]] = {}
    for one in kernel.accesses.accesses:
        certain = any(part.exact for part in one.obligations)
        word = "unread" if one.unread else "proved" if one.proved else "exact" if certain else "open"
        found.setdefault(one.buffer.name, []).append(word)
    return ", ".join(f"{name} {' '.join(words)}" for name, words in found.items())


@pytest.mark.parametrize(("place", "name"), list(enumerate(CASES)))
def test_accesses_of_what_is_called(place: int, name: str) -> None:
    assert said(kernels()[f"caller_{place}"]) == CASES[name][1]
