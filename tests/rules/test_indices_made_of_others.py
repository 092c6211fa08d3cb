"""What a kernel stores that multiplies indices, or takes them from a tensor that may be the one it writes."""

from __future__ import annotations

import pytest

from tests.rules.test_index_values import (
    EACH,
    EIGHT,
    HELD,
    MORE,
    ONE,
    PARAMETERS,
    SAME,
    gather,
    kernel,
    module,
    new,
    said,
)

TIMES = kernel("times", f"r: {ONE}, q: {ONE}", EACH, "    q[i] = (r[i] * 300000000) % 8")[1]
CLAMP = "_1 = Module.clamp({}, {})"
OTHER = f'i = R.call_packed("relax_lint.tests.other", x, ty_args={EIGHT})'
TYPE = "the type of `i` (declared by the call of `relax_lint.tests.{}`, not checked)"


@pytest.mark.parametrize(
    ("by", "assumed"),
    [
        # 7 * 300000000 is less than 2**31.
        ("fill", []),
        ("hundreds", [HELD.format("i")]),
    ],
)
def test_a_product_wraps_if_what_is_multiplied_is_large(by: str, assumed: list[str]) -> None:
    found = module(new("h", by), new("i", "times", "h"), gather(), parameters=PARAMETERS + MORE, more=TIMES)
    assert said(found) == assumed


@pytest.mark.parametrize(
    ("lines", "assumed"),
    [
        # It may be `h` itself, which the kernel then reads while it is written.
        ((new("h"), SAME, CLAMP.format("i", "h"), gather("h")), [HELD.format("h")]),
        ((new("h"), OTHER, CLAMP.format("i", "h"), gather("h")), [TYPE.format("other")]),
        ((new("h"), new("j"), CLAMP.format("j", "h"), gather("h")), []),
        ((new("h"), SAME, new("k", "clamp", "i"), gather("k")), [TYPE.format("same")]),
    ],
)
def test_what_a_packed_function_was_given_may_be_what_it_returns(
    lines: tuple[str, ...], assumed: list[str]
) -> None:
    assert said(module(*lines, parameters=PARAMETERS + MORE)) == assumed
