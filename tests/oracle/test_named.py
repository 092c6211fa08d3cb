"""Inputs that findings name get to the tensor and are refused there."""

from __future__ import annotations

from collections import Counter

import pytest

from relax_lint.replay import Machine
from relax_lint.symbolic.decision import Decision
from tests.oracle.named import HEADER, Program, compare, some
from tests.oracle.passing import Disagreement


def _compare_all(count: int, seed: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    with Machine() as machine:
        for program in some(count, seed):
            seen += compare(machine, program)
    return seen


@pytest.mark.vm
def test_what_is_named_is_refused() -> None:
    seen = _compare_all(3, 2)
    assert seen["refused by naive"] > 15
    assert seen["refused by pooled"] > 3


@pytest.mark.vm
def test_an_input_that_a_guess_refuses_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """All examples are named, also those of domains without the guesses."""
    monkeypatch.setattr(Decision, "named", property(lambda self: (self.fine, self.wrong)))
    with pytest.raises(Disagreement, match="AssertionError"):
        _compare_all(4, 1)


NOBODY = HEADER + """    @R.function(pure=False)
    def f(h: R.Shape(["a"]), g: R.Shape(["b"])):
        a = T.int64()
        b = T.int64()
        k0 = R.match_cast(g, R.Shape([4]))
        k1 = R.memory.alloc_storage(R.shape([T.max(T.min(100 // (b - {0}), 64), 16)]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        s = R.memory.alloc_storage(R.shape([32]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([T.max(a - 1, 0)]), R.dtype("float32"))
        return t
"""  # fmt: skip


@pytest.mark.vm
@pytest.mark.parametrize(("divisor", "expected"), [(4, "nothing gets there"), (3, "refused by naive")])
def test_what_no_input_gets_to_is_told_apart(divisor: int, expected: str) -> None:
    with Machine() as machine:
        assert compare(machine, Program(NOBODY.format(divisor)))[expected] > 0
