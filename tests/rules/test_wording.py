"""Findings that say which bytes are shared, and which input breaks a declared bound."""

from __future__ import annotations

from textwrap import dedent

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
