"""Which names are of a part of the memory behind them."""

from __future__ import annotations

import pytest

from relax_lint.analysis.aliases import Aliases
from tests.model.test_builder import main_of, module

T4 = 'R.Tensor((4,), "float32")'
VIEW = 'v = R.memory.view(x, R.shape([4]), R.dtype("float32"), R.prim_value(8))\n'
CHOICE = "if c:\n    w = {}\nelse:\n    w = {}\n"


@pytest.mark.parametrize(
    ("lines", "windows"),
    [
        ("w = v", "vw"),
        (f"w = R.match_cast(v, {T4})", "vw"),
        ("w = R.memory.ensure_zero_offset(v)", "vw"),
        ("w = R.reshape(x, R.shape([2, 32]))", "vw"),
        ("w = y", "v"),
        (f"w = R.match_cast(y, {T4})", "v"),
        ("w = R.memory.ensure_zero_offset(y)", "v"),
        ("t = (v, y)\nw = t[0]", "vtw"),
        ("t = (y, v)\nw = t", "vtw"),
        ("t = (y, y)\nw = t[0]", "v"),
        ("t = ((y, v), y)\nw = t[0]", "vtw"),
        (CHOICE.format("v", "y"), "vw"),
        (CHOICE.format("y", "v"), "vw"),
        (CHOICE.format("y", "y"), "v"),
        (f'w = R.call_packed("unknown", v, ty_args={T4})', "v"),
        (f'w = R.call_packed("vm.builtin.make_tuple", y, v, ty_args=R.Tuple({T4}, {T4}))', "vw"),
        (f'w = R.call_packed("vm.builtin.make_tuple", y, y, ty_args=R.Tuple({T4}, {T4}))', "v"),
    ],
)
def test_parts_of_what_is_behind_them(lines: str, windows: str) -> None:
    parameters = f'x: R.Tensor((64,), "float32"), y: {T4}, c: R.Tensor((), "bool")'
    function = main_of(module(parameters, f"{VIEW}{lines}\nreturn x"))
    found = {function.values[value].name for value in Aliases(function).windows}
    assert {name for name in found if name in set("vtwxy")} == set(windows)
