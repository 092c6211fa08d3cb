"""RLX304 where a type says only a part: what cannot be stated is a question, and what a copy claims of nothing none."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse

PROGRAM = """
@R.function(pure=False)
def main(x: {source}):
    n = T.int64()
    y = {view}
    return y
"""
RESHAPE = 'R.call_packed("vm.builtin.reshape", x, R.shape([2, 3]), ty_args=R.Tensor((2, 3), "float32"))'
VIEW = 'R.memory.view(x, R.shape([{count}]), "{dtype}", {offset})'
COPY = 'R.call_packed("vm.builtin.copy", x, ty_args={type})'
OF_SIX, OF_N = 'R.Tensor((6,), "float32")', 'R.Tensor(("n",), "float32")'
NO_SHAPE, NO_DTYPE, NOTHING = 'R.Tensor(ndim=1, dtype="float32")', "R.Tensor((6,))", "R.Tensor(ndim=1)"
FINE, UNSURE, WRONG = "always-fine", "needs-runtime-check", "always-wrong"
UNKNOWN = "the type of the view or of its source is unknown in the IR"


def _view(count: str, dtype: str = "float32", offset: int = 0) -> str:
    return VIEW.format(count=count, dtype=dtype, offset=offset)


@pytest.mark.parametrize(
    ("source", "view", "verdict", "safe"),
    [
        (OF_SIX, RESHAPE, FINE, None),
        ('R.Tensor((7,), "float32")', RESHAPE, WRONG, None),
        (OF_N, RESHAPE, UNSURE, "n == 6"),
        (NO_SHAPE, RESHAPE, UNSURE, UNKNOWN),
        # The elements are counted, whatever they are.
        (NO_DTYPE, RESHAPE, FINE, None),
        (OF_SIX, _view("6"), FINE, None),
        (OF_SIX, _view("5", offset=4), FINE, None),
        (OF_SIX, _view("5", offset=2), WRONG, None),
        (OF_SIX, _view("6", "int8", offset=18), FINE, None),
        (OF_N, _view("6"), UNSURE, "n >= 6"),
        (OF_SIX, _view("n"), UNSURE, "n <= 6"),
        (NO_SHAPE, _view("6"), UNSURE, UNKNOWN),
        (NO_DTYPE, _view("6"), UNSURE, UNKNOWN),
        (NO_SHAPE, _view("6", offset=2), UNSURE, UNKNOWN),
        (OF_SIX, COPY.format(type=OF_SIX), FINE, None),
        (OF_SIX, COPY.format(type='R.Tensor((7,), "float32")'), WRONG, None),
        (OF_SIX, COPY.format(type='R.Tensor((6,), "int32")'), WRONG, None),
        (OF_SIX, COPY.format(type='R.Tensor((6, 1), "float32")'), WRONG, None),
        (OF_N, COPY.format(type=OF_SIX), UNSURE, "n == 6"),
        (NO_SHAPE, COPY.format(type=OF_SIX), UNSURE, UNKNOWN),
        # What claims nothing is always what it was.
        (OF_SIX, COPY.format(type=NOTHING), FINE, None),
        (OF_SIX, COPY.format(type=NO_SHAPE), FINE, None),
        (NO_DTYPE, COPY.format(type=OF_SIX), FINE, None),
        ("R.Any", COPY.format(type=OF_SIX), None, None),
        (OF_SIX, COPY.format(type="R.Any"), None, None),
    ],
)
def test_what_is_known_of_a_view(source: str, view: str, verdict: str | None, safe: str | None) -> None:
    found = checks(parse(PROGRAM.format(source=source, view=view)), "RLX304")
    assert [one.verdict.value for one in found] == ([] if verdict is None else [verdict])
    for one in found:
        assert (UNKNOWN if one.undecided else one.safe_when) == safe
        assert one.undecided is (safe == UNKNOWN)
        assert UNKNOWN in one.proof or safe != UNKNOWN


@pytest.mark.parametrize(
    ("source", "view", "error"),
    [
        # Nothing fits but an empty tensor.
        (
            OF_N,
            'R.call_packed("vm.builtin.reshape", x, R.shape([2 * n]), ty_args=R.Tensor((2 * n,), "float32"))',
            True,
        ),
        (OF_N, _view("2 * n"), True),
        (OF_N, _view("6"), False),
        (OF_N, RESHAPE, False),
    ],
)
def test_where_only_empty_tensors_fit_it_is_an_error(source: str, view: str, error: bool) -> None:
    (found,) = checks(parse(PROGRAM.format(source=source, view=view)), "RLX304")
    assert (found.severity.value == "error") is error
