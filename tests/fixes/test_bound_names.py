"""Which statements of a text bind a name."""

from __future__ import annotations

import ast

import pytest

from relax_lint.fixes.text.bound_names import bindings_by_name

PLAIN = """def f(x):
    n = T.int64()
    y: R.Tensor = R.add(x, x)
    if c:
        a, b = y
    else:
        z = n
    with R.dataflow():
        n = y
"""
INSIDE = """def f(x):
    y = (n := T.int64())
    z = [k for k in x]
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PLAIN, {"n": [2, 9], "y": [3], "a": [5], "b": [5], "z": [7]}),
        (INSIDE, {"n": [2], "y": [2], "k": [3], "z": [3]}),
    ],
)
def test_names_are_found_in_targets_and_inside_of_expressions(
    text: str, expected: dict[str, list[int]]
) -> None:
    (definition,) = ast.parse(text).body
    assert isinstance(definition, ast.FunctionDef)
    found = bindings_by_name(definition, text)
    assert {name: [one.lineno for one in statements] for name, statements in found.items()} == expected
