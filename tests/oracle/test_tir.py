"""What is said of the accesses of random kernels holds at every size of a grid, and the interpreter is right.

`python -m tests.oracle.tir` does the same for as long as it is told to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from itertools import islice
from typing import Any

import pytest
import tvm

from tests.oracle.as_often import assert_as_often
from tests.oracle.tir import compiled, index_writer, indices
from tests.oracle.tir.compare import Unusable, compare, compare_function, runs
from tests.oracle.tir.compiled import compare_machine
from tests.oracle.tir.large import every
from tests.oracle.tir.machine import Machine, Outcome, random_contents
from tests.oracle.tir.writer import some

TIED = {
    "a step": "for i in T.serial(0, m, step=2):\n    if i + 1 <= n + 1:\n        y[0] = x[i]",
    "a tile": "for i in range(n):\n    for j in range(4):\n        if i * 4 + j < m:\n            y[0] = x[i * 4 + j]",
    "a width": "for i in range(n):\n    for j in range(4):\n        if i * 4 < n - 1 and i > 0:\n"
    "            y[0] = x[i * m + j]",
    "a rest": "for i in range(m):\n    if i % 2 == 0:\n        y[0] = x[i + 1]",
    "two steps": "for i in range(m):\n    for j in range(m):\n        if i * 2 + j * 3 == n:\n"
    "            y[0] = x[n - 1 + i % 2]",
    "backwards": "for i in range(m):\n    if 3 * i >= n - 2:\n        y[0] = x[n - 1 - 2 * i]",
    "a product": "for i in range(m):\n    if i * n <= m + 1:\n        y[0] = x[2 * i]",
    "a quotient": "for i in range(m):\n    if i * 3 // 2 >= n and i % 3 == 1:\n        y[0] = x[i - 1]",
}
"""Guards that are tied to the index by a loop of which neither holds every value."""

HEAD = """\
@T.prim_func(s_tir=True)
def f(x_: T.handle, y_: T.handle):
    n = T.int64()
    x = T.match_buffer(x_, (n,), "float32")
    y = T.match_buffer(y_, (n,), "float32")
"""


def carried_out(body: str, n: int = 4) -> Outcome:
    """A run of a kernel that reads `x` and writes `y`, of `n` elements each."""
    text = HEAD + "".join(f"    {line}\n" for line in body.strip().splitlines())
    prim_func: Any = tvm.script.from_source(text)
    machine = Machine(prim_func)
    shapes = machine.shapes({"n": n})
    assert shapes is not None
    return machine.run({"n": n}, random_contents(prim_func, shapes, 1))


def test_an_access_outside_is_told_with_its_axis_indices_and_loops() -> None:
    (found,) = carried_out("for i in range(n):\n    y[i + 1] = x[i]").report.outside
    assert (found.buffer, found.axis, found.indices, found.loops) == ("y", 0, (4,), (("i", 3),))
    assert not carried_out("for i in range(n - 1):\n    y[i + 1] = x[i]").report.outside


@pytest.mark.parametrize(("offset", "is_outside"), [("T.int64(0)", False), ("T.int64(1)", True), ("n", True)])
def test_memory_that_begins_at_an_offset_is_not_larger_for_it(offset: str, is_outside: bool) -> None:
    body = f'w = T.alloc_buffer((n,), "float32", elem_offset={offset})\n'
    body += "for i in range(n):\n    w[i] = x[i]\nfor i in range(n):\n    y[i] = w[i]"
    assert bool(carried_out(body).report.outside) == is_outside
    text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    assert compare_function(tvm.script.from_source(text))["accesses proved"] == (2 if is_outside else 4)


@pytest.mark.parametrize(
    ("guard", "is_outside"),
    [
        ("T.if_then_else(i > 0, x[i - 1], T.float32(0))", False),
        ("x[T.max(i - 1, 0)]", False),
        ("x[i - 1]", True),
    ],
)
def test_what_a_guard_keeps_away_is_not_loaded(guard: str, is_outside: bool) -> None:
    report = carried_out(f"for i in range(n):\n    y[i] = {guard}").report
    assert bool(report.outside) is is_outside


def test_what_nothing_wrote_is_an_early_read() -> None:
    body = 's = T.alloc_buffer((8,), "float32", scope="local")\ns[0] = T.float32(1)\n'
    assert carried_out(body + "y[0] = s[1]").report.early
    assert not carried_out(body + "y[0] = s[0]").report.early


@pytest.mark.parametrize(
    ("body", "races"),
    [
        ("for i in T.parallel(n):\n    y[0] = x[i]", True),
        ("for i in T.parallel(n):\n    y[i] = x[i]", False),
        ("for i in T.parallel(n):\n    y[i] = y[0] + x[i]", True),
        ("for i in range(n):\n    y[0] = x[i]", False),
        ('for i in T.thread_binding(n, thread="blockIdx.x"):\n    y[i // 2] = x[i]', True),
    ],
)
def test_two_steps_of_a_parallel_loop_on_one_element_are_a_race(body: str, races: bool) -> None:
    assert bool(carried_out(body).report.races) is races


@pytest.mark.parametrize(
    ("barrier", "races"), [('T.tvm_storage_sync("shared")', False), ("T.evaluate(0)", True)]
)
def test_threads_wait_for_each_other_at_a_barrier(barrier: str, races: bool) -> None:
    body = f"""\
t = T.launch_thread("threadIdx.x", 4)
s = T.alloc_buffer((4,), "float32", scope="shared")
s[t] = x[t]
{barrier}
y[t] = s[3 - t]
"""
    outcome = carried_out(body)
    assert bool(outcome.report.races) is races
    if not races:
        assert outcome.contents[1] == outcome.contents[0][::-1]


def test_integers_wrap_and_divide_as_compiled_ones_do() -> None:
    body = """\
y[0] = T.Cast("float32", T.Cast("int8", n * 100))
y[1] = T.Cast("float32", T.truncdiv(1 - n, 2))
y[2] = T.Cast("float32", (1 - n) // 2)
y[3] = T.Cast("float32", T.truncmod(1 - n, 2))
"""
    assert carried_out(body).contents[1] == [-112.0, -1.0, -2.0, -1.0]


def test_what_is_said_of_accesses_races_and_buffers_holds_at_every_size() -> None:
    seen: Counter[str] = Counter()
    for kernel in some(12, 21):
        try:
            seen += compare(kernel)
        except Unusable:
            seen["not taken"] += 1
    least = {
        "kernels": 12,
        "accesses proved": 44,
        "accesses depends on the input": 17,
        "accesses inside up to a size": 2,
        "conditions compared": 290,
        "fine said fine": 94,
        "wrong said wrong": 71,
        "unused buffers": 60,
    }
    assert_as_often(seen, least)


def test_what_is_said_of_seldom_forms_holds_at_every_size() -> None:
    seen: Counter[str] = Counter()
    for kernel in islice(every(30, 7), 1, None, 2):
        try:
            seen += compare(kernel)
        except Unusable:
            seen["not taken"] += 1
        seen["calls"] += len(kernel.functions)
    least = {
        "kernels": 14,
        "calls": 1,
        "accesses proved": 56,
        "accesses assumed": 6,
        "accesses depends on the input": 15,
        "accesses inside up to a size": 1,
        "conditions compared": 302,
        "fine said fine": 135,
        "wrong said wrong": 70,
        "unused buffers": 21,
        "unwritten reads": 1,
    }
    assert_as_often(seen, least)


CALLED = """\
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def g(p: T.handle, k: T.int64):
        b = T.decl_buffer((8,), "float32", data=p)
        for i in range(k):
            b[i] = T.float32(1)

    @T.prim_func(s_tir=True)
    def f(x_: T.handle):
        n = T.int64()
        x = T.match_buffer(x_, (n,), "float32")
        Module.g({}, n {})
"""


@pytest.mark.parametrize(
    ("pointer", "more", "outside"),
    [
        ("x.data", "- 1", ()),
        ("T.address_of(x[2])", "- 3", ()),
        ("T.address_of(x[2])", "- 1", range(2, 9)),
        ("x.data", "+ 1", range(9)),
    ],
)
def test_a_function_that_is_called_works_on_the_memory_that_it_is_given(
    pointer: str, more: str, outside: Collection[int]
) -> None:
    module = tvm.script.from_source(CALLED.format(pointer, more))
    for size, report in runs(module).reports.items():
        (n,) = dict(size).values()
        assert bool(report.outside) is (n in outside), n
    seen = compare_function(module)
    assert seen["kernels"]
    assert not seen["accesses undecided"]


@pytest.mark.vm
def test_the_interpreter_calls_functions_as_the_machine_does() -> None:
    module = tvm.script.from_source(CALLED.format("T.address_of(x[1])", "- 2"))
    assert compiled.compare_function(module)["runs on the machine"]


@pytest.mark.parametrize("form", TIED)
def test_a_region_is_exact_where_a_step_ties_a_guard_to_an_index(form: str) -> None:
    head = HEAD.replace("y_: T.handle", "y_: T.handle, z_: T.handle").replace("(y_, (n,)", "(y_, (1,)")
    head += '    m = T.int64()\n    z = T.match_buffer(z_, (m,), "float32")\n'
    body = "".join(f"    {line}\n" for line in TIED[form].splitlines())
    assert compare_function(tvm.script.from_source(head + body))["conditions compared"] > 0


def test_the_range_of_what_is_stored_holds_at_every_size() -> None:
    seen: Counter[str] = Counter()
    for number, text in enumerate(index_writer.some(30, 3)):
        seen += indices.compare(text)
        if number % 3 == 0:
            seen += indices.compare_used(text, indices.ROWS[number // 3 % len(indices.ROWS)])
    least = {"stated": 27, "compared": 472, "reached": 100, "gather assumed": 8, "gather proved": 2}
    assert_as_often(seen, least)
    assert seen["said not to be known"] > 0


USED = {
    "a remainder": ("q[i] = p[i] % 4", "4", "gather proved"),
    "a clamp": ("q[i] = T.max(T.min(p[i], n), 0)", '"n + 1"', "gather proved"),
    "a clamp at the end": ("q[i] = T.max(T.min(p[i], n), 0)", '"n"', "gather assumed"),
    "not all": ("if p[i] > 0:\n        q[i] = 0", "4", "gather assumed"),
}


@pytest.mark.parametrize("form", USED)
def test_what_a_kernel_computes_is_known_of_the_one_that_uses_it(form: str) -> None:
    body, rows, expected = USED[form]
    head = """\
@T.prim_func(s_tir=True)
def f(p_: T.handle, e_: T.handle, q_: T.handle):
    n = T.int64()
    m = T.int64()
    p = T.match_buffer(p_, (n,), "int64")
    e = T.match_buffer(e_, (m,), "int8")
    q = T.match_buffer(q_, (n,), "int64")
    for i in range(n):
"""
    assert indices.compare_used(f"{head}        {body.replace('    q', '        q')}", rows)[expected] == 1


@pytest.mark.vm
def test_the_interpreter_computes_what_the_compiled_kernel_computes() -> None:
    seen: Counter[str] = Counter()
    for kernel in some(25, 3):
        try:
            seen += compare_machine(kernel)
        except Unusable:
            seen["not taken"] += 1
    assert seen["runs on the machine"] > 8


@pytest.mark.parametrize(("dtype", "runs"), [("float32", True), ("float16", False), ("int32", False)])
def test_memory_of_two_dtypes_is_not_compared(dtype: str, runs: bool) -> None:
    """Half of a number is another number: the interpreter knows numbers, not their bytes."""
    given = tvm.script.from_source(f"""
@T.prim_func(s_tir=True)
def f(y_: T.handle):
    n = T.int64()
    y = T.match_buffer(y_, (n,), "float32")
    v = T.decl_buffer((1,), "{dtype}", data=y.data)
    if n > 0:
        v[0] = T.{dtype}(2)
""")
    assert (compiled.compare_function(given)["runs on the machine"] > 0) == runs


def test_what_a_known_fault_of_tvm_leaves_out_is_no_disagreement() -> None:
    text = HEAD + (
        "    for i in range(n):\n        if i < 1:\n            if n % 4 == 0:\n                T.evaluate(0)\n"
        "        else:\n            y[i] = T.float32(2)\n"
    )
    assert compiled.compare_function(tvm.script.from_source(text))["runs on the machine"]


def test_numbers_that_a_compiled_kernel_cannot_be_given_are_not_run() -> None:
    text = "@T.prim_func(s_tir=True)\ndef f(y_: T.handle, ku: T.uint64):\n    n = T.int64()\n"
    text += (
        '    y = T.match_buffer(y_, (n,), "float32")\n    for i in range(n):\n        y[i] = T.float32(2)\n'
    )
    assert compiled.compare_function(tvm.script.from_source(text))["runs on the machine"]
