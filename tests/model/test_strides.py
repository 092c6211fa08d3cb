"""Positions in loops, against all of their steps."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import pytest
import sympy

from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_body.strides import covered, linear, told_apart

VALUES = (1, 2, 3, 5)


@dataclass(frozen=True)
class _Named:
    """In the place of a variable of TVM."""

    name: str


class Nest:
    """Loops `i`, `j` over extents in `n` and `m`, which are extents of tensors."""

    def __init__(self, i: str, j: str, first: int = 0) -> None:
        self.loops = Loops()
        names = {name: self.loops.symbol_of(_Named(name)) for name in ("n", "m")}
        self.loops.close_signature(names.values())
        self.variables = [self.loops.symbol_of(_Named(name)) for name in ("i", "j")]
        self.symbols = names | {"i": self.variables[0], "j": self.variables[1]}
        self.extents = [sympy.sympify(text, locals=self.symbols) for text in (i, j)]
        self.first = first
        for variable, extent in zip(self.variables, self.extents, strict=True):
            self.loops.enter(variable, sympy.Integer(first), extent)

    def steps(self, position: sympy.Expr, n: int, m: int) -> dict[tuple[int, ...], int]:
        """The position in each step of both loops."""
        at = {self.symbols["n"]: n, self.symbols["m"]: m}
        ranges = [range(self.first, self.first + int(extent.subs(at))) for extent in self.extents]
        return {
            step: int(position.subs({**at, **dict(zip(self.variables, step, strict=True))}))
            for step in product(*ranges)
        }


CASES = [
    ("n", "m", "i*m + j"),
    ("n", "m", "i + j*n"),
    ("n", "m", "i*n + j"),
    ("n", "4", "4*i + j"),
    ("n", "4", "5*i + j"),
    ("n", "4", "3*i + j"),
    ("n", "m", "n - 1 - i + n*j"),
    ("n", "m", "n*m - 1 - i*m - j"),
    ("n", "4", "4*i + 3 - j"),
    ("n", "3", "2*i"),
    ("3", "4", "4*i + j"),
    ("3", "4", "i + 3*j"),
    ("n", "m", "j"),
    ("n", "m + 1", "i*m + j"),
    ("n", "m + 2", "i*m + j"),
    ("n", "m + 2", "i*m + i + j"),
]


@pytest.mark.parametrize("first", [0, 2])
@pytest.mark.parametrize(("i", "j", "text"), CASES)
def test_a_position_is_what_its_steps_give(i: str, j: str, text: str, first: int) -> None:
    nest = Nest(i, j, first)
    position = sympy.sympify(text, locals=nest.symbols)
    found = linear(position, nest.variables, nest.loops)
    assert found is not None
    size, told = covered(found), told_apart(found, nest.loops)
    for n, m in product(VALUES, repeat=2):
        at = {nest.symbols["n"]: n, nest.symbols["m"]: m}
        steps = nest.steps(position, n, m)
        assert int(found.start.subs(at)) == min(steps.values())
        if size is not None:
            assert sorted(set(steps.values())) == list(
                range(min(steps.values()), min(steps.values()) + int(size.subs(at)))
            )
        for place, variable in enumerate(nest.variables):
            if variable in told:
                assert len({(step[place], value) for step, value in steps.items()}) == len(
                    set(steps.values())
                )


@pytest.mark.parametrize(
    ("i", "j", "text", "size", "told"),
    [
        ("n", "m", "i*m + j", "n*m", "ij"),
        ("n", "m", "i + j*n", "n*m", "ij"),
        ("n", "m", "n*m - 1 - i*m - j", "n*m", "ij"),
        ("n", "4", "4*i + j", "4*n", "ij"),
        ("n", "4", "5*i + j", None, "ij"),
        ("n", "4", "3*i + j", None, ""),
        ("n", "m", "i*n + j", None, ""),
        ("n", "3", "2*i", None, "i"),
        ("n", "m", "j", "m", "j"),
        # The last step of the one is at the position of the first step of the other.
        ("n", "m + 1", "i*m + j", None, ""),
        # An extent may be 0: then all steps are at one position.
        ("n", "m", "i*m", None, ""),
    ],
)
def test_what_is_seen(i: str, j: str, text: str, size: str | None, told: str) -> None:
    nest = Nest(i, j)
    found = linear(sympy.sympify(text, locals=nest.symbols), nest.variables, nest.loops)
    assert found is not None
    expected = None if size is None else sympy.sympify(size, locals=nest.symbols)
    assert covered(found) == expected
    assert told_apart(found, nest.loops) == {nest.symbols[name] for name in told}


@pytest.mark.parametrize("text", ["i*j", "i**2", "i*j + j", "Mod(i, 4)"])
def test_other_positions_are_not_told(text: str) -> None:
    nest = Nest("n", "m")
    assert linear(sympy.sympify(text, locals=nest.symbols), nest.variables, nest.loops) is None
