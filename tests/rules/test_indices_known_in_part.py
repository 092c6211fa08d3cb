"""RLX306 where an index comes from data and another one, or a condition, does not: what is assumed, and what is not."""

from __future__ import annotations

import pytest

import relax_lint
from tests.rules.checking import checks, parse

PROGRAM = """
@T.prim_func(private=True)
def take(a: T.handle, c: T.handle, b: T.handle):
    n = T.int64()
    l = T.int64()
    m = T.int64()
    x = T.match_buffer(a, (n, l), "float32")
    w = T.match_buffer(c, (m,), "int64")
    y = T.match_buffer(b, (m,), "float32")
    for i in range(m):
        y[i] = {element}

@R.function
def main(x: R.Tensor(("n", "l"), "float32"), p: R.Tensor((3,), "int64")) -> R.Tensor((3,), "float32"):
    n = T.int64()
    l = T.int64()
    k = R.const({held}, "int64")
    y = R.call_tir(Module.take, (x, {indices}), R.Tensor((3,), "float32"))
    return y
"""
SMALL, LARGE = [0, 2, 1], [10, 20, 11]
GUARDED = "T.if_then_else(w[i] > 3, x[i + 5, 0], T.float32(0))"
# Which elements of a constant are used is not known, only their ends: a sum of two of them may be anything between.
WITHIN, INSIDE, COMPUTED = "within 0..", "stay inside `x`", "computes from data stay inside `x`"
CASES = [
    ("x[w[i], w[i]]", "p", SMALL, (1, 0), [WITHIN + "n - 1", WITHIN + "l - 1"]),
    ("x[w[i] + w[0], w[i]]", "p", SMALL, (1, 0), [INSIDE, WITHIN + "l - 1"]),
    ("x[w[i] * w[i], w[i]]", "p", SMALL, (1, 0), [COMPUTED]),
    # Indices that a constant holds RLX308 compares with the axis, one by one.
    ("x[w[i], w[i]]", "k", SMALL, (1, 0), []),
    ("x[w[i] + w[0], w[i]]", "k", SMALL, (1, 0), [INSIDE, WITHIN + "l - 1"]),
    ("x[w[i] * w[i], w[i]]", "k", SMALL, (0, 1), None),
    ("x[w[i] + w[0], w[i] * w[i]]", "k", SMALL, (0, 1), None),
    # `i ^ l` has nothing to do with data: that it is inside is not assumed.
    ("x[w[i], T.bitwise_xor(i, l)]", "p", SMALL, (0, 1), None),
    ("x[w[i], T.bitwise_xor(i, l)]", "k", SMALL, (0, 1), None),
    ("x[w[i] + w[0], T.bitwise_xor(i, l)]", "k", SMALL, (0, 1), None),
    ("x[w[i] * w[i], T.bitwise_xor(i, l)]", "p", SMALL, (0, 1), None),
    # No element of the first constant is above 3, all of the second one are.
    (GUARDED, "k", SMALL, (0, 0), []),
    (GUARDED, "k", LARGE, (0, 1), None),
]


@pytest.mark.parametrize(("element", "indices", "held", "counts", "assumes"), CASES)
def test_what_is_assumed_of_an_access(
    element: str, indices: str, held: list[int], counts: tuple[int, int], assumes: list[str] | None
) -> None:
    """`assumes` is None where a note says that it is not decided."""
    module = parse(PROGRAM.format(element=element, indices=indices, held=held))
    report = relax_lint.check(module, {"select": ["RLX306"]})
    (found,) = report.accesses
    assert (found.assumed, found.undecided) == counts
    (check,) = report.checks or (None,)
    assert check is None or check.undecided is (assumes is None)
    told = check.assumes if check is not None else ()
    assert [part in one for part, one in zip(assumes or (), told, strict=True)] == [True] * len(told)


ALONG = """
@T.prim_func(private=True)
def take(a: T.handle, c: T.handle, b: T.handle):
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(a, ({axis},), "float32")
    w = T.match_buffer(c, (m,), "int64")
    y = T.match_buffer(b, (m,), "float32")
    for i in range(m):
        y[i] = x[w[i]]

@R.function
def main(x: R.Tensor(({declared},), "float32")) -> R.Tensor((3,), "float32"):
    k = R.const({held}, "int64")
    y = R.call_tir(Module.take, (x, k), R.Tensor((3,), "float32"))
    return y
"""


@pytest.mark.parametrize(
    ("axis", "held", "verdict", "severity"),
    [
        (4, [0, 3, 1], "always-fine", "none"),
        (4, [0, 4, 1], "always-wrong", "error"),
        # There is no element: that is not what only an empty axis refuses.
        (0, [0, 0, 0], "always-wrong", "error"),
        # Only where the axis is empty there is none, or also where it has one.
        ("n", [0, 0, 0], "needs-runtime-check", "note"),
        ("n", [0, 1, 0], "needs-runtime-check", "warning"),
        ("n", [-1, 0, 0], "always-wrong", "error"),
    ],
)
def test_constant_indices_that_only_an_empty_axis_refuses_are_a_note(
    axis: int | str, held: list[int], verdict: str, severity: str
) -> None:
    text = ALONG.format(axis=axis, declared=axis if isinstance(axis, int) else f'"{axis}"', held=held)
    (found,) = checks(parse(text), "RLX308")
    assert (found.verdict.value, found.severity.value) == (verdict, severity)
