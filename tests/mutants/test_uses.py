"""Which lines use what a statement of a module defines: the tests of these lines are tried on a fault in it."""

from __future__ import annotations

import pytest

from tools.mutants.tests_of import defined_at, first_lines, naming_lines

TEXT = """\
SIZES, NAMES = [
    1,
    2,
], {}
LIMIT: int = 3


class Kind:
    ONE = 1


def f(a):
    if a in SIZES:
        return NAMES[a]
    return LIMIT
"""


@pytest.mark.parametrize(
    ("line", "names", "used"),
    [
        (2, {"SIZES", "NAMES"}, [13, 14]),
        (5, {"LIMIT"}, [15]),
        (9, {"Kind"}, []),
        (13, {"f"}, []),
        (7, set(), []),
    ],
)
def test_the_lines_that_name_what_a_statement_defines(line: int, names: set[str], used: list[int]) -> None:
    assert defined_at(TEXT, line) == names
    assert naming_lines(TEXT, frozenset(names)) == used


def test_where_the_bodies_of_functions_begin() -> None:
    text = (
        'def f(a):\n    """What it does."""\n    def g():\n        return 1\n    return a\n\ndef h(): ...\n'
    )
    assert first_lines(text, frozenset({"f", "h"})) == [3, 7]
    assert first_lines(text, frozenset({"g", "i"})) == [4]
