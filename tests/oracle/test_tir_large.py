"""Kernels with indices that are too large to be written down: what is said of them holds, and giving up is not fine."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from relax_lint.model.kernel_access import ends, expressions, outside, subroutines
from relax_lint.model.kernel_access.polynomials import MAX_TERMS, TooLarge
from tests.oracle.tir.compare import Unusable, compare
from tests.oracle.tir.large import Large
from tests.oracle.tir.writer import Kernel, script, smaller


def _some(count: int) -> list[Kernel]:
    chance = random.Random("large 1")
    return [Large(chance).kernel() for _ in range(count)]


def test_indices_are_large() -> None:
    texts = [script(kernel) for kernel in _some(60)]
    square = "+ 1) * (n + m +"
    # Ten factors of three symbols and a number: 286 terms.
    assert sum(text.count(square) >= 9 for text in texts) >= 15
    assert sum(text.count(" % ") > MAX_TERMS for text in texts) >= 3
    assert sum(text.count("T.Select(") + text.count("T.if_then_else(") >= 10 for text in texts) >= 2


def test_kernels_get_smaller() -> None:
    for kernel in _some(10):
        assert all(len(script(one)) < len(script(kernel)) + 20 for one in smaller(kernel))


def test_what_is_said_of_large_indices_holds_at_every_size() -> None:
    seen: Counter[str] = Counter()
    for kernel in _some(13)[8:]:
        try:
            seen += compare(kernel)
        except Unusable:
            seen["not taken"] += 1
    assert seen["not taken"] < 3
    assert sum(seen.values()) > 20


def test_a_reader_that_does_not_expect_large_indices_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = _some(13)[12]
    compare(kernel)
    for module in (ends, expressions, outside, subroutines):
        monkeypatch.setattr(module, "TooLarge", _Never)
    with pytest.raises(TooLarge):
        compare(kernel)


class _Never(Exception):
    """What nothing raises."""
