"""RLX306 where an index leaves its axis: it is always wrong only where the element is outside the memory."""

from __future__ import annotations

from textwrap import indent

import pytest
import tvm

from relax_lint.replay import Machine, Module, Outcome, Tensor
from relax_lint.results.check import Check
from tests.guarded import guarded_machine
from tests.rules.checking import findings, parse

IMPORTS = "from tvm.script import ir as I, relax as R, tirx as T\n"
MODULE = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def fill(a: T.handle, b: T.handle):
        n = T.int64()
        x = T.match_buffer(a, (n, 8), "float32")
        y = T.match_buffer(b, (4, 8), "float32")
{body}

    @R.function(pure=False)
    def main(x: R.Tensor({shape}, "float32")) -> R.Tensor((4, 8), "float32"):
{symbols}
        storage = R.memory.alloc_storage(R.shape([128]), 0, "global", "uint8")
        alloc = R.memory.alloc_tensor(storage, 0, R.shape([4, 8]), "float32")
        _ = Module.fill(x, alloc)
        return alloc
"""
C = """C = T.alloc_buffer((4, 8), "float32")
for i, j in T.grid(4, 8):
    C[i, j] = T.float32(1)
"""
PICK = """
@T.prim_func(private=True)
def pick(x: T.Buffer((4, 8), "float32"), where: T.Buffer((3,), "int32"), y: T.Buffer((3,), "float32")):
    for i in range(3):
        y[i] = x[{}]

@R.function
def main(x: R.Tensor((4, 8), "float32")) -> R.Tensor((3,), "float32"):
    y = R.call_tir(Module.pick, (x, R.const({}, "int32")), R.Tensor((3,), "float32"))
    return y
"""
VIEW = 'V = T.decl_buffer((4,), "float32", data=y.data)\n'
WINDOW = """for i in range({rows}):
    with T.sblock("b"):
        v = T.axis.spatial(4, i)
        W = T.match_buffer(y[v, 0:4], (4,), "float32", offset_factor=1)
        for j in range({columns}):
            W[j] = x[i, 0]
"""
STORES = {
    "a shift": ("for i, j in T.grid({0}, 8):\n    y[i, j + 4] = x[0, j]", (3,), (4,)),
    "a shift to the front": ("for i, j in T.grid(3, 8):\n    y[i + {0}, j - 4] = x[0, j]", (1,), (0,)),
    "all in one row": ("for i in range({0}):\n    y[0, i] = x[0, 0]", (32,), (33,)),
    "a row too many": ("for i, j in T.grid(3, 8):\n    y[i + 2, j - {0}] = x[0, j]", (8,), (-8,)),
    "under a guard": (
        "for i, j in T.grid(4, 8):\n    if i < {0}:\n        y[i, j + 4] = x[0, j]",
        (3,),
        (4,),
    ),
    "a remainder": ("for i in range(64):\n    y[0, i % {0}] = x[0, 0]", (32,), (40,)),
    "a view": (VIEW + "for i in range({0}):\n    V[i] = x[0, 0]", (32,), (33,)),
    "a window": (WINDOW.replace("{rows}", "{0}").replace("{columns}", "{1}"), (3, 12), (4, 12)),
}


def _module(body: str, *, rows: str = "4") -> str:
    symbols = "        n = T.int64()" if rows == '"n"' else ""
    return MODULE.format(body=indent(body, "        "), shape=f"({rows}, 8)", symbols=symbols)


def _check(text: str) -> Check:
    (check,) = findings(tvm.script.from_source(text, check_well_formed=False), "RLX306")
    return check


machine = pytest.fixture(guarded_machine)


def _is_clean(machine: Machine, text: str) -> bool:
    result = machine.run(Module(IMPORTS + text), "main", [Tensor("float32", (4, 8))], allocator="naive")
    return result.outcome is Outcome.OK and result.damage is None


@pytest.mark.vm
@pytest.mark.parametrize("form", STORES)
def test_what_stays_in_the_memory_is_not_always_wrong_and_its_twin_is(form: str, machine: Machine) -> None:
    body, inside, outside = STORES[form]
    beside, wrong = _module(body.format(*inside)), _module(body.format(*outside))
    check = _check(beside)
    assert (check.verdict.value, check.severity.value) == ("needs-runtime-check", "warning")
    assert (check.safe_when, check.help, check.fixes, check.wrong) == (None, (), (), None)
    assert check.notes[-1].endswith("not outside its memory")
    assert _is_clean(machine, beside)
    assert _check(wrong).verdict.value == "always-wrong"
    assert not _is_clean(machine, wrong)


@pytest.mark.vm
def test_what_is_read_beyond_an_axis_is_the_next_row(machine: Machine) -> None:
    text = _module("for i, j in T.grid(4, 8):\n    y[i, j] = x[i // 2, j + 4]")
    assert _check(text).message == (
        "`fill` reads beyond axis 1 of `x`: "
        "no step was found in which the element beyond the axis is outside the memory"
    )
    result = machine.run(Module(IMPORTS + text), "main", [Tensor("float32", (4, 8))], allocator="naive")
    (output,) = result.outputs
    assert output.values is not None
    assert list(output.values) == [float(8 * (i // 2) + j + 4) for i in range(4) for j in range(8)]


def test_of_a_buffer_of_the_kernel_it_is_not_said_how_much_memory_it_has() -> None:
    load = C + "for i, j in T.grid({}, 8):\n    y[i, j] = C[i, j + 4]"
    check = _check(_module(load.format(3)))
    assert check.verdict.value == "needs-runtime-check"
    assert check.notes[-1].endswith(
        "another element of `C` of the kernel, unless TVM makes less memory of it"
    )
    assert _check(_module(load.format(4))).verdict.value == "always-wrong"


def test_strides_and_an_offset_decide_where_an_element_is() -> None:
    view = 'V = T.decl_buffer((2, 4), "float32", data=y.data, elem_offset={}, strides=(8, 1))\n'
    body = view + "for i, j in T.grid(2, 8):\n    V[i, j] = x[0, j]"
    assert _check(_module(body.format(16))).verdict.value == "needs-runtime-check"
    assert _check(_module(body.format(20))).verdict.value == "always-wrong"


@pytest.mark.parametrize(
    ("index", "verdict"), [("n - 1, j + 4", "always-wrong"), ("0, j + 4", "needs-runtime-check")]
)
def test_a_symbol_decides_how_large_the_memory_is(index: str, verdict: str) -> None:
    check = _check(_module(f"for j in range(8):\n    y[0, j] = x[{index}]", rows='"n"'))
    assert (check.verdict.value, check.safe_when) == (verdict, None)


@pytest.mark.vm
def test_two_accesses_are_wrong_together_only_where_one_leaves_the_memory(machine: Machine) -> None:
    # Inside for n = 2 and 3, inside for n >= 4: never both. With four rows `x[1, 8]` is in the next row, and
    # `x[n - 1, 8]` is behind the last one.
    body = "for j in range(n + 5):\n    y[0, 0] = x[{}, j]\nfor i in range(4):\n    y[i, 0] = x[i, 0]"
    beside, wrong = (_module(body.format(row), rows='"n"') for row in ("1", "n - 1"))
    assert _check(beside).verdict.value == "needs-runtime-check"
    assert _check(wrong).verdict.value == "always-wrong"
    assert _is_clean(machine, beside)


def test_a_region_that_a_run_contradicts_is_not_told() -> None:
    body = "for j in range(8):\n    y[1, j] = T.float32(0)\nfor j in range(n):\n    y[0, j] = T.float32(0)"
    check = _check(_module(body, rows='"n"'))
    # With nine columns the last one is in the next row.
    assert (check.verdict.value, check.safe_when) == ("needs-runtime-check", None)
    assert check.message.startswith("`fill` may write beyond axis 1 of `alloc`")


def test_where_every_row_is_used_the_region_is_that_of_the_axis() -> None:
    body = "for i, j in T.grid(4, n):\n    y[i, j] = T.float32(0)"
    assert _check(_module(body, rows='"n"')).safe_when == "n <= 8"


@pytest.mark.parametrize(
    ("indices", "axis", "verdict"),
    [
        ("[1, 9, 17]", 1, "needs-runtime-check"),
        ("[-3, 2, 1]", 1, "needs-runtime-check"),
        ("[1, 9, 32]", 1, "always-wrong"),
        ("[-25, 2, 1]", 1, "always-wrong"),
        ("[1, 4, 2]", 0, "always-wrong"),
    ],
)
def test_a_constant_index_is_wrong_where_no_row_has_it(indices: str, axis: int, verdict: str) -> None:
    where = "0, where[i]" if axis else "where[i], 0"
    module = parse(PICK.format(where, indices))
    (check,) = findings(module, "RLX308")
    assert (check.verdict.value, check.safe_when) == (verdict, None)
    assert (f"are beyond axis {axis} of `x`" in check.message) is (verdict == "needs-runtime-check")


MOVED = """C = T.sblock_alloc_buffer((8,), "float32")
for i in range(8):
    with T.sblock("a"):
        v = T.axis.spatial(8, i)
        C[v {by}] = x[0, v]
for i in range(8):
    with T.sblock("b"):
        v = T.axis.spatial(8, i)
        y[0, v] = C[v {by}]
"""


@pytest.mark.vm
def test_the_buffer_of_a_block_is_moved_to_where_it_is_used(machine: Machine) -> None:
    text = _module(MOVED.format(by="+ 20"))
    check = _check(text)
    assert (check.verdict.value, check.severity.value) == ("needs-runtime-check", "warning")
    result = machine.run(Module(IMPORTS + text), "main", [Tensor("float32", (4, 8))], allocator="naive")
    assert (result.outcome, result.damage) == (Outcome.OK, None)
    (output,) = result.outputs
    assert output.values is not None
    assert list(output.values)[:8] == [float(i) for i in range(8)]
    assert _check(_module(MOVED.format(by="- 20"))).verdict.value == "always-wrong"
