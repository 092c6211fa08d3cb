"""Planned models: with the declared bound everything is fine because of it, without it everything is fine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import pytest
import tvm

import relax_lint
from relax_lint.replay import Machine, Module, Outcome, RunResult, Tensor
from relax_lint.results.check import Check
from relax_lint.results.report import Report
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config

from .transformer import CONTEXT, STAGES, exported, lowered

ALLOCATING_STAGES = [stage for stage in STAGES if stage not in ("fused", "allocated")]


@cache
def _report(layers: int, bounded: bool, stage: str) -> Report:
    return relax_lint.check(lowered(layers, bounded=bounded, stage=stage))


@cache
def _allocations(layers: int, bounded: bool, stage: str) -> int:
    """The tensors on a storage, counted in the printed text."""
    text: str = lowered(layers, bounded=bounded, stage=stage).script()
    return text.count("R.memory.alloc_tensor(") + text.count("R.vm.alloc_tensor(")


def _judged(checks: Iterable[Check], named: tuple[str, ...] = ()) -> list[tuple[object, ...]]:
    """What was judged and how; with the assumptions of the rules that are `named`."""
    return [
        (
            check.rule,
            check.verdict,
            check.binding_index,
            check.assumes if check.rule.startswith(named) else (),
        )
        for check in checks
    ]


def _of(report: Report, rule: str) -> list[Check]:
    return [check for check in report.checks if check.rule == rule]


CASES = [(2, stage) for stage in ALLOCATING_STAGES] + [(32, "killed")]


@pytest.mark.parametrize(("layers", "stage"), CASES)
@pytest.mark.parametrize("bounded", [True, False])
def test_every_tensor_on_a_storage_is_judged_fine(layers: int, stage: str, bounded: bool) -> None:
    checks = _of(_report(layers, bounded, stage), "RLX101")
    assert len(checks) == _allocations(layers, bounded, stage) > 20 * layers
    assert {check.verdict for check in checks} == {Verdict.ALWAYS_FINE}


@pytest.mark.parametrize(("layers", "stage"), CASES)
def test_the_bound_is_reported_once_and_nothing_else(layers: int, stage: str) -> None:
    findings = [c for c in _report(layers, True, stage).checks if c.verdict is not Verdict.ALWAYS_FINE]
    assert [(c.rule, c.verdict, c.safe_when) for c in findings] == [
        ("RLX501", Verdict.NEEDS_RUNTIME_CHECK, f"n <= {CONTEXT}")
    ]


@pytest.mark.parametrize(("layers", "stage"), CASES)
def test_static_storages_are_fine_only_because_of_the_bound(layers: int, stage: str) -> None:
    assumed = Counter(check.assumes for check in _of(_report(layers, True, stage), "RLX101"))
    bound = (f"n <= {CONTEXT} (tir_var_upper_bound, not enforced)",)
    assert set(assumed) == {(), bound}
    # Weights that are transposed at run time have constant shapes and need no bound.
    assert assumed[bound] > assumed[()]


@pytest.mark.parametrize(("layers", "stage"), CASES)
def test_without_the_bound_nothing_is_assumed_and_nothing_found(layers: int, stage: str) -> None:
    report = _report(layers, False, stage)
    assert {check.verdict for check in report.checks} == {Verdict.ALWAYS_FINE}
    # What kernels get is another matter: the types of weights after `num_input` are believed there.
    assert {check.assumes for check in report.checks if check.rule.startswith("RLX1")} == {()}


@pytest.mark.parametrize("bounded", [True, False])
def test_nothing_is_left_undecided(bounded: bool) -> None:
    assert not any(check.undecided for check in _report(32, bounded, "killed").checks)


def test_without_trust_the_verdicts_turn_and_name_the_bound() -> None:
    config = Config(trust_declared_bounds=False)
    report = relax_lint.check(lowered(2, bounded=True, stage="killed"), config)
    unsafe = [check for check in _of(report, "RLX101") if check.verdict is not Verdict.ALWAYS_FINE]
    trusted = [check for check in _of(_report(2, True, "killed"), "RLX101") if check.assumes]
    assert [check.binding_index for check in unsafe] == [check.binding_index for check in trusted]
    assert {check.safe_when for check in unsafe} >= {f"n <= {CONTEXT}"}


@pytest.mark.skipif(tvm.__version__.startswith("0.26"), reason="TVM 0.26 cannot read its own printed symbols")
@pytest.mark.parametrize("stage", ["killed", "lowered"])
def test_the_printed_dump_gives_the_same_verdicts(stage: str, tmp_path: Any) -> None:
    path = tmp_path / "dump.py"
    path.write_text(lowered(2, bounded=True, stage=stage).script())
    expected = _report(2, True, stage).checks
    found = relax_lint.check(str(path)).checks
    # The printer turns `embedding.weight` into `embedding_weight`: assumptions about weights differ in that.
    assert _judged(found, named=("RLX1", "RLX5")) == _judged(expected, named=("RLX1", "RLX5"))
    assert _judged(found) == _judged(expected)
    lines = path.read_text().splitlines()
    for check in found:
        if check.rule == "RLX101":
            assert check.location is not None
            assert "alloc_tensor" in lines[check.location.line - 1]


@pytest.mark.parametrize("stage", ["planned", "killed"])
def test_the_saved_module_gives_the_same_verdicts(stage: str, tmp_path: Any) -> None:
    path = tmp_path / "dump.json"
    path.write_text(tvm.ir.save_json(lowered(2, bounded=True, stage=stage)))
    found = relax_lint.check(str(path)).checks
    assert _judged(found, named=("RLX",)) == _judged(_report(2, True, stage).checks, named=("RLX",))


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with Machine() as machine:
        yield machine


def _run(machine: Machine, *, bounded: bool, length: int, allocator: str) -> RunResult:
    module = exported(1, bounded=bounded)
    weights = module["forward"].params[1:]
    shapes = [
        Tensor("float32", tuple(int(extent) for extent in _extents(parameter))) for parameter in weights
    ]
    saved = Module(tvm.ir.save_json(module), "json")
    return machine.run(saved, "forward", [Tensor("int32", (1, length)), *shapes], allocator=allocator)


def _extents(parameter: Any) -> Any:
    # 0.27 calls the structure info of a variable its type.
    described = parameter.ty if hasattr(parameter, "ty") else parameter.struct_info
    return described.shape.values


@pytest.mark.vm
@pytest.mark.parametrize("allocator", ["naive", "pooled"])
def test_the_virtual_machine_agrees_about_the_bound(machine: Machine, allocator: str) -> None:
    believing = [check for check in _of(_report(1, True, "killed"), "RLX101") if check.assumes]
    failures = [check.allocators[allocator].first_failure for check in believing]
    assert min(failure["n"] for failure in failures if failure) == CONTEXT + 1
    assert _run(machine, bounded=True, length=16, allocator=allocator).outcome is Outcome.OK
    refused = _run(machine, bounded=True, length=CONTEXT + 1, allocator=allocator)
    assert "storage allocation failure" in str(refused.message)


@pytest.mark.vm
def test_the_virtual_machine_runs_every_length_without_the_bound(machine: Machine) -> None:
    assert _run(machine, bounded=False, length=16, allocator="naive").outcome is Outcome.OK
