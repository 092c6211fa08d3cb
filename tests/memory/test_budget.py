"""Budgets (RLX601) and waste (RLX602) through the command."""

from __future__ import annotations

from pathlib import Path

import pytest
import sympy
import tvm

from relax_lint.model.builder import build_program
from relax_lint.settings.config import Config, load_config
from relax_lint.symbolic.parsing import parse_condition
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.compute import measure
from relax_lint.vm.allocators import Allocator
from tests.memory.conftest import Memory
from tests.memory.programs import HEADER, SYMBOLIC
from tests.memory.test_workspaces import KERNEL

FREE = SYMBOLIC.replace('        R.func_attr({"tir_var_upper_bound": {"n": 2048}})\n', "")


def test_the_largest_input_that_fits(memory: Memory) -> None:
    # The page of the first storage stays in the pool: 15 of the 16 pages are left, 61440 bytes = 4 * 15360.
    found = memory(FREE, "--max-memory", "64KiB", "--output-format", "json")
    (check,) = found.report["checks"]
    assert (check["rule"], check["verdict"]) == ("RLX601", "needs-runtime-check")
    assert check["safe_when"] == "n <= 15360"
    assert check["examples"] == {"fine": {"n": 15360}, "wrong": {"n": 15361}}
    assert found.code == 1


def test_naive_gives_the_first_storage_back(memory: Memory) -> None:
    found = memory(FREE, "--max-memory", "64KiB", "--allocator", "naive")
    assert (
        "can exceed the budget of 65,536 bytes (64 KiB) with the naive allocator: fits iff n <= 16384"
        in found.out
    )


@pytest.mark.parametrize("kib", [4, 8, 12, 64])
def test_the_condition_is_where_the_measured_need_fits(memory: Memory, kib: int) -> None:
    found = memory(FREE, "--max-memory", f"{kib}KiB", "--output-format", "json").report
    symbol = sympy.Symbol("n", integer=True)
    safe = parse_condition(found["checks"][0]["safe_when"], {"n": symbol})
    program = build_program(tvm.script.from_source(FREE[FREE.index("@I.ir_module") :]))
    for n in (*range(17), *range(1023, 1027), *range(2047, 2050), *range(15359, 15362), 20000):
        need = measure(program, program.functions[0], binding={"n": n}).reserved[Allocator.POOLED]
        assert not isinstance(need, Unknown)
        assert bool(safe.subs(symbol, n)) is (need <= kib * 1024), n


@pytest.mark.parametrize(
    ("budget", "verdict", "code"), [("500B", "always-wrong", 1), ("12 KiB", "always-fine", 0)]
)
def test_certain_verdicts(memory: Memory, budget: str, verdict: str, code: int) -> None:
    # The first storage alone has 1000 bytes; at the declared 2048 both take 4 KiB and 8 KiB of pages.
    found = memory(SYMBOLIC, "--max-memory", budget, "--output-format", "json")
    assert [check["verdict"] for check in found.report["checks"]] == [verdict]
    assert found.code == code


def test_a_scope_has_a_budget_of_its_own(memory: Memory) -> None:
    options = ("--max-memory", "global=999B", "--max-memory", "texture=1B")
    found = memory(SYMBOLIC, *options, "--output-format", "json").report
    assert [check["verdict"] for check in found["checks"]] == ["always-wrong", "always-fine"]
    assert "in scope `global`" in found["checks"][0]["message"]


def test_a_bound_value_is_judged_alone_and_what_fits_is_told(memory: Memory) -> None:
    found = memory(FREE, "--max-memory", "64KiB", "--bind", "n=20000")
    assert "= verdict: always-wrong\n" in found.out
    assert "= assumes: n = 20000 (requested)\n" in found.out
    assert "= note: fits iff n <= 15360\n" in found.out
    assert memory(FREE, "--max-memory", "64KiB", "--bind", "n=1..15360").code == 0


def test_waste_is_reported_on_demand(memory: Memory) -> None:
    wasteful = FREE.replace("R.shape([4 * n])", "R.shape([400 * n + 3000])")
    assert memory(wasteful).code == 0
    found = memory(wasteful, "--select", "RLX602", "--output-format", "json")
    (check,) = found.report["checks"]
    # At best max(1000, 4*n) bytes, but 400*n + 4000 are planned.
    assert (check["rule"], check["verdict"], check["severity"]) == ("RLX602", "always-wrong", "note")
    assert check["binding"] == "s"


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ("512", "the budget `512` has no unit: write `512MiB`, say"),
        ("512MX", "is not a size"),
        ("MiB", "is not a size"),
        ("-1MiB", "is not a size"),
        ("0MiB", "above 0"),
        ("9999999TiB", "below 2**63"),
        ("=1MiB", "names no scope"),
    ],
)
def test_what_is_no_budget(memory: Memory, budget: str, message: str) -> None:
    found = memory("print(1)\n", f"--max-memory={budget}")
    assert (found.code, found.out) == (2, "")
    assert message in found.err


@pytest.mark.parametrize(
    ("text", "budgets"),
    [
        ('max-memory = "1.5 KiB"', (("", 1536),)),
        ('max-memory = "2MB"', (("", 2_000_000),)),
        ('max-memory = {global = "1KiB", texture = "2KiB"}', (("global", 1024), ("texture", 2048))),
    ],
)
def test_budgets_in_the_configuration(text: str, budgets: object, tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text(f"[tool.relax-lint]\n{text}\n", encoding="utf-8")
    assert load_config(str(file)) == Config(max_memory=budgets)  # type: ignore[arg-type]


TWO = (
    HEADER
    + """@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("b", "n"), "float32")):
        b = T.int64()
        n = T.int64()
        s = R.memory.alloc_storage(R.shape([16 * b * n]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(s, 0, R.shape([b, n]), "float32")
        k = R.memory.kill_tensor(a)
        l = R.memory.kill_storage(s)
        s1 = R.memory.alloc_storage(R.shape([12 * b * n]), 0, "global", "uint8")
        a1 = R.memory.alloc_tensor(s1, 0, R.shape([b, n]), "float32")
        return a1
"""
)
"""Two symbols; where both sizes are equal, in pages, the pool takes less: it has no formula."""


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ((), (("b = 1", 2304), ("b = 64", 36))),
        (("--assume", "b <= 8"), (("b = 8", 288),)),
        (("--bind", "b=8"), (("", 288),)),
    ],
)
def test_with_several_symbols_each_is_solved_with_the_others_fixed(
    memory: Memory, options: tuple[str, ...], parts: tuple[tuple[str, int], ...]
) -> None:
    (check,) = memory(TWO, "--max-memory", "64KiB", "--output-format", "json", *options).report["checks"]
    said = " ".join([check["message"], *check["notes"], check["proof"]["detail"]])
    program = build_program(tvm.script.from_source(TWO.removeprefix(HEADER)))
    for at, most in parts:
        b = int(at.partition("= ")[2] or 8)
        for n, fits in ((most, True), (most + 1, False)):
            size = measure(program, program.functions[0], binding={"b": b, "n": n}).reserved[Allocator.POOLED]
            assert isinstance(size, int)
            assert (size <= 64 << 10) is fits
        assert f"n <= {most}" in said
        assert at in said


def test_every_symbol_bound_is_decided(memory: Memory) -> None:
    options = ("--max-memory", "64KiB", "--output-format", "json", "--bind", "b=8")
    for n, verdict in ((288, "always-fine"), (289, "always-wrong")):
        (check,) = memory(TWO, *options, "--bind", f"n={n}").report["checks"]
        assert check["verdict"] == verdict


def test_the_kernels_own_buffers_count(memory: Memory) -> None:
    # 256 bytes a row for the storage and as many for the kernel's own buffer, in pages of 16 rows.
    found = memory(KERNEL, "--max-memory", "64KiB", "--output-format", "json")
    assert found.report["checks"][0]["safe_when"] == "n <= 128"


def _handed_on(call: str) -> str:
    return f"""{HEADER}
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((8,), "float32")):
        s = R.memory.alloc_storage(R.shape([5000]), 0, "global", "uint8")
        t = R.memory.alloc_tensor(s, 0, R.shape([8]), "float32")
        y = {call}
        q = R.memory.alloc_storage(R.shape([9000]), 0, "global", "uint8")
        u = R.memory.alloc_tensor(q, 0, R.shape([8]), "float32")
        return (y, u)
"""


@pytest.mark.parametrize(
    ("call", "verdict", "assumed"),
    [
        (
            'R.call_packed("give.back", t, ty_args=(R.Tensor((8,), "float32"),))',
            "always-fine",
            ["`give.back` neither returns nor keeps memory that it is given"],
        ),
        ("R.memory.kill_tensor(t)", "always-fine", []),
        ('R.call_packed("vm.builtin.copy", t, ty_args=(R.Tensor((8,), "float32"),))', "always-wrong", []),
    ],
)
def test_a_budget_says_when_it_relies_on_a_packed_function(
    memory: Memory, call: str, verdict: str, assumed: list[str]
) -> None:
    """If it gives its argument back, both storages live at the end: 14000 bytes."""
    options = ("--max-memory", "10000B", "--allocator", "naive", "--output-format", "json")
    (check,) = memory(_handed_on(call), *options).report["checks"]
    assert (check["verdict"], check["assumes"]) == (verdict, assumed)
