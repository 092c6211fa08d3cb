"""The files in `examples/`, which `make demo` shows."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import tvm

import relax_lint
from relax_lint.replay import Machine, Module, Outcome, Tensor
from relax_lint.results.check import Check
from relax_lint.results.verdict import Prover, Verdict

from .transformer import lowered

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
OVERFLOW = EXAMPLES / "storage_overflow.py"
SCOPED = EXAMPLES / "scoped_storage.py"
DUMP = EXAMPLES / "planned_transformer.py"


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with Machine() as machine:
        yield machine


def _check(path: Path) -> tuple[Check, ...]:
    return relax_lint.check(str(path)).checks


def test_17322_is_safe_up_to_four_elements() -> None:
    (found,) = [check for check in _check(OVERFLOW) if check.verdict is not Verdict.ALWAYS_FINE]
    assert (found.rule, found.verdict) == ("RLX101", Verdict.NEEDS_RUNTIME_CHECK)
    assert found.safe_when == "m <= 4"
    assert (found.fine, found.wrong) == ({"m": 4}, {"m": 5})
    assert found.allocators["naive"].first_failure == {"m": 5}
    assert found.allocators["pooled"].first_failure == {"m": 1025}
    assert found.location is not None
    line = OVERFLOW.read_text().splitlines()[found.location.line - 1]
    assert line[found.location.column - 1 :].startswith("R.memory.alloc_tensor(")


@pytest.mark.vm
@pytest.mark.parametrize("exec_mode", ["bytecode", "compiled"])
@pytest.mark.parametrize("length", [4, 5, 1024, 1025])
@pytest.mark.parametrize(("allocator", "largest"), [("naive", 4), ("pooled", 1024)])
def test_17322_on_the_virtual_machine(
    machine: Machine, allocator: str, largest: int, length: int, exec_mode: str
) -> None:
    module = Module(OVERFLOW.read_text())
    result = machine.run(
        module, "main", [Tensor("float32", (length,))], allocator=allocator, exec_mode=exec_mode
    )
    if length <= largest:
        assert result.outcome is Outcome.OK
    else:
        assert result.error_type == "InternalError"
        assert f"attempted to allocate {4 * length} at offset 0" in str(result.message)


def test_the_scoped_storage_is_fine() -> None:
    checks = _check(SCOPED)
    assert [c.rule for c in checks if c.rule == "RLX101"] == ["RLX101"]
    assert {check.verdict for check in checks} == {Verdict.ALWAYS_FINE}
    assert {check.prover for check in checks} == {Prover.CONSTANT}


def test_the_scoped_storage_counts_elements_of_its_dtype() -> None:
    (memory,) = relax_lint.check(str(SCOPED)).memory
    assert memory.planned_static_bytes == 2 * 2 * 4
    (scope,) = memory.by_scope
    assert scope == "global"


@pytest.mark.vm
@pytest.mark.parametrize("exec_mode", ["bytecode", "compiled"])
def test_the_scoped_storage_runs_on_the_naive_allocator(machine: Machine, exec_mode: str) -> None:
    result = machine.run(
        Module(SCOPED.read_text()),
        "main",
        [Tensor("float32", (2, 2))],
        allocator="naive",
        exec_mode=exec_mode,
    )
    assert [output.values for output in result.outputs] == [(0.0, 2.0, 4.0, 6.0)]


# From 3.12 on TVM prints the symbols of a function in the syntax of that version.
@pytest.mark.skipif(
    not tvm.__version__.startswith("0.27") or sys.version_info >= (3, 12), reason="printed by 0.27"
)
def test_the_dump_is_what_tvm_prints() -> None:
    _, _, dump = DUMP.read_text().partition('"""\n\n')
    assert dump == lowered(2, bounded=True, stage="killed").script() + "\n"
