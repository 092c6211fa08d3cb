"""Findings and what runs make of them."""

from __future__ import annotations

from pathlib import Path

import pytest

import relax_lint
from relax_lint.replay.confirm import confirm
from relax_lint.results.confirmation import Confirmation, Status, Symptom
from relax_lint.settings.config import Config

HEADER = "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:\n"
DOUBLE = """
    @T.prim_func(private=True)
    def double(a: T.handle, b: T.handle):
        n = T.int64()
        x = T.match_buffer(a, (n,), "float32")
        y = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            y[i] = x[i] * T.float32(2)
"""
PUT = """
        storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        alloc = R.memory.alloc_tensor(storage, 0, R.shape([m]), "float32")
        Module.double(x, alloc)
        return alloc
"""


def confirmations(folder: Path, text: str, *rules: str) -> list[Confirmation]:
    """What becomes of the findings of some rules in one module."""
    path = folder / "model.py"
    path.write_text(HEADER + text, encoding="utf-8")
    config = Config(select=rules)
    report = confirm(relax_lint.check(str(path), config), config)
    return [check.confirmation for check in report.checks if check.confirmation is not None]


@pytest.mark.vm
def test_an_overflow_fails_where_it_is_said_to_and_not_before(tmp_path: Path) -> None:
    text = (
        DOUBLE
        + '    @R.function(pure=False)\n    def main(x: R.Tensor(("m",), "float32")):\n        m = T.int64()'
    )
    (found,) = confirmations(tmp_path, text + PUT, "RLX101")
    assert found.status is Status.CONFIRMED
    runs = {(run.example, run.call, run.how): run for run in found.runs}
    assert runs["wrong", "main(x: float32[5])", "naive"].symptom is Symptom.ERROR
    # Within the page that the pooled allocator hands out nothing is seen.
    assert runs["wrong", "main(x: float32[5])", "pooled"].symptom is None
    assert runs["first failure", "main(x: float32[1025])", "pooled"].symptom is Symptom.ERROR
    assert runs["fine", "main(x: float32[4])", "naive"].symptom is None
    assert "storage allocation failure" in found.reason


@pytest.mark.vm
def test_arguments_are_made_for_every_kind_of_parameter(tmp_path: Path) -> None:
    text = DOUBLE + (
        "    @R.function(pure=False)\n"
        '    def main(x: R.Tensor(("m",), "float32"), s: R.Shape(["k", 3]), p: R.Prim("int64"),'
        ' t: R.Tuple(R.Tensor(("k",), "int8"), R.Tensor((), "bool")), c: R.Tensor((), "bool")):\n'
        "        m = T.int64()\n        k = T.int64()"
    )
    (found,) = confirmations(tmp_path, text + PUT, "RLX101")
    assert found.status is Status.CONFIRMED
    # What the example says nothing about is small and not zero.
    call = "main(x: float32[5], s: shape(4, 3), p: 4, t: (int8[4], bool[]), c: bool[] of 1)"
    assert found.runs[0].call == call


LIVE = """
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
        Module.double(x, a)
        b = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
        Module.double(a, b)
        return (a, b)
"""


@pytest.mark.vm
def test_wrong_numbers_are_seen_against_tensors_on_their_own_storage(tmp_path: Path) -> None:
    (found,) = confirmations(tmp_path, DOUBLE + LIVE, "RLX203")
    assert found.status is Status.CONFIRMED
    seen = next(run for run in found.runs if run.symptom is Symptom.WRONG_NUMBERS)
    assert seen.outcome == "ok, float32[4] = 0.0, 2.0, 4.0, 6.0, float32[4] = 0.0, 4.0, 8.0, 12.0"


@pytest.mark.vm
def test_what_cannot_be_run_says_why(tmp_path: Path) -> None:
    start = (
        '    @R.function(pure=False{})\n    def {}(x: R.Tensor(("m",), "float32"){}):\n        m = T.int64()'
    )
    private = start.format(", private=True", "main", "")
    untyped = start.format("", "other", ", o: R.Any")
    packed = (
        start.format("", "third", "")
        + "\n"
        + '        R.call_packed("nobody.has.this", x, ty_args=R.Tuple())'
    )
    found = confirmations(tmp_path, DOUBLE + private + PUT + untyped + PUT + packed + PUT, "RLX101")
    assert [one.status for one in found] == [Status.NOT_RUNNABLE] * 3
    reasons = " / ".join(one.reason for one in found)
    assert "a private function cannot be called" in reasons
    assert "no argument can be made for `o: R.Any`" in reasons
    assert "nobody.has.this" in reasons


@pytest.mark.vm
def test_a_check_of_the_function_itself_is_no_confirmation(tmp_path: Path) -> None:
    text = DOUBLE + (
        '    @R.function(pure=False)\n    def main(x: R.Tensor(("m",), "float32")):\n        m = T.int64()'
        + PUT.replace("        Module", '        R.assert_op(m <= 4, [m], format="m is {}")\n        Module')
    )
    (found,) = confirmations(tmp_path, text, "RLX101")
    # naive refuses before the check is reached, pooled is stopped by it: only the first one counts.
    assert [run.symptom for run in found.runs[:2]] == [Symptom.ERROR, Symptom.STOPPED]


def test_nothing_is_run_for_what_fails_nowhere(tmp_path: Path) -> None:
    text = (
        '    @R.function(pure=False)\n    def main(x: R.Tensor(("m",), "float32")):\n'
        "        m = T.int64()\n"
        '        R.func_attr({"tir_var_upper_bound": {"misspelt": 4}})\n        return x\n'
    )
    (found,) = confirmations(tmp_path, text, "RLX502")
    assert (found.status, found.runs) == (Status.NOT_RUNNABLE, ())
