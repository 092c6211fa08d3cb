"""Verdicts, an evaluator that follows every call byte by byte, and the virtual machine: they agree.

`make oracle` does the same for as long as it is told to.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from relax_lint.replay import Machine
from relax_lint.totals.walk import ExecMode
from tests.oracle import regressions
from tests.oracle.compare import compare_first_failures, compare_machine, compare_verdicts, failures
from tests.oracle.fixes import SAME, compare_fixes
from tests.oracle.program import Program
from tests.oracle.strategies import programs, some
from tests.oracle.totals import compare_totals
from tests.totals import interposer

_PATIENT = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]

# `make oracle` makes what it finds smaller, in seconds instead of minutes.
_NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)


def test_every_verdict_is_what_following_the_calls_finds() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=25, deadline=None, suppress_health_check=_PATIENT, phases=_NO_SHRINKING)
    @given(programs())
    def is_it(program: Program) -> None:
        seen.update(compare_verdicts(program))
        seen.update(compare_first_failures(program))

    is_it()
    assert min(seen["RLX101 fine"], seen["RLX101 wrong"], seen["naive"], seen["pooled"]) > 0


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with Machine() as machine:
        yield machine


@pytest.mark.vm
@pytest.mark.parametrize("allocator", ["naive", "pooled"])
def test_the_virtual_machine_does_what_the_evaluator_says(allocator: str, machine: Machine) -> None:
    seen = compare_machine(some(3, 1, tidy=False), machine, allocator)
    assert seen["ok"] > 50


@pytest.mark.vm
@pytest.mark.parametrize("strategy", ["assert", "dynamic"])
def test_fixed_programs_do_what_they_should(strategy: str, machine: Machine) -> None:
    seen: Counter[str] = Counter()
    for program in some(2, 1, tidy=True):
        seen += compare_fixes(program, strategy, machine)
    assert seen[SAME] > 50


@pytest.mark.vm
@pytest.mark.skipif(not interposer.AVAILABLE, reason="needs gcc and LD_PRELOAD")
def test_totals_are_what_the_allocators_obtained(tmp_path: Path) -> None:
    seen = compare_totals(some(3, 1, tidy=False), tmp_path, ExecMode.BYTECODE)
    assert seen["totals"] > 50


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(regressions.__path__)])
def test_what_was_once_wrong_stays_right(name: str, machine: Machine, tmp_path: Path) -> None:
    case = importlib.import_module(f"{regressions.__name__}.{name}")
    assert list(failures(case.PROGRAM)) == []
    for allocator in ("naive", "pooled"):
        compare_machine([case.PROGRAM], machine, allocator)
    if hasattr(case, "STRATEGY"):
        compare_fixes(case.PROGRAM, case.STRATEGY, machine)
    if hasattr(case, "TOTALS") and interposer.AVAILABLE:
        assert compare_totals([case.PROGRAM], tmp_path, *ExecMode)
