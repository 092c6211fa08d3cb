"""RLX205 and RLX203 of tensors that somebody gets who may not read them."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse

UNWRITTEN = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    a = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))
    b = {call}
    return b
"""
IN_PLACE = """
@T.prim_func(private=True, s_tir=True)
def double(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = x[i] * T.float32(2)

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    a = R.add(x, x)
    v = R.call_tir_inplace(Module.double, (a,), [0], R.Tensor((4,), "float32"))
    b = {call}
    return (v, b)
"""
T4 = 'R.Tensor((4,), "float32")'


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("R.add(a, a)", "always-wrong"),
        # What a packed function does with its arguments is not visible.
        (f'R.call_pure_packed("unseen", a, ty_args={T4})', "needs-runtime-check"),
        (f'R.call_dps_packed("unseen", (a,), {T4})', "needs-runtime-check"),
        (f'R.call_inplace_packed("unseen", a, inplace_indices=0, ty_args={T4})', "needs-runtime-check"),
        # The VM copies what it is given.
        ("R.zeros_like(a)", None),
        ('R.full_like(a, R.const(1.0, "float32"))', None),
        ('R.full_like(x, R.const(1.0, "float32"))', None),
    ],
)
def test_nobody_is_said_to_read_what_it_may_not_read(call: str, said: str | None) -> None:
    found = [c for c in checks(parse(UNWRITTEN.format(call=call)), "RLX205") if c.binding == "b"]
    found = [c for c in found if "`a`" in c.message]
    assert [check.verdict.value for check in found] == ([] if said is None else [said])


@pytest.mark.parametrize(("call", "is_wrong"), [("R.add(a, x)", True), ("R.zeros_like(a)", False)])
def test_what_only_a_shape_is_taken_of_may_be_overwritten(call: str, is_wrong: bool) -> None:
    found = checks(parse(IN_PLACE.format(call=call)), "RLX206")
    assert any(check.verdict.value == "always-wrong" for check in found) is is_wrong
