"""Nothing takes more than the limits of a worker, and nothing brings the tool down."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.attack import exhausting
from tests.attack.trying import Attack, Outcome, attempt


def checked(attacks: Iterator[Attack], limit_s: float = 20.0) -> dict[str, Outcome]:
    """What came of the attacks; a worker may end at a limit, and in no other way."""
    outcomes = attempt(attacks, limit_s=limit_s)
    for name, outcome in outcomes.items():
        assert not outcome.events, (name, outcome)
        assert outcome.failure.split(":")[0] in ("", "timeout", "memory", "crash"), (name, outcome)
        assert outcome.refused or outcome.functions, (name, outcome)
    return outcomes


def test_deep_nesting() -> None:
    outcomes = checked(exhausting.nesting())
    assert not any(outcome.failure for outcome in outcomes.values())


def test_nested_repetitions_and_comprehensions_are_refused() -> None:
    wanted = ("nested_list", "comprehensions", "nested_comprehensions", "power", "text", "numpy_zeros")
    attacks = [one for one in exhausting.numbers() if one.name in {f"constant-{name}" for name in wanted}]
    outcomes = attempt(attacks)
    assert set(outcomes) == {f"constant-{name}" for name in wanted}
    # The rest of the module may have findings of its own.
    assert all("RLX903" in outcome.rules for outcome in outcomes.values())


@pytest.mark.slow
@pytest.mark.parametrize("family", [exhausting.numbers, exhausting.programs, exhausting.volume])
def test_everything_ends_at_the_limit(family: Callable[[], Iterator[Attack]]) -> None:
    checked(family(), limit_s=10.0)
