"""Where a tensor starts that a call of an unknown function returns, which an earlier call may have kept."""

from __future__ import annotations

import pytest

from relax_lint.analysis.flow import FunctionFlow, ProgramFlow
from relax_lint.analysis.offsets import is_zero
from relax_lint.model.builder import build_program
from tests.rules.checking import parse

T4 = 'R.Tensor((4,), "float32")'
TEXT = f"""
@R.function(pure=False)
def main(x: {T4}):
    s = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(START), R.shape([4]), R.dtype("float32"))
    k = R.CALL("relax_lint.tests.keeps", GIVEN, ty_args=(R.Any,))
    g = R.call_packed("relax_lint.tests.gives_what_was_kept", ty_args={T4})
    return g
"""


@pytest.mark.parametrize(
    ("start", "call", "given", "is_known"),
    [
        (16, "call_packed", "t", False),
        (16, "call_packed", "(x, t)", False),
        (0, "call_packed", "t", True),
        (16, "call_packed", "x", True),
        # A pure function keeps nothing.
        (16, "call_pure_packed", "t", True),
    ],
)
def test_it_starts_at_its_data_pointer_unless_a_kept_one_does_not(
    start: int, call: str, given: str, is_known: bool
) -> None:
    text = TEXT.replace("START", str(start)).replace("CALL", call).replace("GIVEN", given)
    program = build_program(parse(text))
    (function,) = program.functions
    starts = FunctionFlow(ProgramFlow(program), function).aliases.offsets.starts(function.result)
    assert is_zero(starts) is is_known
