"""Injected faults that the virtual machine shows to be faults are reported, and the unbroken module is clean."""

from __future__ import annotations

import random
from typing import Any

import pytest

from benchmarks.fault_injection import (
    Change,
    exchange_input_and_output,
    inject,
    kill_earlier,
    killed,
    move_into_a_branch,
    reuse_too_soon,
    shift_an_offset,
    shrink_a_storage,
)
from benchmarks.lowering import checks, findings
from benchmarks.victims import Victim, victims
from relax_lint.settings.config import Config

SMALL: dict[str, Victim] = {victim.name: victim for victim in victims(0)}
FAULTS: tuple[tuple[str, Change, set[str]], ...] = (
    ("chain", shrink_a_storage, {"RLX101"}),
    ("reduce", shift_an_offset, {"RLX303"}),
    ("symbolic", kill_earlier, {"RLX201"}),
    ("branches", move_into_a_branch, {"RLX204"}),
    ("reduce", reuse_too_soon, {"RLX101", "RLX203", "RLX206"}),
    ("branches", exchange_input_and_output, {"RLX205", "RLX301"}),
)


def rules(module: Any) -> set[str]:
    return {check.rule for check in findings(checks(module, Config()))}


@pytest.mark.parametrize(("name", "change", "expected"), FAULTS)
def test_an_injected_fault_is_reported(name: str, change: Change, expected: set[str]) -> None:
    module = killed(SMALL[name])
    assert rules(module) == set()
    rng = random.Random(3)
    broken = [inject(module, "main", change, rng) for _ in range(4)]
    assert any(one is not None for one in broken)
    for one in broken:
        assert one is None or rules(one) & expected


def test_a_copy_to_another_shape_on_its_own_bytes_is_no_fault() -> None:
    # The generator puts the result of `reshape` on the storage of its input, which is read again later.
    broken = inject(killed(SMALL["symbolic"]), "main", reuse_too_soon, random.Random(1))
    assert broken is not None
    assert rules(broken) == set()
