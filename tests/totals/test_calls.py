"""Totals of calls and branches that can be added up by hand; `test_measured` asks the machine about the same modules."""

from __future__ import annotations

import pytest
import sympy

import relax_lint
from relax_lint.model.builder import build_program
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.compute import Totals, measure, size_of
from relax_lint.totals.folded import events_of
from relax_lint.totals.formula import never_negative_symbols
from relax_lint.totals.inlined import paths_of
from relax_lint.totals.peaks import peak
from relax_lint.totals.plans import Plans
from relax_lint.totals.quantities import Quantity, evaluate
from relax_lint.totals.walk import ExecMode, Inventory
from tests.rules.checking import parse
from tests.totals.corpus_calls import (
    BY_SYMBOLS,
    CASES,
    IN_PLACE,
    KERNELS,
    TRUTH,
    TWO_STORAGES,
    VECTOR,
    choice,
    storage,
    tensor,
)


def totals(body: str, **binding: int) -> Totals:
    """Of `main`."""
    program = build_program(parse(KERNELS + body))
    function = next(function for function in program.functions if function.name == "main")
    return measure(program, function, binding=binding or None)


def live(body: str, **binding: int) -> Quantity | str:
    """The bytes of `main` that are alive at one time, or why they are not known."""
    found = size_of(totals(body, **binding).peak_live)
    return found.reason if isinstance(found, Unknown) else found


BY_HAND = {
    "tuples that are given again": 1000 + 5000,
    "a condition beside what is overwritten in place": 8 + 8192,
    "a condition that was decided before a call": 8 + 2 * 8192,
    "a condition that a callee flips": 24 + 4096 + 8192,
    "a condition beside one that a callee flips": 24 + 8 + 8192,
    "a shape that is asked for late": 1000 + 3000,
    "a condition on one of two storages": 1000 + 2000 + 4096 + 8192,
    "tuples in tuples, d returned": 64 + 32 + 1000 + 256,
    "tuples in tuples, (v, x) returned": 64 + 32 + 1000 + 256,
    "tuples in tuples of branches": 700 + 30 + 90,
}


@pytest.mark.parametrize("name", BY_HAND)
def test_what_is_alive_at_one_time(name: str) -> None:
    program = build_program(next(case for case in CASES if case.name == name).make())
    function = next(function for function in program.functions if function.name == "main")
    found = measure(program, function)
    assert size_of(found.peak_live) == BY_HAND[name]
    # Calls that are alike are followed once: the same has to come out where each is followed.
    plans, positive = Plans.of(program), never_negative_symbols(function)
    for calls in (1, 2):
        for mode in ExecMode:
            each = paths_of(plans, function, Inventory.STORAGES, None, mode, calls)
            once = events_of(plans, function, Inventory.STORAGES, None, mode, calls)
            assert peak(each, positive) == peak(once, positive)


TUPLE_FOR_A_CALL = f"""
@R.function(pure=False)
def main(x: {VECTOR}):
    sa = {storage(16)}
    a = {tensor("sa")}
    sb = {storage(16)}
    b = {tensor("sb")}
    w = {{call}}
    sc = {storage(16)}
    c = {tensor("sc")}
    w1 = R.call_packed("unheard.of", c, ty_args=R.Tuple([]))
    return x
"""


@pytest.mark.parametrize(
    "call",
    [
        'R.call_packed("unheard.of", (a, b), ty_args=R.Tuple([]))',
        'R.call_packed("unheard.of", ((a, x), b), ty_args=R.Tuple([]))',
        'R.call_packed("unheard.of", a, b, ty_args=R.Tuple([]))',
        "Module.copy(a, b)",
    ],
)
def test_tensors_are_not_needed_for_as_long_as_a_register_holds_them(call: str) -> None:
    """`c` may be where `a` was, as the program with it on `sa` shows: 32 bytes are enough for all tensors. The
    machine holds `a` and `b` to the end where a tuple of them is written in place.
    """
    text = TUPLE_FOR_A_CALL.format(call=call)
    shared = text.replace(f"sc = {storage(16)}", "").replace("alloc_tensor(sc,", "alloc_tensor(sa,")
    assert size_of(totals(shared).peak_live) == 32
    assert size_of(totals(text).lower_bound) == size_of(totals(shared).lower_bound) == 32
    assert size_of(totals(text).peak_live) == (48 if "((" in call or "(a, b), ty" in call else 32)


def test_a_callee_asks_for_an_extent() -> None:
    """Its `n` is `m + 1`: 3,000 bytes up to `m == 3`, 100 from there on, besides the caller's storage."""
    assert [live(BY_SYMBOLS, m=m) for m in (0, 3, 4, 9)] == [8 + 3000, 20 + 3000, 24 + 100, 44 + 100]
    # The formula says the same without a value.
    formula = live(BY_SYMBOLS)
    assert isinstance(formula, sympy.Expr)
    assert [evaluate(formula, {"m": m}) for m in (0, 3, 4, 9)] == [3008, 3020, 124, 144]


def test_a_condition_may_be_on_either_of_two_storages() -> None:
    """What is flipped on one of them may be the condition: the larger tensor is made both times."""
    body = TWO_STORAGES
    for size in (4096, 8, 16, 8192):
        new = f'R.builtin.alloc_tensor(R.shape([{size}]), R.dtype("uint8"), R.prim_value(0))'
        body = body.replace(storage(size), new)
    assert size_of(totals(body).lower_bound) == 4096 + 8192


def test_what_is_returned_beside_what_is_overwritten_is_alive() -> None:
    """At the call: `x` and the new tensor of 16 bytes each, and the condition."""
    (use,) = totals(IN_PLACE).calls
    assert use.size == 16 + 16 + 1


def branches(number: int) -> str:
    """Branches one after the other, each on a condition of its own; all that they make is returned."""
    parameters = ", ".join(f"c{one}: {TRUTH}" for one in range(number))
    bodies = "".join(choice(f"s{one}", f"c{one}", storage(16), storage(16 << one)) for one in range(number))
    result = ", ".join(f"s{one}" for one in range(number))
    return (
        f"@R.function(pure=False)\ndef main({parameters}):\n    cls = Module{bodies}    return ({result})\n"
    )


@pytest.mark.parametrize(
    ("number", "most"),
    [(8, 16 * (2**8 - 1)), (9, "there are more than 256 paths through the branches")],
)
def test_so_many_paths_are_followed(number: int, most: int | str) -> None:
    assert live(branches(number)) == most


def test_a_function_that_calls_itself_has_no_total_from_outside_either() -> None:
    body = f"""
@R.function(private=True, pure=False)
def inner(x: {VECTOR}) -> {VECTOR}:
    y = Module.inner(x)
    return y

@R.function(pure=False)
def main(x: {VECTOR}):
    y = Module.inner(x)
    return y
"""
    assert live(body) == "`inner` calls itself"


@pytest.mark.parametrize(("n", "alive"), [(5, {"f": 400 + 20, "g": 16 + 20}), (4, {"f": 0, "g": 16 + 16})])
def test_a_call_that_is_not_made_has_nothing_alive(n: int, alive: dict[str, int]) -> None:
    """What the function is given are `n` elements of 4 bytes."""
    module = parse(f"""
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    if n > 4:
        s = {storage(400)}
        t = {tensor("s", "100")}
        _ = R.call_packed("f", t, x, ty_args=R.Tuple)
        r = x
    else:
        r = x
    u = {storage(16)}
    v = {tensor("u")}
    _1 = R.call_packed("g", v, r, ty_args=R.Tuple)
    return v
""")
    (main,) = relax_lint.memory(module, {"n": n})
    found = {call.callee: call.used_memory for call in main.calls}
    assert {name: used and used.value for name, used in found.items()} == alive
