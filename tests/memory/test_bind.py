"""`--bind`: exact values, ranges, and what cannot be bound."""

from __future__ import annotations

import re
from typing import Any

import pytest
import sympy
import tvm

from relax_lint.model.builder import build_program
from relax_lint.output.tvm import text
from relax_lint.symbolic.parsing import parse_expr
from relax_lint.totals.compute import measure
from relax_lint.vm.allocators import Allocator
from tests.memory.conftest import Memory
from tests.memory.programs import BRANCHES, HEADER, SYMBOLIC
from tests.report_schema import report_validator


def test_a_value(memory: Memory) -> None:
    (total,) = memory(SYMBOLIC, "--bind", "n=128", "--output-format", "json").report["memory"]
    assert total["planned"]["dynamic_bytes"] == {"expr": "4*n", "value": 512}
    assert total["peak_live"]["value"] == 1000
    # 1000 and 512 bytes take one page each, of the same size: the second is the first one again.
    assert total["reserved"]["pooled"]["value"] == 4096
    assert total["bindings"] == {"n": 128}
    assert total["symbols"] == [{"name": "n", "low": None, "high": 2048}]


def test_a_range_tells_where_the_formula_changes_and_the_maximum(memory: Memory) -> None:
    found = memory(SYMBOLIC, "--bind", "n=1..1000", "--output-format", "json").report
    report_validator().validate(found)
    over = found["memory"][0]["over_range"]["peak_live"]
    assert over["maximum"] == 4000
    assert over["at"] == {"n": 1000}
    # 4*n reaches 1000 at n = 250 and exceeds it from n = 251 on.
    assert over["pieces"] == [
        {"low": 1, "high": 250, "expr": "1000"},
        {"low": 251, "high": 1000, "expr": "4*n"},
    ]


def test_the_text_of_a_range(memory: Memory) -> None:
    found = memory(SYMBOLIC, "--bind", "n=1..1000").out
    assert "at most 4,000 bytes (3.906 KiB), at n = 1000; 4 bytes more per n near n = 1000\n" in found
    # Formulas are there for those who ask for them.
    assert "4*n" not in found
    with_formulas = memory(SYMBOLIC, "--bind", "n=1..1000", "--formulas").out
    assert "n = 1..250: 1000 bytes\n" in with_formulas
    assert "n = 251..1000: 4*n bytes\n" in with_formulas


def test_a_range_fills_every_row_and_says_how_a_total_grows(memory: Memory) -> None:
    found = memory(SYMBOLIC, "--bind", "n=1..1000", "--output-format", "json").report["memory"][0]
    over = found["over_range"]
    assert {"planned.dynamic_bytes", "parameters.bytes", "lower_bound", "repeated.naive"} <= over.keys()
    step = {"symbol": "n", "bytes": 4, "units": 1, "up_to": None, "apart": False}
    assert over["planned.dynamic_bytes"]["growth"] == [step]
    assert over["planned.dynamic_bytes"]["minimum"] == 4
    assert over["planned.dynamic_bytes"]["at_end"] == 4000
    # Up to n = 250 another storage is larger: there is no one step.
    assert over["peak_live"]["growth"] == [{**step, "up_to": 1000}]
    # In one page both storages share a buffer; everywhere else the pool takes a page more for 1024 numbers.
    pool = over["repeated.pooled"]["growth"]
    assert pool == [{"symbol": "n", "bytes": 8192, "units": 1024, "up_to": None, "apart": True}] or not pool


def test_a_declared_bound_gives_numbers_without_being_asked(memory: Memory) -> None:
    found = memory(SYMBOLIC, "--output-format", "json").report["memory"][0]
    peak = found["over_range"]["peak_live"]
    assert (peak["maximum"], peak["at"]) == (8192, {"n": 2048})
    assert peak["within"] == [{"name": "n", "low": 0, "high": 2048}]
    text = memory(SYMBOLIC).out
    assert "peak live" in text
    assert "at most 8,192 bytes (8 KiB), at n = 2048; 4 bytes more per n near n = 2048\n" in text
    assert "Max(" not in text


def test_a_total_that_is_the_same_for_every_value_is_one_number(memory: Memory) -> None:
    always = SYMBOLIC.replace("R.shape([4 * n])", "R.shape([T.min(n, 0) * 4 + 8192])")
    assert "peak live         8,192 bytes (8 KiB) for every n <= 2048\n" in memory(always).out.replace(
        "peak live               ", "peak live         "
    )


def test_an_assumed_bound_counts_as_well(memory: Memory) -> None:
    unbounded = SYMBOLIC.replace('        R.func_attr({"tir_var_upper_bound": {"n": 2048}})\n', "")
    assert "at most" not in memory(unbounded).out
    found = memory(unbounded, "--assume", "n <= 512", "--output-format", "json").report["memory"][0]
    assert found["over_range"]["peak_live"]["at"] == {"n": 512}


def test_a_range_of_many_values_is_decided_by_growth(memory: Memory) -> None:
    found = memory(BRANCHES, "--bind", "n=0..1000000000000", "--output-format", "json").report
    over = found["memory"][0]["over_range"]["peak_live"]
    assert (over["maximum"], over["at"]) == (12 * 10**12, {"n": 10**12})


def test_a_value_beyond_a_declared_bound_is_noted(memory: Memory) -> None:
    found = memory(SYMBOLIC, "--bind", "n=4096")
    assert "`n = 4096` violates the declared bound `n <= 2048` of `main`" in found.out
    assert found.code == 0


@pytest.mark.parametrize(
    ("binding", "message"),
    [
        ("n=large", "the value of `n` must be a whole number, not `large`"),
        ("n=1.5", "the value of `n` must be a whole number, not `1.5`"),
        ("n=-4", "`n` cannot be negative: -4"),
        ("n=-4..4", "`n` cannot be negative: -4"),
        ("n=9223372036854775808", "beyond a 64-bit integer"),
        ("n=5..2", "the range of `n` is empty: 5 is above 2"),
        ("n=1..2..3", "is not of the form"),
        ("n", "is not of the form"),
        ("=4", "is not of the form"),
        ("n=", "the value of `n` must be a whole number, not ``"),
        ("n=٣", "the value of `n` must be a whole number"),
    ],
)
def test_what_is_no_binding(memory: Memory, binding: str, message: str) -> None:
    found = memory("print(1)\n", "--bind", binding)
    assert (found.code, found.out) == (2, "")
    assert message in found.err
    assert found.err.count("\n") == 1


def test_a_symbol_is_bound_once(memory: Memory) -> None:
    found = memory("print(1)\n", "--bind", "n=1", "--bind", "n=2")
    assert (found.code, "bound twice" in found.err) == (2, True)


def test_a_symbol_that_no_function_has(memory: Memory) -> None:
    found = memory(SYMBOLIC, "--bind", "m=1")
    assert (found.code, found.out) == (2, "")
    assert "no function has a symbol `m`; the symbols are `n`" in found.err


UNKNOWN = SYMBOLIC.replace("R.shape([4 * n])", "R.shape([4 * n + 1])").replace(
    "R.shape([1000])", "R.shape([16 * n])"
)
"""Two sizes that are equal, in pages, for some values: what the pool takes has no formula."""


def test_a_total_without_a_formula_has_an_upper_limit(memory: Memory) -> None:
    free = UNKNOWN.replace('        R.func_attr({"tir_var_upper_bound": {"n": 2048}})\n', "")
    found = memory(free)
    assert re.search(r"reserved, pooled +at most 4096.*n.* bytes\n", found.out)
    bound = memory(UNKNOWN, "--bind", "n=1024").out
    # 16 KiB and 4097 bytes, which are two pages.
    assert re.search(r"reserved, pooled +24,576 bytes \(24 KiB\)\n", bound)
    report = memory(free, "--output-format", "json").report["memory"][0]
    assert report["unknown"]["reserved.pooled"].startswith("which buffers the pool reuses depends on")
    # The kernels take nothing for themselves: together it is the same.
    at_most = report["at_most"]
    assert at_most["workspaces.together.pooled"] == at_most["reserved.pooled"]
    symbol = sympy.Symbol("n", integer=True)
    pooled = parse_expr(at_most["reserved.pooled"]["expr"], {"n": symbol})
    module = build_program(tvm.script.from_source(free[free.index("@I.ir_module") :]))
    for n in (0, 1, 255, 256, 1023, 1024, 3000):
        need = measure(module, module.functions[0], binding={"n": n}).reserved[Allocator.POOLED]
        assert isinstance(need, int)
        assert need <= pooled.subs(symbol, n)


def test_under_bounds_it_is_followed_value_by_value(memory: Memory) -> None:
    program = build_program(tvm.script.from_source(UNKNOWN[UNKNOWN.index("@I.ir_module") :]))
    over = memory(UNKNOWN, "--bind", "n=0..600", "--output-format", "json").report["memory"][0]["over_range"]
    sizes = {}
    for n in range(601):
        need = measure(program, program.functions[0], binding={"n": n}).reserved[Allocator.POOLED]
        assert isinstance(need, int)
        sizes[n] = need
    found = over["reserved.pooled"]
    assert found["maximum"] == max(sizes.values())
    assert sizes[found["at"]["n"]] == found["maximum"]
    assert (found["minimum"], found["at_end"]) == (min(sizes.values()), sizes[600])
    assert not found["is_limit"]


def test_where_too_many_values_would_be_tried_a_limit_is_told(memory: Memory) -> None:
    options = ("--bind", "n=0..100000000")
    found = memory(UNKNOWN, *options, "--output-format", "json").report["memory"][0]["over_range"]
    pool = found["reserved.pooled"]
    assert pool["is_limit"]
    assert pool["maximum"] >= pool["at_end"] == 400_003_072 + 1_600_000_000
    assert " for every n <= 100000000; " in memory(UNKNOWN, *options).out


def test_the_tvm_format_is_the_text_of_tvm(memory: Memory) -> None:
    from tvm import relax

    static = SYMBOLIC.replace("R.shape([4 * n])", "R.shape([8192])")
    found = memory(static, "--output-format", "tvm")
    source = static[static.index("@I.ir_module") :]
    expected = relax.analysis.estimate_memory_usage(tvm.script.from_source(source))
    assert found.out == expected
    assert text([]) == ""


NEGATIVE = (
    HEADER
    + """@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), q: R.Shape(["k"])) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        k = T.int64()
        s = R.memory.alloc_storage(R.shape([4 * k - 16]), 0, "global", "uint8")
        t = R.memory.alloc_tensor(s, 0, R.shape([n // (k + 1)]), "float32")
        a = R.builtin.alloc_tensor(R.shape([4 * (n // (k + 1))]), "float32", 0)
        b = R.builtin.alloc_tensor(R.shape([n]), "float32", 0)
        return b
"""
)
_OF_STORAGES = ("peak_live", "reserved.naive", "repeated.naive", "planned.dynamic_bytes")


def _totals(memory: Memory, module: str, *bindings: str) -> dict[str, Any]:
    options = [part for binding in bindings for part in ("--bind", binding)]
    (found,) = memory(module, *options, "--output-format", "json").report["memory"]
    return dict(found)


def test_at_a_value_where_a_size_is_negative_nothing_is_taken(memory: Memory) -> None:
    found = _totals(memory, NEGATIVE, "n=8", "k=3")
    # The virtual machine refuses to allocate -4 bytes.
    assert {found["unknown"][f"{name} at these values"] for name in _OF_STORAGES} == {"nothing has -4 bytes"}
    assert not {*_OF_STORAGES} & {*found["over_range"]}
    assert found["planned"]["dynamic_bytes"]["value"] is None
    said = memory(NEGATIVE, "--bind", "n=8", "--bind", "k=3").out
    assert "its value is unknown: nothing has -4 bytes" in said
    assert "maximum" not in said
    # 4 bytes on the storage, and the tensors of 32 and 32 bytes.
    assert _totals(memory, NEGATIVE, "n=8", "k=5")["peak_live"]["value"] == 4 + 4 * 4 + 32


def test_over_ranges_no_value_counts_where_a_size_is_negative(memory: Memory) -> None:
    # At k = 0 the formula gives 176 - 16: more than at the end, but no call gets there.
    found = _totals(memory, NEGATIVE, "n=8", "k=0..5")
    assert "peak_live" not in found["over_range"]
    assert found["unknown"]["peak_live over the range"] == "nothing has -16 bytes, as it would at k = 0"
    assert found["over_range"]["parameters.bytes"]["maximum"] == 32
    # Right twin: the largest value is one that a call takes, whatever others there are in the range.
    grown = _totals(memory, NEGATIVE, "n=8", "k=0..50")
    assert grown["over_range"]["peak_live"]["maximum"] == 4 * 50 - 16 + 0 + 32
    assert _totals(memory, NEGATIVE, "n=8", "k=4..5")["over_range"]["peak_live"]["maximum"] == 4 + 16 + 32


def test_the_sizes_of_functions_that_are_called_count(memory: Memory) -> None:
    calling = """
    @R.function(pure=False)
    def main(x: R.Tensor(("m",), "float32"), p: R.Shape(["j"])) -> R.Tensor(("m",), "float32"):
        m = T.int64()
        j = T.int64()
        return Module.inner(x, p)
"""
    module = NEGATIVE.replace("def main(", "def inner(").replace("(pure", "(private=True, pure") + calling
    named = ("--output-format", "json", "--bind", "m=8", "--bind", "n=8", "--bind")
    for binding, behind, why in (
        ("j=3", "at these values", "nothing has -4 bytes"),
        ("j=0..5", "over the range", "nothing has -16 bytes, as it would at j = 0"),
    ):
        found = memory(module, *named, binding, "--bind", binding.replace("j", "k")).report["memory"][1]
        assert (found["function"], found["unknown"][f"peak_live {behind}"]) == ("main", why)
        assert "peak_live" not in found["over_range"]


def test_where_every_size_is_negative(memory: Memory) -> None:
    # Nothing divides by zero there: it is 4 * 5 - 400 and 16 and 32 bytes at the end.
    only = NEGATIVE.replace("[4 * k - 16]", "[4 * k - 400]")
    found = _totals(memory, only, "n=8", "k=0..5")
    assert found["unknown"]["peak_live over the range"] == "nothing has -332 bytes"


def test_with_a_value_and_a_range_nothing_is_said_to_be_unknown(memory: Memory) -> None:
    found = _totals(memory, NEGATIVE, "n=8", "k=4..50")
    assert not found["unknown"]
    assert "unknown" not in memory(NEGATIVE, "--bind", "n=8", "--bind", "k=4..50").out


def test_of_a_value_only_no_maximum_is_told(memory: Memory) -> None:
    said = memory(NEGATIVE, "--bind", "n=8").out
    assert "its value is unknown: no value is known for the symbol `k`" in said
    assert "maximum" not in said
