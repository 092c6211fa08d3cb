"""Products that are too large to be written down as sums: of an access with one nothing is known, and it is not left out.
The interpreter carries each kernel out where some access is outside.
"""

from __future__ import annotations

from textwrap import indent
from typing import Any

import pytest
import tvm

from relax_lint.model.kernel_access.polynomials import MAX_TERMS
from relax_lint.model.prim_funcs import read_kernel
from tests.oracle.tir.machine import Machine, random_contents

HEAD = """\
@T.prim_func(private=True)
def f(x_: T.handle, p_: T.handle, q_: T.handle):
    n = T.int64()
    m = T.int64()
    k = T.int64()
    x = T.match_buffer(x_, (n,), "float32")
    p = T.match_buffer(p_, (m,), "float32")
    q = T.match_buffer(q_, (k,), "float32")
"""
SUM = "(n + m + k + 1)"
POWER = " * ".join([SUM] * 5)
"""56 terms; its square has 286."""
LOOP = f"for i in range({POWER}):\n    "
SQUARE = f'S = T.alloc_buffer(({POWER}, {POWER}), "float32")\n'
POINTER = 'T.tvm_access_ptr(T.type_annotation("float32"), S.data, {}, {}, 1)'
ARRAY = "T.tvm_stack_make_array({}, T.tvm_stack_make_shape({}), 0, 2, T.float32(0), T.int64(0))"

OUTSIDE = {
    # Each loop has a step with i * 32 >= 1, and x has one element.
    "stored": (f"{LOOP}x[i * ({POWER})] = T.float32(1)", "x"),
    "loaded": (f"{LOOP}p[0] = x[i * ({POWER})]", "x"),
    "the lesser of two": (f"{LOOP}x[T.min(i * ({POWER}), n)] = T.float32(1)", "x"),
    "the greater of two": (f"{LOOP}x[T.max(i, n) * ({POWER})] = T.float32(1)", "x"),
    "a quotient": (f"{LOOP}x[i * ({POWER}) // (n + 1)] = T.float32(1)", "x"),
    "a remainder": (f"{LOOP}x[i % ({POWER}) * ({POWER})] = T.float32(1)", "x"),
    "the end of a loop": (f"{LOOP}for j in range(i * ({POWER})):\n        x[j] = T.float32(1)", "x"),
    "a condition": (f"{LOOP}if i * ({POWER}) < n * 64:\n        x[i] = T.float32(1)", "x"),
}
PASSED = {
    # Before the start of the memory, and nobody knows where it ends.
    "a pointer": (f"{SQUARE}T.evaluate(T.call_extern('int32', 'g', {POINTER.format(-5, 3)}))", "S"),
    "a pointer in a choice": (
        f"{SQUARE}T.evaluate(T.call_extern('int32', 'g', 0, {POINTER.format(-5, 3)}, 1))",
        "S",
    ),
    "a tensor": (f"T.evaluate(T.call_packed('g', {ARRAY.format('x.data', f'{POWER}, {POWER}')}))", "x"),
    "a matrix": (
        f'S = T.alloc_buffer(({POWER}, {POWER}), "float16", scope="wmma.matrix_a")\n'
        "T.evaluate(T.tvm_fill_fragment(S.data, 16, 16, 16, -1, T.float32(0)))",
        "S",
    ),
    "a view": (f'{SQUARE}V = T.decl_buffer((4,), "float32", data=S.data)\nV[0] = T.float32(1)', "V"),
}


def written(body: str) -> Any:
    return tvm.script.from_source(HEAD + indent(body, "    "), check_well_formed=False)


def open_buffers(function: Any) -> set[str]:
    """The buffers of which some access is not proved."""
    return {one.buffer.name for one in read_kernel("f", function).accesses.accesses if not one.proved}


def test_the_square_has_too_many_terms() -> None:
    assert 286 > MAX_TERMS >= 56


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_leaves_its_buffer_is_not_proved(name: str) -> None:
    body, buffer = OUTSIDE[name]
    function = written(body)
    machine, size = Machine(function), {"n": 1, "m": 0, "k": 0}
    shapes = machine.shapes(size)
    assert shapes is not None
    report = machine.run(size, random_contents(function, shapes, 1)).report
    assert buffer in {one.buffer for one in report.outside}
    assert buffer in open_buffers(function)


@pytest.mark.parametrize("name", PASSED)
def test_what_is_passed_is_not_left_out(name: str) -> None:
    body, buffer = PASSED[name]
    found = read_kernel("f", written(body)).accesses.accesses
    assert "an index is too large to expand" in {one.unread for one in found if one.buffer.name == buffer}


def test_what_a_loop_has_asserted_is_not_known_behind_it() -> None:
    body = f"{LOOP}assert i * ({POWER}) < n, ''\nx[0] = T.float32(1)"
    assert open_buffers(written(body)) == {"x"}
