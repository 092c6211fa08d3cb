"""Verdicts, an evaluator that follows every call byte by byte, and the virtual machine: they agree.

`make oracle` does the same for as long as it is told to.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from relax_lint.replay import Machine
from relax_lint.totals.walk import ExecMode
from tests.oracle import regressions
from tests.oracle.compare import compare_first_failures, compare_machine, compare_verdicts, failures
from tests.oracle.fixes import compare_fixes
from tests.oracle.program import Program
from tests.oracle.strategies import programs, some
from tests.oracle.totals import compare_totals
from tests.totals import interposer

_PATIENT = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]

# `make oracle` makes what it finds smaller, in seconds instead of minutes.
_NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)


@settings(max_examples=25, deadline=None, suppress_health_check=_PATIENT, phases=_NO_SHRINKING)
@given(programs())
def test_every_verdict_is_what_following_the_calls_finds(program: Program) -> None:
    compare_verdicts(program)
    compare_first_failures(program)


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with Machine() as machine:
        yield machine


@pytest.mark.vm
@pytest.mark.parametrize("allocator", ["naive", "pooled"])
@settings(max_examples=3, deadline=None, suppress_health_check=_PATIENT, phases=_NO_SHRINKING)
@given(program=programs())
def test_the_virtual_machine_does_what_the_evaluator_says(
    allocator: str, machine: Machine, program: Program
) -> None:
    compare_machine([program], machine, allocator)


@pytest.mark.vm
@pytest.mark.parametrize("strategy", ["assert", "dynamic"])
@settings(max_examples=2, deadline=None, suppress_health_check=_PATIENT, phases=_NO_SHRINKING)
@given(program=programs(tidy=True))
def test_fixed_programs_do_what_they_should(strategy: str, machine: Machine, program: Program) -> None:
    compare_fixes(program, strategy, machine)


@pytest.mark.vm
@pytest.mark.skipif(not interposer.AVAILABLE, reason="needs gcc and LD_PRELOAD")
def test_totals_are_what_the_allocators_obtained(tmp_path: Path) -> None:
    seen = compare_totals(some(3, 1, tidy=False), tmp_path, ExecMode.BYTECODE)
    assert seen["totals"] > 50


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(regressions.__path__)])
def test_what_was_once_wrong_stays_right(name: str, machine: Machine) -> None:
    case = importlib.import_module(f"{regressions.__name__}.{name}")
    assert list(failures(case.PROGRAM)) == []
    for allocator in ("naive", "pooled"):
        compare_machine([case.PROGRAM], machine, allocator)
    if hasattr(case, "STRATEGY"):
        compare_fixes(case.PROGRAM, case.STRATEGY, machine)
