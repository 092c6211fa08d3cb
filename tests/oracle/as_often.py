"""How much is decided of a fixed sample. That all of it is right says nothing about how much there is."""

from __future__ import annotations

from collections.abc import Mapping

import tvm

from tests.oracle.answers import NOT_COMPARED

DRAWN_WITH = "0.27."
"""The release of TVM with which it was counted: others make other programs of some texts, or none."""


def assert_as_often(seen: Mapping[str, int], least: Mapping[str, int]) -> None:
    """That each word was counted so often, or more often. On a busy computer some runs give no answer: then
    nothing is asked.
    """
    if seen.get(NOT_COMPARED):
        return
    if not tvm.__version__.startswith(DRAWN_WITH):
        least = dict.fromkeys(least, 1)
    assert {word: seen.get(word, 0) for word, count in least.items() if seen.get(word, 0) < count} == {}
