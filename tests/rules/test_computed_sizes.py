"""A size that somebody hands over is a warning, one that the program computes itself a note; `--strict` takes both alike."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse

PROGRAM = """
@R.function(pure=False)
def main(x: R.Tensor(ndim=1, dtype="float32"), t: R.Tuple(R.Tensor(ndim=1, dtype="float32"), R.Object)):
    n = T.int64()
    {}
    y = R.match_cast(v, R.Tensor((n,), "float32"))
    z = R.reshape(y, R.shape([4]))
    return z
"""
INNER = """
@R.function(pure=False)
def main(x: R.Tensor(ndim=1, dtype="float32")):
    @R.function(pure=False)
    def inner(y: R.Tensor(("k",), "float32")):
        n = T.int64()
        w = R.match_cast({}, R.Tensor((n,), "float32"))
        z = R.reshape(w, R.shape([4]))
        return z

    r = inner(x)
    return r
"""
OTHER = 'R.call_pure_packed("f", x, ty_args=R.Tensor(ndim=1, dtype="float32"))'


@pytest.mark.parametrize(
    ("lines", "severity"),
    [
        ("v = x", "warning"),
        ("w = x; v = w", "warning"),
        ("v = t[0]", "warning"),
        ("u = t; v = u[0]", "warning"),
        ("v = R.match_cast(x, R.Tensor(ndim=1))", "warning"),
        (f"v = {OTHER}", "note"),
        (f"w = {OTHER}; v = w", "note"),
        (f"w = {OTHER}; u = (w, x); v = u[0]", "note"),
        (f"w = {OTHER}; v = R.match_cast(w, R.Tensor(ndim=1))", "note"),
    ],
)
def test_who_decides_a_size(lines: str, severity: str) -> None:
    module = parse(PROGRAM.format(lines.replace("; ", "\n    ")))
    (check,) = checks(module, "RLX304")
    assert (check.safe_when, check.severity.value) == ("n == 4", severity)
    (check,) = checks(module, "RLX304", strict=True)
    assert check.severity.value == "warning"


@pytest.mark.parametrize("value", ["x", "y"])
def test_what_an_inner_function_uses_of_the_outer_one_is_handed_over(value: str) -> None:
    checked = [check for check in checks(parse(INNER.format(value)), "RLX304") if check.safe_when]
    assert [check.severity.value for check in checked] == ["warning"]
