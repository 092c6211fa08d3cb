"""Slots of shape heaps that a tuple holds, and calls that announce more axes than they have arguments."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse

HEAP = (
    'R.call_packed("vm.builtin.alloc_shape_heap", R.prim_value(4), ty_args=R.Tensor(ndim=1, dtype="int64"))'
)
STORE = 'a = R.call_packed("vm.builtin.match_shape", x, {heap}, {rest}, ty_args=[R.Any])'
LOAD = 's = R.call_packed("vm.builtin.make_shape", {heap}, {rest}, ty_args=[R.Shape(ndim=1)])'
FINE, UNSURE, WRONG = "always-fine", "needs-runtime-check", "always-wrong"


def _said(*lines: str) -> list[str]:
    """What RLX205 says of the slots that are read."""
    body = "".join(f"    {line}\n" for line in (f"h = {HEAP}", f"g = {HEAP}", *lines))
    module = parse(f'@R.function(pure=False)\ndef main(x: R.Tensor((7,), "float32")):\n{body}    return x\n')
    return [check.verdict.value for check in checks(module, "RLX205")]


@pytest.mark.parametrize(
    ("lines", "stored", "loaded", "slot", "verdict"),
    [
        (("t = (h, g)", "k = t[0]"), "k", "h", 0, FINE),
        (("t = (h, g)", "k = t[0]"), "k", "g", 0, WRONG),
        (("t = (h, g)", "k = t[1]"), "k", "h", 0, WRONG),
        (("t = (h, g)", "k = t[1]"), "k", "g", 0, FINE),
        (("t = (h, g)", "k = t[0]"), "h", "k", 0, FINE),
        (("t = (h, g)", "k = t[0]"), "h", "k", 1, WRONG),
        (("t = ((g, h), g)", "q = t[0]", "k = q[1]"), "h", "k", 0, FINE),
        (("t = ((g, h), g)", "q = t[0]", "k = q[1]"), "h", "k", 1, WRONG),
        (("t = ((g, h), g)", "q = t[0]", "k = q[0]"), "h", "k", 0, WRONG),
    ],
)
def test_a_heap_out_of_a_tuple_is_the_one_that_was_put_in(
    lines: tuple[str, ...], stored: str, loaded: str, slot: int, verdict: str
) -> None:
    store = STORE.format(heap=stored, rest='1, 1, 0, R.str("")')
    assert _said(*lines, store, LOAD.format(heap=loaded, rest=f"1, 1, {slot}")) == [verdict]


@pytest.mark.parametrize(
    ("rest", "verdict"),
    [
        ('1, 1, 0, R.str("")', FINE),
        ("1, 1, 0", FINE),
        # What such a call stores is not known.
        ("1, 1", UNSURE),
        ("1", UNSURE),
        ("2, 1, 0", UNSURE),
        ("2, 1, 0, 1", UNSURE),
        ('2, 1, 0, R.str("")', UNSURE),
        ("2, 1, 1, 1, 0", FINE),
        ("-1, 1, 0", UNSURE),
    ],
)
def test_axes_without_arguments_are_not_read(rest: str, verdict: str) -> None:
    assert _said(STORE.format(heap="h", rest=rest), LOAD.format(heap="h", rest="1, 1, 0")) == [verdict]
