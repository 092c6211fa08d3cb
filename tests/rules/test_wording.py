"""Findings that say which bytes are shared, and which input breaks a declared bound."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.rules.checking import findings, parse

REVERSED = """
@T.prim_func(private=True, s_tir=True)
def add(x: T.handle, y: T.handle, z: T.handle):
    m = T.int64()
    X = T.match_buffer(x, (m,), "float32")
    Y = T.match_buffer(y, (m,), "float32")
    Z = T.match_buffer(z, (m,), "float32")
    for i in range(m):
        with T.sblock("add"):
            v = T.axis.spatial(m, i)
            Z[v] = X[v] + Y[m - 1 - v]
"""


def test_an_overlap_of_arguments_names_the_shared_bytes_and_the_condition() -> None:
    (found,) = findings(
        parse(
            REVERSED
            + dedent("""
            @R.function(pure=False)
            def main(x: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
                m = T.int64()
                storage = R.memory.alloc_storage(R.shape([8192]), 0, "global", "float32")
                a = R.memory.alloc_tensor(storage, 0, R.shape([m]), "float32")
                _ = Module.add(x, x, a)
                b = R.memory.alloc_tensor(storage, 2048, R.shape([m]), "float32")
                _1 = Module.add(x, a, b)
                return b
            """)
        ),
        "RLX206",
    )
    assert found.message == (
        "`add` writes `b` over its own argument `a`: bytes 2048.. of `storage` are shared when m > 512"
    )
    assert found.safe_when == "m <= 512"


def test_an_unenforced_bound_names_the_first_input_that_overruns_a_storage() -> None:
    (found,) = findings(
        parse(
            REVERSED
            + dedent("""
            @R.function(pure=False)
            def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
                R.func_attr({"tir_var_upper_bound": {"n": 2048}})
                n = T.int64()
                storage = R.memory.alloc_storage(R.shape([8192]), 0, "global", "float32")
                a = R.memory.alloc_tensor(storage, 0, R.shape([n]), "float32")
                _ = Module.add(x, x, a)
                return a
            """)
        ),
        "RLX501",
    )
    assert found.message == ("TVM plans for `n <= 2048` but never checks it; `n = 2049` overruns `storage`")


def test_what_is_safe_for_empty_tensors_only_says_so() -> None:
    (found,) = findings(
        parse(
            """
            @R.function(pure=False)
            def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
                n = T.int64()
                storage = R.memory.alloc_storage(R.shape([n * 4]), 0, "global", "float32")
                a = R.memory.alloc_tensor(storage, 0, R.shape([n]), "float32")
                return a
            """
        ),
        "RLX205",
    )
    assert found.message == "nothing writes `a` before it is returned (wrong unless n == 0)"


NON_EMPTY = {
    "RLX301": (
        """
        @T.prim_func(private=True, s_tir=True)
        def kernel(a: T.handle, b: T.handle):
            n = T.int64()
            x = T.match_buffer(a, (n, {columns}), "float32")
            y = T.match_buffer(b, (n,), "float32")
            for i in range(n):
                y[i] = x[i, 0]

        @R.function
        def main(x: R.Tensor(("n", "n"), "float32")) -> R.Tensor(("n",), "float32"):
            n = T.int64()
            return R.call_tir(Module.kernel, (x,), out_ty=R.Tensor((n,), "float32"))
        """,
        {"columns": "n * 2"},
        {"columns": "4"},
    ),
    "RLX301 of a function": (
        """
        @R.function(private=True)
        def callee(x: R.Tensor(("m", {columns}), "float32")) -> R.Tensor(("m", {columns}), "float32"):
            m = T.int64()
            return x

        @R.function
        def main(x: R.Tensor(("n", "n"), "float32")) -> R.Tensor(dtype="float32", ndim=2):
            n = T.int64()
            y: R.Tensor(dtype="float32", ndim=2) = Module.callee(x)
            return y
        """,
        {"columns": '"m * 2"'},
        {"columns": "4"},
    ),
    "RLX304": (
        """
        @R.function
        def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(dtype="float64", ndim=1):
            n = T.int64()
            y: R.Tensor(({extent},), "float64") = R.memory.view(
                x, R.shape([{extent}]), R.dtype("float64"), R.prim_value(0)
            )
            return y
        """,
        {"extent": "n"},
        {"extent": "2"},
    ),
    "RLX306": (
        """
        @T.prim_func(private=True, s_tir=True)
        def kernel(a: T.handle, b: T.handle):
            n = T.int64()
            x = T.match_buffer(a, (n,), "float32")
            y = T.match_buffer(b, (n,), "float32")
            for i in range(n):
                if i < 5:
                    y[i + 3] = x[i]
                y[i] = {read}

        @R.function
        def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
            n = T.int64()
            return R.call_tir(Module.kernel, (x,), out_ty=R.Tensor((n,), "float32"))
        """,
        {"read": "x[i + 1]"},
        {"read": "x[i]"},
    ),
}
"""For each rule a module that is wrong unless a tensor is empty, and one that some other inputs survive."""


@pytest.mark.parametrize("case", NON_EMPTY)
def test_what_only_empty_tensors_survive_is_an_error_without_a_check(case: str) -> None:
    text, wrong, depends = NON_EMPTY[case]
    (error,) = findings(parse(text.format(**wrong)), case.split()[0])
    assert error.verdict.value == "needs-runtime-check"
    assert error.safe_when == "n <= 0"
    assert error.severity.value == "error"
    assert error.message.endswith("(wrong unless n == 0)")
    assert error.fixes == ()
    (warning,) = findings(parse(text.format(**depends)), case.split()[0])
    assert warning.severity.value == "warning"
    assert "wrong unless" not in warning.message
    assert warning.fixes


def test_the_access_that_no_input_with_elements_survives_is_told_of() -> None:
    """And not the store that comes before it, which more inputs survive."""
    text, wrong, _ = NON_EMPTY["RLX306"]
    (error,) = findings(parse(text.format(**wrong)), "RLX306")
    assert error.message == "`kernel` reads outside `x` along axis 0 (wrong unless n == 0)"
