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


@pytest.mark.parametrize(("fill", "asks"), [("k = Module.double(x, t)", False), ("k = R.tuple()", True)])
def test_nobody_asks_where_nothing_is_damaged(fill: str, asks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Counted(Observed):
        def __init__(self, *given: object) -> None:
            asked.append("once")
            super().__init__(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(observers, "Observed", Counted)
    found = checks(parse(TEXT.replace("FILL", fill)), "RLX20")
    assert bool(asked) == asks
    assert (Verdict.ALWAYS_WRONG in {check.verdict for check in found}) == asks
