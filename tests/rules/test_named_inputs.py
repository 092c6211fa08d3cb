"""An input that a finding names gets to the operation, and is wrong there."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import dedent
from typing import Any

import pytest
import tvm
from tvm import relax

from relax_lint.replay import Machine, Module
from relax_lint.replay.values import parse_input
from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

HEADER = "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:\n"
PROGRAM = """
    @R.function(pure=False)
    def main(h: R.Shape(["a"]), g: R.Shape(["b"])):
        a = T.int64()
        b = T.int64()
        {before}
        s = R.memory.alloc_storage(R.shape([{size}]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([{extent}]), R.dtype("float32"))
        return t
"""
STORAGE = 'R.memory.alloc_storage(R.shape([{}]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    """One subprocess for all runs."""
    with Machine() as started:
        yield started


def _text(before: str, size: str, extent: str) -> str:
    return HEADER + PROGRAM.format(before=before, size=size, extent=extent)


def _found(text: str) -> Check:
    (check,) = (one for one in checks(_module(text), "RLX101") if one.binding == "t")
    return check


def _module(text: str) -> Any:
    return parse(dedent(text.removeprefix(HEADER)))


@pytest.mark.vm
@pytest.mark.parametrize(
    ("before", "stopped"),
    [
        # Of integers it holds for negative ones only, which no extent is.
        ('k = R.assert_op(a > a + a, format="no")', "no"),
        # Either may define its symbol anew, so that neither is compared for certain.
        ("c = R.match_cast(h, R.Shape([b]))\n        d = R.match_cast(g, R.Shape([a + 1]))", "match_cast"),
    ],
)
def test_no_input_is_named_where_a_guess_refuses_it(before: str, stopped: str) -> None:
    text = _text(before, "16", "a")
    found = _found(text)
    assert (found.verdict, found.safe_when) == (Verdict.NEEDS_RUNTIME_CHECK, "a <= 4")
    assert (found.fine, found.wrong) == (None, None)
    assert {(failure.first_failure, failure.known) for failure in found.allocators.values()} == {
        (None, False)
    }
    built = relax.VirtualMachine(relax.build(_module(text), "llvm"), tvm.cpu(), memory_cfg="naive")
    with pytest.raises((AssertionError, RuntimeError), match=stopped):
        built["main"](tvm.runtime.ShapeTuple([5]), tvm.runtime.ShapeTuple([0]))


def test_an_input_is_named_that_keeps_to_the_guesses() -> None:
    found = _found(_text('k = R.assert_op(a + b < 20, format="no")', "16", "a"))
    assert found.wrong == {"a": 5, "b": 0}
    assert found.allocators["naive"].first_failure == {"a": 5, "b": 0}


@pytest.mark.vm
@pytest.mark.parametrize(
    ("divided", "size", "extent", "wrong"),
    [
        ("100 // a", "a", "4", {"a": 1}),
        ("T.max(T.min(100 // (a - 5), 64), 16)", "16", "a", {"a": 6}),
        ("T.max(T.min(100 % (a * b), 64), 16)", "16", "a", {"a": 5, "b": 1}),
    ],
)
@pytest.mark.parametrize("before", [True, False], ids=["before", "behind"])
def test_a_named_input_divides_by_zero_nowhere(
    divided: str, size: str, extent: str, wrong: dict[str, int], before: bool, machine: Machine
) -> None:
    line = f"u = {STORAGE.format(divided)}"
    text = _text(line if before else "u = h", size, extent)
    if not before:
        text = text.replace("        return t", f"        {line}\n        return t")
    found = _found(text)
    named = {name: abs(value) for name, value in (found.wrong or {}).items()}
    assert named == wrong
    values = {"a": 4, "b": 4, **(found.wrong or {})}
    inputs = [parse_input(f"shape({values[name]})") for name in "ab"]
    result = machine.run(Module(text), "main", inputs, allocator="naive")
    assert "storage allocation failure" in str(result.message)


@pytest.mark.vm
@pytest.mark.parametrize("code", ["RLX101", "RLX103"])
def test_nothing_wraps_around_on_the_way_of_a_named_input(code: str, machine: Machine) -> None:
    """Twice the greatest scalar is -2: the assertion would refuse it."""
    asserted = ['k = R.assert_op(a > b, format="no")', 'j = R.assert_op(b <= a + a, format="no")']
    text = _text("\n        ".join(asserted), "32", "T.max(b, 1)")
    (found,) = (one for one in checks(_module(text), code) if one.wrong)
    assert found.wrong is not None
    inputs = [parse_input(f"shape({found.wrong[name]})") for name in "ab"]
    result = machine.run(Module(text), "main", inputs, allocator="naive")
    assert result.message is not None
    assert "no" not in str(result.message).split()


def test_only_the_function_itself_is_asked_what_it_divides_by() -> None:
    """Without a division zero is an input like others."""
    assert _found(_text("u = h", "a", "4")).wrong == {"a": 0}
