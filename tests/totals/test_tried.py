"""Totals over ranges that are found by trying values: what is tried, what is told of the end, and when nothing is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import sympy

from relax_lint.results.memory_figures import Growth, OverRange, SymbolRange
from relax_lint.settings.memory_request import Binding, MemoryRequest
from relax_lint.symbolic.functions import FloorDiv, FloorMod
from relax_lint.totals.tried import MAX_STEPS, tried

_M, _N = (sympy.Symbol(name, integer=True) for name in "mn")


@dataclass(frozen=True)
class _Followed:
    """Stands in for a function that is followed: its totals by the values of its symbols."""

    total: Callable[[Mapping[str, int]], int]
    symbols: tuple[Any, ...] = (_M, _N)
    steps: int = 1

    def at(self, values: Mapping[str, int]) -> Mapping[str, int]:
        return {"peak": self.total(values), "naive": 2 * self.total(values)}


def _found(followed: _Followed, *bindings: Binding, limit: Any = 8 * _N) -> dict[str, OverRange]:
    concrete: Any = followed
    request = MemoryRequest(bindings=bindings)
    return tried(concrete, ["peak", "absent"], request, {"peak": limit, "absent": limit, "naive": limit})


def test_every_value_is_tried() -> None:
    found = _found(
        _Followed(lambda at: at["n"] * (7 - at["n"]) + at["m"]), Binding("m", 5, 5), Binding("n", 1, 5)
    )
    assert found == {
        "peak": OverRange(17, {"n": 3}, minimum=11, within=(SymbolRange("n", 1, 5),), at_end=15),
    }


def test_of_one_symbol_a_steady_growth_is_told() -> None:
    found = _found(_Followed(lambda at: 100 + 12 * at["n"], symbols=(_N,)), Binding("n", 2, 9))
    assert found["peak"].growth == (Growth("n", 12, 1),)
    level = _found(_Followed(lambda at: 100, symbols=(_N,)), Binding("n", 2, 9))
    assert level["peak"].growth == ()


def test_of_two_symbols_every_pair_is_tried() -> None:
    spans = Binding("m", 0, 2), Binding("n", 1, 3)
    found = _found(_Followed(lambda at: 10 * at["m"] + at["n"]), *spans)["peak"]
    assert (found.maximum, found.at, found.minimum, found.at_end) == (23, {"m": 2, "n": 3}, 1, 23)
    assert found.growth == ()


@pytest.mark.parametrize("high", [MAX_STEPS // 1000, MAX_STEPS // 1000 + 1])
def test_too_many_values_are_not_tried(high: int) -> None:
    """One value is 1000 steps: then the end is told, and the limit where that grows up to there."""
    tries: list[int] = []

    def total(at: Mapping[str, int]) -> int:
        tries.append(at["n"])
        return at["n"] + at["m"]

    spans = Binding("m", 3, 3), Binding("n", 1, high)
    (found,) = _found(_Followed(total, steps=1000), *spans).items()
    told = high > MAX_STEPS // 1000
    assert found[0] == "peak"
    assert (found[1].maximum, found[1].at, found[1].at_end) == (
        8 * high if told else high + 3,
        {"n": high},
        high + 3,
    )
    assert (found[1].is_limit, found[1].within) == (told, (SymbolRange("n", 1, high),))
    assert tries == [high] * 2 if told else len(tries) == 2 * high


_FAR = Binding("n", 1, MAX_STEPS)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(40, 40), (_M + _N, MAX_STEPS + 3), (FloorMod(_N, 7), None), (sympy.Symbol("k", integer=True), None)],
)
def test_a_limit_counts_where_it_grows_and_is_known(limit: Any, expected: int | None) -> None:
    followed = _Followed(lambda at: at["n"], steps=2)
    found = _found(followed, Binding("m", 3, 3), _FAR, limit=limit)
    assert {name: one.maximum for name, one in found.items()} == (
        {} if expected is None else {"peak": expected}
    )


def test_nothing_is_told_where_a_symbol_has_no_value_or_none_has_a_range() -> None:
    followed = _Followed(lambda at: 1)
    assert _found(followed, Binding("n", 1, 5)) == {}
    assert _found(followed, Binding("m", 3, 3), Binding("n", 4, 4)) == {}
    assert _found(followed) == {}


def test_a_division_by_0_tells_nothing() -> None:
    followed = _Followed(lambda at: 7 // at["n"], symbols=(_N,))
    assert _found(followed, Binding("n", 0, 3)) == {}
    assert _found(followed, Binding("n", 1, 3))["peak"].maximum == 7
    far = _Followed(lambda at: at["n"], symbols=(_N,), steps=2)
    divided = FloorDiv(8, _N - MAX_STEPS)
    assert _found(far, _FAR, limit=divided) == {}
