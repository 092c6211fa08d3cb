"""The engine names no rule: it knows problems by their kind, and rules by what they declare."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import relax_lint

PACKAGE = Path(relax_lint.__file__).parent
_CODE = re.compile(r"RLX\d")


def codes_in(source: str) -> Iterator[tuple[int, str]]:
    """The texts with a rule code, by line, that are not documentation."""
    tree = ast.parse(source)
    # A text that stands alone documents what is before it.
    documentation = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or node in documentation:
            continue
        if isinstance(node.value, str) and _CODE.search(node.value):
            yield node.lineno, node.value


def test_no_text_in_the_engine_holds_a_rule_code() -> None:
    found = {
        f"{path.relative_to(PACKAGE)}:{line}": text
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, text in codes_in(path.read_text())
    }
    assert found == {}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('"""RLX101 is about overflow."""', []),
        ('def f():\n    """RLX101."""\n', []),
        ('x = 1\n"""As RLX101 has it."""\n', []),
        ('# RLX101\nx = ("RLX", "Q101")', []),
        ('x = "RLX901"', [(1, "RLX901")]),
        ('x = f"{1}\\n" + f"RLX90{2}"', [(1, "RLX90")]),
    ],
)
def test_the_test_sees_a_code(source: str, expected: list[tuple[int, str]]) -> None:
    assert list(codes_in(source)) == expected
