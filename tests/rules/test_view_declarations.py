"""RLX304 where the type of a source, or of a view, says less than is needed: it is said that it is not known."""

from __future__ import annotations

import pytest

from relax_lint.facts.words import slot_name
from relax_lint.symbolic.quantity import Unknown
from tests.rules.checking import checks, parse

FLOATS = 'x: R.Tensor((8,), "float32")'
RESHAPED = 'R.call_packed("vm.builtin.reshape", x, R.shape([2, 4]), ty_args={})'
COPIED = 'R.call_packed("vm.builtin.copy", x, ty_args={})'
WINDOW = "R.memory.view(x, R.shape([4]), {}, R.prim_value({}))"
TYPE = 'R.Tensor((2, 4), "float32")'
FINE, UNSURE, WRONG = "always-fine", "needs-runtime-check", "always-wrong"


@pytest.mark.parametrize(
    ("parameter", "view", "verdicts"),
    [
        (FLOATS, RESHAPED.format(TYPE), [FINE]),
        (FLOATS, RESHAPED.format('R.Tensor((3, 3), "float32")'), [FINE]),
        ('x: R.Tensor((9,), "float32")', RESHAPED.format(TYPE), [WRONG]),
        ("x: R.Object", RESHAPED.format(TYPE), [UNSURE]),
        ('x: R.Tensor(dtype="float32", ndim=1)', RESHAPED.format(TYPE), [UNSURE]),
        (FLOATS, COPIED.format('R.Tensor((8,), "float32")'), [FINE]),
        (FLOATS, COPIED.format('R.Tensor((4,), "float32")'), [WRONG]),
        ("x: R.Tensor(ndim=1)", COPIED.format('R.Tensor((8,), "float32")'), [UNSURE]),
        # A copy of what is no tensor is no view.
        ("x: R.Object", COPIED.format('R.Tensor((8,), "float32")'), []),
        (FLOATS, COPIED.format("R.Object"), []),
        (FLOATS, WINDOW.format('R.dtype("float32")', 16), [FINE]),
        ('x: R.Tensor(("n",), "float32")', WINDOW.format('R.dtype("float32")', 16), [UNSURE]),
        # It does not start at an element.
        (FLOATS, WINDOW.format('R.dtype("float32")', 2), [WRONG]),
        (FLOATS, WINDOW.format('R.dtype("float16")', 2), [FINE]),
        ("x: R.Tensor((8,))", WINDOW.format('R.dtype("float32")', 16), [UNSURE]),
        ("x: R.Tensor((8,))", WINDOW.format("None", 16), [UNSURE]),
    ],
)
def test_what_is_said_of_a_view(parameter: str, view: str, verdicts: list[str]) -> None:
    module = parse(f"@R.function(pure=False)\ndef main({parameter}):\n    v = {view}\n    return v\n")
    assert [check.verdict.value for check in checks(module, "RLX304")] == verdicts


def test_a_slot_that_nobody_knows_has_no_number() -> None:
    assert slot_name(Unknown("it is data")) == "a slot"
