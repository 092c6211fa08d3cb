"""Kernels with expressions of many levels, as code that writes TIR makes them: they are read at the recursion limit that
Python starts with, and one that is too deep takes nothing else along.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest
import tvm
from tvm import relax, te, tirx

import relax_lint
from relax_lint import Verdict
from relax_lint.model.kernel_access.bounds import Step
from relax_lint.support.deep_stack import FRAMES, deep_stack
from tests.rules.checking import parse


def _module(levels: int, divisor: int) -> tvm.IRModule:
    """Reads an element of four behind a sum of so many remainders, modulo a number."""

    def element(x: te.Tensor) -> te.Tensor:
        def at(i: tirx.Var) -> tvm.tirx.PrimExpr:
            total = i
            for level in range(levels):
                total = total + tvm.tirx.floormod(i * 50 + level, 40 + level)
            return x[tvm.tirx.floormod(total, divisor)]

        return te.compute((4,), at, name="y")

    builder = relax.BlockBuilder()
    module = parse("@R.function\ndef main(x: R.Tensor((4,), 'float32')):\n    return x\n")
    x = relax.Var("x", module["main"].params[0].ty)
    with builder.function("main", [x]):
        builder.emit_func_output(builder.emit_te(element, x))
    return builder.get()


@pytest.mark.parametrize("divisor", [4, 7])
def test_a_sum_of_many_terms_is_judged(divisor: int) -> None:
    indices = {(i + sum((i * 50 + level) % (40 + level) for level in range(400))) % divisor for i in range(4)}
    expected = {Verdict.ALWAYS_WRONG} if max(indices) >= 4 else set()
    before = sys.getrecursionlimit()
    report = relax_lint.check(_module(400, divisor))
    found = {check.verdict for check in report.checks if check.rule == "RLX306"}
    assert found - {Verdict.ALWAYS_FINE} == expected
    assert sys.getrecursionlimit() == before


def test_the_work_for_long_sums_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each atom of a sum is compared with all others for each that is eliminated: only up to a limit."""
    compared: list[int] = []
    pair = Step._pair

    def counted(*given: Any) -> Any:
        compared[-1] += 1
        return pair(*given)

    monkeypatch.setattr(Step, "_pair", counted)
    for levels in (60, 120):
        compared.append(0)
        relax_lint.check(_module(levels, 7))
    assert 0 < compared[1] < 2 * compared[0]


def test_a_kernel_that_is_too_deep_takes_nothing_else_along() -> None:
    found: list[relax_lint.Report] = []
    module = _module(400, 7)
    # The stack of a thread may be small: there the limit stays as it is.
    thread = threading.Thread(target=lambda: found.append(relax_lint.check(module)))
    thread.start()
    thread.join()
    (report,) = found
    assert {check.rule for check in report.checks} >= {"RLX301", "RLX302"}
    assert "RLX306" not in {check.rule for check in report.checks}
    (accesses,) = report.files[0].accesses
    assert accesses.unread == {"element": "its expressions are nested too deeply to be read"}
    assert accesses.proved == 0


def test_the_limit_of_who_needs_more_is_left_alone() -> None:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(FRAMES + 1)
    try:
        with deep_stack():
            assert sys.getrecursionlimit() == FRAMES + 1
    finally:
        sys.setrecursionlimit(before)
