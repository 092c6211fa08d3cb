"""What the stores of a kernel keep of its own buffers, and what 32-bit arithmetic cannot change: each with a
twin that is not inside.
"""

from __future__ import annotations

from textwrap import dedent, indent

import pytest
import tvm

from relax_lint.model.prim_funcs import read_kernel

HEAD = """\
@T.prim_func(private=True)
def f(x_: T.handle, p_: T.handle, t: T.int32):
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(x_, (n,), "float32")
    p = T.match_buffer(p_, (m,), "float32")
    y = T.alloc_buffer((64,), "float32")
    s = T.alloc_buffer((1,), "int64")
    e = T.alloc_buffer((1,), "int64")
    order = T.alloc_buffer((m,), "{dtype}")
"""


def is_proved(body: str, buffer: str, dtype: str = "int64") -> bool:
    """Whether every access of a buffer in a kernel is proved."""
    text = HEAD.format(dtype=dtype) + indent(dedent(body), "    ")
    function = tvm.script.from_source(text, check_well_formed=False)
    found = [one for one in read_kernel("f", function).accesses.accesses if one.buffer.name == buffer]
    assert found
    return all(one.proved for one in found)


SEARCH = """\
s[0] = {first}
e[0] = {last}
while s[0] < e[0]:
    if x[(s[0] + e[0]) {half}] > p[0]:
        s[0] = ((s[0] + e[0]) // 2) + 1
    else:
        e[0] = {next}
"""


@pytest.mark.parametrize(
    ("change", "proved"),
    [
        ({}, True),
        ({"first": "T.int64(-1)"}, False),
        ({"last": "n + 1"}, False),
        ({"half": "// 2 + 1"}, False),
        ({"next": "e[0] + 1"}, False),
    ],
)
def test_both_ends_of_a_search_by_halves_stay_between_the_first_ones(
    change: dict[str, str], proved: bool
) -> None:
    parts = {"first": "T.int64(0)", "last": "n", "half": "// 2", "next": "(s[0] + e[0]) // 2"} | change
    assert is_proved(SEARCH.format(**parts), "x") is proved


COUNTER = """\
{first}
for j in range(m):
    if p[j] > T.float32(0) and s[0] {relation} n:
        x[s[0]] = T.float32(0)
        s[0] = s[0] + 1
"""


@pytest.mark.parametrize(
    ("first", "relation", "proved"),
    [
        ("s[0] = T.int64(0)", "<", True),
        ("s[0] = T.int64(0)", "<=", False),
        ("s[0] = T.int64(-1)", "<", False),
        # What was never stored is any number.
        ("", "<", False),
        ("s[0] = T.int64(0)", "!=", True),
        ("s[0] = T.int64(0)", "!= 1 +", False),
    ],
)
def test_a_counter_stays_below_what_guards_it(first: str, relation: str, proved: bool) -> None:
    body = COUNTER.format(first=first, relation=relation)
    assert is_proved(body, "x") is proved


LATER = """\
s[0] = T.int64(0)
for j in range(m):
    if p[j] > T.float32(0):
        if s[0] < {limit}:
            s[0] = s[0] + 1
{more}
if s[0] < n:
    x[s[0]] = T.float32(0)
for k in range(s[0]):
    y[k] = T.float32(0)
"""


@pytest.mark.parametrize(
    ("limit", "more", "proved"),
    [
        ("64", "", True),
        ("65", "", False),
        ("64", "s[0] = s[0] * 2", False),
        ("64", "s[0] = T.int64(7)", True),
    ],
)
def test_a_counter_bounds_a_later_loop(limit: str, more: str, proved: bool) -> None:
    assert is_proved(LATER.format(limit=limit, more=more), "y") is proved


SORT = """\
T.evaluate(T.call_packed("{callee}",
    T.tvm_stack_make_array(p.data, T.tvm_stack_make_shape(m), 0, 1, T.float32(0), T.int64(0)),
    T.tvm_stack_make_array(order.data, T.tvm_stack_make_shape({size}), 0, 1, 0, T.int64(0)), 0, T.bool(True)))
for j in range(m):
    p[T.Cast("int64", order[j]){more}] = T.float32(0)
"""


@pytest.mark.parametrize(
    ("change", "dtype", "proved"),
    [
        ({}, "int64", True),
        ({"more": " + 1"}, "int64", False),
        ({"callee": "my.sort"}, "int64", False),
        ({"size": "m - 1"}, "int64", False),
        # An index of 32 bits may wrap around.
        ({}, "int32", False),
    ],
)
def test_what_argsort_stores_is_an_index_of_its_axis(
    change: dict[str, str], dtype: str, proved: bool
) -> None:
    parts = {"callee": "tvm.contrib.sort.argsort", "size": "m", "more": ""} | change
    body = SORT.format(**parts)
    assert is_proved(body, "p", dtype) is proved


@pytest.mark.parametrize(
    ("extent", "index", "proved"),
    [
        (6, "T.shift_left(T.int64(1), i)", True),
        (7, "T.shift_left(T.int64(1), i)", False),
        (6, "T.shift_left(T.int64(1), i - 1)", False),
        (9, "T.shift_right(T.int64(63), i)", True),
        (9, "T.shift_right(T.int64(64), i)", False),
    ],
)
def test_a_shift_by_a_loop_variable_has_a_range(extent: int, index: str, proved: bool) -> None:
    body = f"for i in range(T.int64({extent})):\n    y[{index}] = T.float32(0)"
    assert is_proved(body, "y") is proved


@pytest.mark.parametrize(("extent", "proved"), [("-4", True), ("4", False)])
def test_what_is_never_reached_is_inside_whatever_its_index(extent: str, proved: bool) -> None:
    index = 'T.Cast("int64", T.ceil(p[0]))'
    body = f"for i in range(T.int64({extent})):\n    y[i + {index}] = T.float32(0)"
    assert is_proved(body, "y") is proved


@pytest.mark.parametrize(
    ("value", "proved"),
    [
        ("by * 2 + (t * 32 + by) % 2", True),
        ("by * 2 + (t * 32 + by) % 3", True),
        ("by * 21 + (t * 32 + by) % 2", False),
        ("(t * 32 + by) // 2 - t * 16", False),
        # With `t * t` LLVM leaves the ends out: `t = 46341` gives 255.
        ("T.max(T.min(t * 32 + by, 63), 0)", False),
        ("T.max(t * 32 + by, 0)", False),
    ],
)
def test_a_remainder_is_known_whether_or_not_what_is_divided_wraps_around(value: str, proved: bool) -> None:
    body = f"for by in range(4):\n    h: T.let[T.int32] = {value}\n    y[h] = T.float32(0)"
    assert is_proved(body, "y") is proved


def test_what_all_threads_share_is_a_condition() -> None:
    body = "for i in range(m):\n    if T.tvm_thread_invariant({}):\n        x[i] = T.float32(0)"
    assert is_proved(body.format("i < n"), "x")
    assert not is_proved(body.format("i <= n"), "x")


PLACED = 'T.Cast("int64", T.floor(p[{0}] * T.float32(2) + T.float32({1})))'


@pytest.mark.parametrize(
    ("other", "between", "proved"),
    [
        (PLACED.format("i", "1"), "", True),
        (PLACED.format("i + 1", "1"), "", False),
        (PLACED.format("i", "3"), "", False),
        (PLACED.format("i", "1"), "y[0] = T.float32(1)", True),
        (PLACED.format("i", "1"), "p[i] = T.float32(9)", False),
        ('T.Cast("int64", T.call_extern("float32", "rand"))', "", False),
    ],
)
def test_two_equal_conversions_of_floats_are_one_number(other: str, between: str, proved: bool) -> None:
    guarded = (
        'T.Cast("int64", T.call_extern("float32", "rand"))' if "rand" in other else PLACED.format("i", "1")
    )
    body = f"""\
for i in range(m - 1):
    if T.int64(0) <= {guarded} and {guarded} < n:
        {between or "y[1] = T.float32(1)"}
        x[{other}] = T.float32(0)
"""
    assert is_proved(body, "x") is proved


@pytest.mark.parametrize(
    ("of", "proved"),
    [
        ("T.float64(64)", True),
        ("T.float64(33)", True),
        ("T.float64(65)", False),
        ("T.float64(0.25)", False),
        ("T.float32(64)", False),
        ("p[0]", False),
    ],
)
def test_the_logarithm_of_a_constant_is_a_number(of: str, proved: bool) -> None:
    index = f'T.Cast("int64", T.ceil(T.log2({of})))'
    assert is_proved(f"y[{index} * T.int64(10) + T.int64(3)] = T.float32(0)", "y") is proved
