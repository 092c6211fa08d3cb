"""RLX205: the tensor that `R.call_tir` allocates, where the kernel leaves elements of it out."""

from __future__ import annotations

import pytest
import tvm

from relax_lint.judging.report import check_module
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.settings.config import Config

PROGRAM = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def some(a: T.handle, b: T.handle):
        n = T.int64()
        x = T.match_buffer(a, (n,), "float32")
        y = T.match_buffer(b, (n,), "float32")
        for i in range(LOOP):
            y[i] = x[i]

    @T.prim_func(private=True, s_tir=True)
    def copy(a: T.handle, b: T.handle):
        n = T.int64()
        x = T.match_buffer(a, (n,), "float32")
        y = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            y[i] = x[i]

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        t = R.call_tir(Module.some, (x,), R.Tensor((n,), "float32"))
        r = R.call_tir(Module.copy, (t,), R.Tensor((n,), "float32"))
        return r
"""


@pytest.mark.parametrize(
    ("loop", "verdict"),
    [
        ("n", Verdict.ALWAYS_FINE),
        ("(n + 3) // 4 * 4", Verdict.ALWAYS_FINE),
        ("n - 1", Verdict.NEEDS_RUNTIME_CHECK),
        ("n // 2", Verdict.NEEDS_RUNTIME_CHECK),
        ("T.min(n, 4)", Verdict.NEEDS_RUNTIME_CHECK),
    ],
)
def test_what_the_kernel_leaves_out_is_read(loop: str, verdict: Verdict) -> None:
    module = tvm.script.from_source(PROGRAM.replace("LOOP", loop))
    checks = check_module(module, Config(select=("RLX205",))).checks
    assert [check.verdict for check in checks if check.verdict is not Verdict.ALWAYS_FINE] == (
        [] if verdict is Verdict.ALWAYS_FINE else [verdict]
    )
    assert all(
        check.severity is Severity.NOTE
        for check in checks
        if check.verdict is verdict is not Verdict.ALWAYS_FINE
    )


def test_nothing_is_said_of_a_kernel_that_is_still_to_be_written() -> None:
    body = "        for i in range(LOOP):\n            y[i] = x[i]\n"
    module = tvm.script.from_source(PROGRAM.replace(body, "        T.evaluate(0)\n"))
    assert not check_module(module, Config(select=("RLX205",))).checks


def told(code: str, type_: str, dtype: str = "float32") -> list[tuple[Verdict, str | None]]:
    """What a rule says of what `R.call_tir` allocates with a type."""
    module = tvm.script.from_source(
        f"""
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def zeros(a: T.handle, b: T.handle):
        n = T.int64()
        m = T.int64()
        x = T.match_buffer(a, (n,), "float32")
        y = T.match_buffer(b, (m,), "{dtype}")
        for i in range(m):
            y[i] = T.cast(0, "{dtype}")

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32"), p: R.Prim("int64")):
        n = T.int64()
        m = T.int64()
        r = R.call_tir(Module.zeros, (x,), {type_})
        return r
"""
    )
    checks = check_module(module, Config(select=(code,))).checks
    return [(check.verdict, check.safe_when) for check in checks]


@pytest.mark.parametrize(
    ("extent", "said"),
    [
        ("n", []),
        ("n * m", [(Verdict.ALWAYS_FINE, None)]),
        ("T.max(n - m, 0)", [(Verdict.ALWAYS_FINE, None)]),
        ("n - m", [(Verdict.NEEDS_RUNTIME_CHECK, "m <= n")]),
        ("p", [(Verdict.NEEDS_RUNTIME_CHECK, "p >= 0")]),
    ],
)
def test_an_extent_of_what_is_allocated_may_be_negative(
    extent: str, said: list[tuple[Verdict, str | None]]
) -> None:
    assert told("RLX104", f'R.Tensor(({extent},), "float32")') == said


@pytest.mark.parametrize(("dtype", "count"), [("float32", 0), ("int4", 1), ("int8", 0)])
def test_a_dtype_that_is_not_allocated(dtype: str, count: int) -> None:
    found = told("RLX404", f'R.Tensor((4,), "{dtype}")', dtype)
    assert found == [(Verdict.ALWAYS_WRONG, None)] * count
