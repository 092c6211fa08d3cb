"""Ways to the world that need no name: what TVM detects, what Python cannot print, what a rewriting binds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attack import channels, layers
from tests.attack.trying import Attack, attempt

_TASKS = {mode: f"tests.attack.layers:{task}" for mode, task in layers._TASKS.items()}


@pytest.mark.parametrize("mode", layers.MODES[:3])
def test_a_target_has_nothing_detected(mode: str, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    files = [
        Attack(one.name, one.data.replace(b"/CANARY/", str(canary).encode()), one.kind)
        for one in channels.targets()
    ]
    outcomes = attempt(files, function=_TASKS[mode])
    assert {name: outcome.events for name, outcome in outcomes.items() if outcome.events} == {}
    assert {name for name, outcome in outcomes.items() if outcome.failure} == set()
    assert not canary.exists()


def test_a_target_without_an_architecture_is_read() -> None:
    outcomes = attempt(one for one in channels.targets() if one.name == "rocm-device")
    assert {outcome.functions for outcome in outcomes.values()} == {2}


def test_a_number_that_cannot_be_printed_costs_its_own_module_only() -> None:
    outcomes = attempt(channels.numbers())
    assert {name: outcome for name, outcome in outcomes.items() if outcome.failure or outcome.events} == {}
    # The function of the other module, and what is left of this one.
    assert {outcome.functions for outcome in outcomes.values()} <= {1, 2}
    assert all(outcome.refused for outcome in outcomes.values())


def test_a_number_that_cannot_be_read_is_an_error_of_the_document() -> None:
    outcomes = attempt(channels.DOCUMENTS)
    assert {name: (outcome.rules, outcome.failure) for name, outcome in outcomes.items()} == {
        one.name: ({"RLX901"}, "") for one in channels.DOCUMENTS
    }


@pytest.mark.parametrize("mode", layers.MODES[:3])
def test_what_is_large_is_refused_before_it_is_made(mode: str) -> None:
    outcomes = attempt(channels.large(), function=_TASKS[mode])
    assert {name: outcome for name, outcome in outcomes.items() if outcome.failure or outcome.events} == {}
    # The function of the other module, and what is left of this one.
    assert {outcome.functions for outcome in outcomes.values()} <= {1, 2}


@pytest.mark.parametrize("mode", layers.MODES[:3])
def test_what_is_no_constant_gets_to_no_parser(mode: str, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    files = [
        Attack(one.name, one.data.replace(b"/CANARY/", str(canary).encode())) for one in channels.metadata()
    ]
    outcomes = attempt(files, function=_TASKS[mode])
    assert {name: outcome for name, outcome in outcomes.items() if outcome.failure or outcome.events} == {}
    assert all(outcome.refused for outcome in outcomes.values())
    assert not canary.exists()


def test_a_rewriting_binds_no_name_that_has_a_meaning() -> None:
    outcomes = attempt(channels.renamed())
    assert {name: outcome for name, outcome in outcomes.items() if outcome.failure or outcome.events} == {}
    assert {name: outcome.functions for name, outcome in outcomes.items()} == dict.fromkeys(
        channels.SYMBOLS, 2
    )
