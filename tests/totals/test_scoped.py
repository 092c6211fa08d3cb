"""Storages in the scopes of devices: what they take is TVM's rule for the scope, or it is said not to be known."""

from __future__ import annotations

from typing import Any

import pytest
import tvm

from relax_lint.judging.report import check_module
from relax_lint.model.builder import build_program
from relax_lint.model.program import Function, Program
from relax_lint.output.html import _function
from relax_lint.results.memory_figures import AT_VALUES, Amount, MemoryTotals
from relax_lint.settings.config import Config
from relax_lint.settings.memory_request import WHOLE, Binding, MemoryRequest
from relax_lint.totals.compute import measure
from relax_lint.totals.kernel_memory import KernelMemory
from relax_lint.totals.pool_limits import concrete_pool, pool_limits
from relax_lint.totals.quantities import evaluate
from relax_lint.totals.result import function_totals
from relax_lint.totals.timeline import timelines
from relax_lint.totals.workspaces import concrete_workspaces, measure_workspaces
from relax_lint.vm.allocators import Allocator

PAGE = 4096
_PAGES = "4096*((n + 4091)//4096) + 4096"
BARRIERS = 2 * 4 * (24 + 2) * 8


def module(*lines: str) -> Any:
    """A function of `x`, a tensor of `n` elements, with these lines."""
    body = "\n        ".join(lines)
    text = f"""
@I.ir_module
class M:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        {body}
        return x
"""
    return tvm.script.from_source(text)


def program(*lines: str) -> tuple[Program, Function]:
    """The same, read."""
    found = build_program(module(*lines))
    return found, found.functions[0]


def storage(name: str, shape: str, scope: str, dtype: str = "uint8") -> str:
    return f'{name} = R.memory.alloc_storage(R.shape([{shape}]), 0, "{scope}", "{dtype}")'


def free(name: str) -> str:
    return f"_ = R.memory.kill_storage({name})"


def totals(*lines: str, **bindings: int) -> MemoryTotals:
    found, main = program(*lines)
    request = MemoryRequest(tuple(Binding(name, value, value) for name, value in bindings.items()))
    return function_totals(found, main, measure(found, main), request, page_size=PAGE)


@pytest.mark.parametrize(
    ("scope", "reason"),
    [
        ("global.texture", "in scope `global.texture` rows are padded to what the device asks for"),
        ("somewhere", "what a storage in scope `somewhere` holds is up to the device"),
    ],
)
def test_what_a_scope_takes_that_is_up_to_the_device_is_not_known(scope: str, reason: str) -> None:
    lines = storage("s", "100", "global"), storage("t", "n", scope)
    for found in (totals(*lines), totals(*lines, n=8)):
        assert found.peak_live is None
        assert set(found.reserved.values()) | set(found.repeated.values()) == {None}
        assert {found.unknown[f"reserved.{each.value}"] for each in Allocator} == {reason}
        assert found.by_scope["global"] is not None
        # What is in other scopes is known all the same, and what the tensors need.
        assert (found.by_scope["global"].value, found.by_scope[scope]) == (100, None)
        assert found.lower_bound is not None
    assert pool_limits(*program(*lines), PAGE).reason == reason  # type: ignore[union-attr]
    assert concrete_pool(*program(*lines), PAGE) is None
    assert timelines(*program(*lines), PAGE) == ()


def test_kernels_have_their_own_buffers_whatever_the_scope_takes() -> None:
    found, main = program(storage("t", "n", "global.texture"))
    kernels = KernelMemory(tvm.IRModule(), "llvm")
    asked = measure_workspaces(found, main, kernels)
    assert asked.held == 0
    assert all(not isinstance(size, int) for size in asked.together.values())
    assert concrete_workspaces(found, main, kernels) is None


def test_a_table_of_regions_begins_each_at_a_step() -> None:
    """As `HexagonBuffer` with two axes has it: 3 regions of 2,049 bytes in steps of 2,048."""
    found = totals(storage("t", "3, n", "global.vtcm"), storage("u", "2, n", "global.ddr"), n=2049)
    assert found.peak_live is not None
    assert found.peak_live.value == 3 * 4096 + 2 * 4096
    formula = totals(storage("t", "3, n", "global.vtcm")).peak_live
    assert formula is not None
    assert formula.expr == "6144*((n + 2047)//2048)"
    more = totals(storage("t", "3, n, 2", "global.vtcm"))
    assert more.unknown["peak_live"] == "in scope `global.vtcm` a storage has one axis, or two"


def test_the_pool_refuses_what_a_hexagon_has_besides() -> None:
    lines = storage("s", "100", "global"), storage("t", "100", "global.ddr")
    found = totals(*lines)
    assert found.reserved["naive"] is not None
    assert (found.reserved["naive"].value, found.reserved["pooled"]) == (200, None)
    assert found.unknown["repeated.pooled"] == "the pooled allocator refuses scope `global.ddr`"
    asked = concrete_workspaces(*program(*lines), KernelMemory(tvm.IRModule(), "llvm"))
    assert asked is not None
    assert asked.at({})["workspaces.together.naive"] == 200
    assert "workspaces.together.pooled" not in asked.at({})


def test_tensors_without_a_plan_need_no_steps() -> None:
    """Two tensors of 100 bytes may lie on one storage of 2,048; each on its own takes as many."""
    lines = [f'{name} = R.builtin.alloc_tensor(R.shape([100]), "uint8", 0, "global.vtcm")' for name in "ab"]
    uses = ['_ = R.call_packed("f", a, b, ty_args=R.Tuple)']
    found = totals(*lines, *uses)
    assert found.peak_live is not None
    assert found.lower_bound is not None
    assert (found.peak_live.value, found.lower_bound.value) == (2 * 2048, 200)


def test_memory_that_processes_share_has_a_pool_of_its_own() -> None:
    """A size in elements, in whole pages with both allocators, never given back, with barriers for each."""
    shared = storage("s", "100", "ipc_memory", "float32")
    found = totals(shared, storage("t", "100", "global"))
    assert {name: found.reserved[name].value for name in ("naive", "pooled")} == {  # type: ignore[union-attr]
        "naive": PAGE + BARRIERS + 100,
        "pooled": 2 * PAGE + BARRIERS,
    }
    assert found.peak_live is not None
    assert found.peak_live.value == 400 + 100
    # It is reused for as many pages, by itself only, and kept by the time that more is needed elsewhere.
    again = totals(
        shared, free("s"), storage("t", "5", "ipc_memory"), free("t"), storage("u", "7000", "global")
    )
    assert {name: again.reserved[name].value for name in ("naive", "pooled")} == {  # type: ignore[union-attr]
        "naive": PAGE + BARRIERS + 7000,
        "pooled": PAGE + BARRIERS + 2 * PAGE,
    }
    later = totals(
        storage("u", "7000", "global"), free("u"), shared, free("s"), storage("t", "5000", "ipc_memory")
    )
    assert later.reserved["naive"] is not None
    assert later.reserved["naive"].value == max(7000, PAGE + BARRIERS + 2 * PAGE + BARRIERS)


def test_what_shared_memory_is_reused_may_depend_on_the_symbols() -> None:
    lines = storage("s", "n", "ipc_memory"), free("s"), storage("t", "5000", "ipc_memory"), free("t")
    found = totals(*lines)
    assert found.reserved == {"naive": None, "pooled": None}
    assert "which symbolic sizes are equal" in found.unknown["reserved.naive"]
    for n, obtained in ((5, 3 * PAGE + 2 * BARRIERS), (4097, 2 * PAGE + BARRIERS)):
        here = totals(*lines, n=n)
        for name in ("naive", "pooled"):
            assert here.reserved[name].value == obtained  # type: ignore[union-attr]
        pool = concrete_pool(*program(*lines), PAGE)
        assert pool is not None
        assert pool.at({"n": n}) == {"reserved.pooled": obtained}
    limits = pool_limits(*program(storage("s", "100", "ipc_memory"), storage("t", "n", "ipc_memory")), PAGE)
    assert evaluate(limits.most, {"n": 4097}) == 3 * PAGE + 2 * BARRIERS  # type: ignore[union-attr]


def budget(scope: str, limit: int, allocators: tuple[str, ...], *lines: str) -> str:
    """The verdict of RLX601 on a budget in bytes of a scope, or of all memory."""
    config = Config(select=("RLX601",), max_memory=((scope, limit),), allocators=allocators)
    (check,) = check_module(module(*lines), config).checks
    return check.verdict.value


BOTH = ("naive", "pooled")


def test_a_budget_counts_what_is_known_of_its_scope() -> None:
    lines = storage("s", "100", "global"), storage("t", "100", "global.texture")
    assert budget("global", 99, BOTH, *lines) == "always-wrong"
    assert budget("global", 100, BOTH, *lines) == "always-fine"
    assert budget("global.texture", 1 << 40, BOTH, *lines) == "needs-runtime-check"
    assert budget(WHOLE, 1 << 40, BOTH, *lines) == "needs-runtime-check"


def test_a_budget_asks_the_allocator_that_takes_the_scope() -> None:
    lines = [storage("t", "100", "global.vtcm")]
    assert budget(WHOLE, 2047, BOTH, *lines) == "always-wrong"
    assert budget(WHOLE, 2048, BOTH, *lines) == "always-fine"
    assert budget(WHOLE, 2048, ("naive",), *lines) == "always-fine"
    assert budget(WHOLE, 2048, ("pooled",), *lines) == "needs-runtime-check"


@pytest.mark.parametrize("shape", ["n - 4", "n * 0 + 8589934592, 8589934592", "4611686018427387904, n"])
def test_what_64_bits_do_not_hold_is_no_size(shape: str) -> None:
    """TVM refuses what is negative, and takes products modulo 2**64: 2**66 bytes are none."""
    lines = storage("s", "100", "global"), storage("t", shape, "global")
    found = totals(*lines, n=2)
    for amount in (found.peak_live, *found.reserved.values()):
        assert amount is None or amount.value is None
    reasons = {found.unknown.get("peak_live"), found.unknown.get(f"peak_live{AT_VALUES}")}
    assert any(reason is not None and reason.startswith("nothing has ") for reason in reasons)
    # Where it is a size it counts.
    large = totals(*lines[:1], storage("t", "n - 4", "global"), n=9)
    assert large.reserved == {"naive": Amount("n + 96", 105), "pooled": Amount(_PAGES, 2 * PAGE)}


def test_the_page_plays_no_pool_through_that_refuses_a_storage() -> None:
    for scope, played in (("global", True), ("global.ddr", False)):
        page = _function(totals(storage("t", "n", scope)), Config())
        assert page["complete"] is played
