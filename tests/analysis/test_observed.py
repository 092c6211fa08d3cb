"""What functions show is found out where something is damaged, and only there."""

from __future__ import annotations

import pytest

from relax_lint.analysis import observers
from relax_lint.analysis.observed import Observed
from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, STORAGE, T4, TENSOR

TEXT = f"""{KERNELS}
@R.function(private=True, pure=False)
def inner(p: {T4}, q: {T4}):
    k = Module.double(p, q)
    return q

@R.function(pure=False)
def main(x: {T4}):
    s = {STORAGE}
    t = {TENSOR.format("s")}
    s1 = {STORAGE}
    r = {TENSOR.format("s1")}
    FILL
    a = Module.inner(t, r)
    return a
"""


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One for each time that somebody looks at what a function shows."""
    made: list[str] = []

    class Counted(Observed):
        def __init__(self, *given: object) -> None:
            made.append("once")
            super().__init__(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(observers, "Observed", Counted)
    return made


@pytest.mark.parametrize(("fill", "asks"), [("k = Module.double(x, t)", False), ("k = R.tuple()", True)])
def test_nobody_asks_where_nothing_is_damaged(fill: str, asks: bool, walks: list[str]) -> None:
    found = checks(parse(TEXT.replace("FILL", fill)), "RLX20")
    assert bool(walks) == asks
    assert (Verdict.ALWAYS_WRONG in {check.verdict for check in found}) == asks


def test_functions_in_a_row_are_looked_at_twice_each(walks: list[str]) -> None:
    row = "".join(
        f"""
@R.function(private=True, pure=False)
def f{i}(p: {T4}, q: {T4}):
    k = Module.f{i + 1}(p, q)
    return q
"""
        for i in range(12)
    )
    text = TEXT.replace("def inner", "def f12").replace("inner", "f0").replace("FILL", "k = R.tuple()")
    found = checks(parse(text.replace("@R.function(pure=False)", row + "\n@R.function(pure=False)")), "RLX20")
    assert Verdict.ALWAYS_WRONG in {check.verdict for check in found}
    # Thirteen functions twice, and `main`; in rounds over all of them it would be 91 and more.
    assert len(walks) <= 2 * 13 + 2, len(walks)
