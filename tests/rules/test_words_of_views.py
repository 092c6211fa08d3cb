"""RLX304: what is told of a byte view is what is wrong with it, where it ends or where it starts."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse

PROGRAM = """
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "int8")):
    n = T.int64()
    m = T.int64()
    v = R.memory.view(x, R.shape([{extent}]), R.dtype("float32"), {offset})
    return v
"""
ENDS = "view `v` ends after "
SOMETIMES = "the offset of view `v` is not always a multiple of 4 bytes"
NEVER = "the offset of view `v` is not a multiple of 4 bytes"


@pytest.mark.parametrize(
    ("extent", "offset", "verdict", "begin", "end"),
    [
        ("n", "0", "always-fine", "view `v` stays inside", "its source"),
        ("2", "4", "needs-runtime-check", ENDS, "bytes"),
        # Where it starts inside of an element, how long it is does not matter.
        ("0", "2", "always-wrong", NEVER, ""),
        ("2", "2", "always-wrong", NEVER, ""),
        # Sometimes the one and sometimes the other.
        ("n - m", "m", "needs-runtime-check", "", SOMETIMES.partition("is not")[2]),
        ("2", "m", "needs-runtime-check", ENDS, "and its offset" + SOMETIMES.partition("view `v`")[2]),
    ],
)
def test_what_is_wrong_is_told(extent: str, offset: str, verdict: str, begin: str, end: str) -> None:
    offset = f"R.prim_value({offset})" if not offset.isdigit() else offset
    (found,) = checks(parse(PROGRAM.format(extent=extent, offset=offset)), "RLX304")
    assert found.verdict.value == verdict
    assert found.message.startswith(begin)
    assert end in found.message
