"""What declared bounds cost: of each bound, where the plan takes twice what the tensors need."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from relax_lint.settings.memory_request import Binding
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.bound_price import halved_bounds, remarks_of

N, M = sympy.symbols("n m", integer=True)
DECLARED = {"n": Binding("n", 1, 100), "m": Binding("m", 1, 8)}


def _remarks(peak: Any, needed: Any, **inputs: int) -> list[str]:
    return list(remarks_of(peak, needed, DECLARED, {"n": 1, "m": 1, **inputs}, {"n": 100, "m": 8}))


def test_each_bound_has_its_price() -> None:
    found = _remarks(6400, 8 * N * M)
    assert [text.partition(":")[0] for text in found] == [
        "planned for the declared bound n <= 100, not for your input",
        "planned for the declared bound m <= 8, not for your input",
    ]
    assert "at n = 1 the function takes 6,400 bytes (6.25 KiB), its tensors need 64 bytes" in found[0]
    assert "at m = 1 the function takes 6,400 bytes (6.25 KiB), its tensors need 800 bytes" in found[1]


def test_a_plan_for_the_input_has_none() -> None:
    assert len(_remarks(8 * N * M, 8 * N * M)) == 0
    assert [text[:36] for text in _remarks(6400, 8 * N * M, n=100)] == [
        "planned for the declared bound m <= "
    ]
    assert len(_remarks(6400, 8 * N * M, n=50, m=4)) == 2
    assert len(_remarks(6400, 8 * N * M, n=51, m=5)) == 0


@pytest.mark.parametrize(
    ("peak", "needed"),
    [
        (Unknown("?"), 8 * N),
        (6400, Unknown("?")),
        (6400, 0 * N),
        (sympy.Symbol("k", integer=True), 8 * N),
        (6400, 0),
    ],
)
def test_what_is_not_known_has_none(peak: Any, needed: Any) -> None:
    assert _remarks(peak, needed) == []


def test_half_a_bound_saves_what_grows_with_it() -> None:
    found = list(halved_bounds(8 * N * M, DECLARED, {"n": 100, "m": 8}))
    assert [(one.text.partition(" for ")[0], one.saves) for one in found] == [
        ("n <= 50", 3200),
        ("m <= 4", 3200),
    ]
    assert [one.saves for one in halved_bounds(8 * M, DECLARED, {"n": 100, "m": 8})] == [32]
    assert list(halved_bounds(Unknown("?"), DECLARED, {"n": 100, "m": 8})) == []
    narrow = {"n": Binding("n", 50, 100), "m": Binding("m", 3, 8)}
    assert [one.text[:6] for one in halved_bounds(8 * N * M, narrow, {"n": 100, "m": 8})] == ["m <= 4"]
    assert list(halved_bounds(8 * N, {"n": Binding("n", 0, 1)}, {"n": 1})) == []
