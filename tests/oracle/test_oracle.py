"""Verdicts, an evaluator that follows every call byte by byte, and the virtual machine: they agree.

`make oracle` does the same for as long as it is told to.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from relax_lint.replay import Machine
from tests.oracle import regressions
from tests.oracle.compare import compare_first_failures, compare_machine, compare_verdicts, failures
from tests.oracle.program import Program
from tests.oracle.strategies import programs

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


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(regressions.__path__)])
def test_what_was_once_wrong_stays_right(name: str, machine: Machine) -> None:
    program = importlib.import_module(f"{regressions.__name__}.{name}").PROGRAM
    assert list(failures(program)) == []
    for allocator in ("naive", "pooled"):
        compare_machine([program], machine, allocator)
