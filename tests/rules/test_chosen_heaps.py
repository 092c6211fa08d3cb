"""Shape heaps that are not the allocation itself: chosen by a branch, returned, packed, reshaped, handed to a callee."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

FINE, UNSURE, WRONG = "always-fine", "needs-runtime-check", "always-wrong"
HEAP = (
    'R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (R.prim_value(2),),'
    ' ty_args=[R.Tensor(ndim=1, dtype="int64")])'
)
TWO = (f"h = {HEAP}", f"g = {HEAP}")
CHOSEN = ("if c:", "    r = h", "else:", "    r = g")
OF_HEAP = 'R.Tensor(ndim=1, dtype="int64")'


def _store(heap: str, *slots: int, name: str = "_") -> str:
    codes = ", ".join(f"R.prim_value(1), R.prim_value({slot})" for slot in slots)
    call = f'"vm.builtin.match_shape", x, {heap}, R.prim_value({len(slots)}), {codes}, R.str("")'
    return f"{name} = R.call_packed({call}, ty_args=[R.Any])"


def _load(heap: str) -> str:
    """The extents of `x` the other way round, where both were stored."""
    codes = ", ".join(f"R.prim_value(1), R.prim_value({slot})" for slot in (1, 0))
    call = f'"vm.builtin.make_shape", {heap}, R.prim_value(2), {codes}'
    return f"s = R.call_packed({call}, ty_args=[R.Shape(ndim=2)])"


def _function(head: str, *lines: str) -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return f"@R.function(private=True, pure=False)\ndef {head}:\n{body}"


READS = _function(f"reads(h: {OF_HEAP}) -> R.Any", _load("h"), "return s")
FILLS = _function(
    f'fills(h: {OF_HEAP}, x: R.Tensor(ndim=2, dtype="float32")) -> R.Any', _store("h", 0, 1), "return x"
)
HALF = (
    FILLS.replace("fills(", "half(")
    .replace("R.prim_value(2), ", "R.prim_value(1), ")
    .replace(", R.prim_value(1), R.prim_value(1), R.str", ", R.str")
)
PUBLIC = READS.replace("private=True, ", "")
MAKES = _function(f"makes() -> {OF_HEAP}", f"h = {HEAP}", "return h")
MADE = _function(
    f'made(x: R.Tensor(ndim=2, dtype="float32")) -> {OF_HEAP}', f"h = {HEAP}", _store("h", 0, 1), "return h"
)
ONE_EACH = (
    "if c:",
    f"    h = {HEAP}",
    f"    {_store('h', 0, 1)}",
    "    r = h",
    "else:",
    f"    g = {HEAP}",
    "    {other}",
    "    r = g",
)


def _each(other: str) -> tuple[str, ...]:
    return tuple(line.format(other=other) if "{other}" in line else line for line in ONE_EACH)


def _reshaped(*first: str) -> tuple[str, ...]:
    call = 'R.call_packed("vm.builtin.reshape", h, R.shape([2]), ty_args=[R.Tensor((2,), dtype="int64")])'
    return (f"h = {HEAP}", *first, f"q = {call}", _load("q"))


TUPLES = ("if c:", "    t = (h, g)", "else:", "    t = (g, h)", "q = t[0]")
BOTH = (_store("h", 0, 1), _store("g", 0, 1, name="_1"))
CASES = {
    "neither is written": ("", (*TWO, *CHOSEN, _load("r")), WRONG),
    "it is written under the new name": ("", (*TWO, *CHOSEN, _store("r", 0, 1), _load("r")), FINE),
    "one of them is written": ("", (*TWO, *CHOSEN, _store("h", 0, 1), _load("r")), UNSURE),
    "one of them was written before": ("", (*TWO, _store("h", 0, 1), *CHOSEN, _load("r")), UNSURE),
    "both are written behind": ("", (*TWO, *CHOSEN, *BOTH, _load("r")), FINE),
    "both were written before": ("", (*TWO, *BOTH, *CHOSEN, _load("r")), FINE),
    "the other may be written": ("", (*TWO, *CHOSEN, _store("r", 0, 1), _load("h")), UNSURE),
    "one branch writes": ("", (*_each("y = x"), _load("r")), UNSURE),
    "each branch writes its own": ("", (*_each(_store("g", 0, 1, name="_1")), _load("r")), FINE),
    "tuples, unwritten": ("", (*TWO, *TUPLES, _load("q")), WRONG),
    "tuples, written": ("", (*TWO, *BOTH, *TUPLES, _load("q")), FINE),
    "returned unwritten": (MAKES, ("h = Module.makes()", _load("h")), WRONG),
    "returned and written here": (MAKES, ("h = Module.makes()", _store("h", 0, 1), _load("h")), FINE),
    "returned written": (MADE, ("h = Module.made(x)", _load("h")), FINE),
    "a callee reads it unwritten": (READS, (f"h = {HEAP}", "s = Module.reads(h)"), WRONG),
    "a callee reads it written": (READS, (f"h = {HEAP}", _store("h", 0, 1), "s = Module.reads(h)"), FINE),
    # Others may call it, too.
    "a public callee reads it unwritten": (PUBLIC, (f"h = {HEAP}", "s = Module.reads(h)"), UNSURE),
    "a public callee reads it written": (
        PUBLIC,
        (f"h = {HEAP}", _store("h", 0, 1), "s = Module.reads(h)"),
        FINE,
    ),
    "a callee fills it": (FILLS, (f"h = {HEAP}", "y = Module.fills(h, x)", _load("h")), FINE),
    "a callee fills one slot": (HALF, (f"h = {HEAP}", "y = Module.half(h, x)", _load("h")), WRONG),
    "reshaped unwritten": ("", _reshaped(), WRONG),
    "reshaped written": ("", _reshaped(_store("h", 0, 1)), FINE),
}


def _text(functions: str, lines: tuple[str, ...]) -> str:
    body = "".join(f"    {line}\n" for line in (*lines, "return s"))
    main = (
        '@R.function(pure=False)\ndef main(x: R.Tensor(ndim=2, dtype="float32"), c: R.Tensor((), "bool")):\n'
    )
    return functions + main + body


@pytest.mark.parametrize("case", CASES)
def test_what_is_said_of_the_slots_that_are_read(case: str) -> None:
    functions, lines, verdict = CASES[case]
    assert [check.verdict.value for check in checks(parse(_text(functions, lines)), "RLX205")] == [verdict]


def test_what_outsiders_give_is_written() -> None:
    text = _function(f"main(h: {OF_HEAP}) -> R.Any", _load("h"), "return s").replace("private=True, ", "")
    assert [check.verdict.value for check in checks(parse(text), "RLX205")] == [FINE]


@pytest.mark.parametrize(("own", "verdict"), [("y = x", UNSURE), (_store("h", 0, 1), FINE)])
def test_a_heap_of_somebody_else_that_only_the_other_branch_uses(own: str, verdict: str) -> None:
    lines = (
        "if c:",
        "    r = g",
        "else:",
        f"    h = {HEAP}",
        f"    {own}",
        f"    {_store('g', 0)}",
        "    r = h",
    )
    head = f'main(g: {OF_HEAP}, x: R.Tensor(ndim=2, dtype="float32"), c: R.Tensor((), "bool")) -> R.Any'
    text = _function(head, *lines, _load("r"), "return s").replace("private=True, ", "")
    assert [check.verdict.value for check in checks(parse(text), "RLX205")] == [verdict]


@pytest.mark.vm
@pytest.mark.parametrize("case", [case for case, (*_, verdict) in CASES.items() if verdict == FINE])
def test_what_is_fine_gives_the_extents(case: str) -> None:
    functions, lines, _ = CASES[case]
    machine = relax.VirtualMachine(relax.build(parse(_text(functions, lines)), "llvm"), tvm.cpu())
    x = tvm.runtime.tensor(np.zeros((3, 5), "float32"))
    for c in (False, True):
        assert tuple(machine["main"](x, tvm.runtime.tensor(np.array(c)))) == (5, 3)
