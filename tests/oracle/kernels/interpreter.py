"""A body run as what it is in Python, on buffers that watch what is done to them."""

from __future__ import annotations

import ast
import contextlib
import itertools
from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

from tests.oracle.kernels.bodies import Body, local_text

_MOST_REPEATS = 10_000


class Watched:
    """A buffer on some cells. What is loaded before it was stored is noted, and what lies outside."""

    def __init__(self, cells: list[float], shape: Sequence[int]) -> None:
        self.cells = cells
        self.shape = tuple(shape)
        self.stored: set[int] = set()
        self.early = self.outside = False

    def _cell(self, at: Any) -> int | None:
        indices = at if isinstance(at, tuple) else (at,)
        cell = 0
        for index, extent in zip(indices, self.shape, strict=True):
            if not 0 <= index < extent:
                self.outside = True
                return None
            cell = cell * extent + index
        return cell

    def __getitem__(self, at: Any) -> float:
        cell = self._cell(at)
        if cell is None:
            return 0.0
        self.early |= cell not in self.stored
        return self.cells[cell]

    def __setitem__(self, at: Any, value: float) -> None:
        cell = self._cell(at)
        if cell is not None:
            self.stored.add(cell)
            self.cells[cell] = value

    @property
    def count(self) -> int:
        found = 1
        for extent in self.shape:
            found *= extent
        return found


class _Axis:
    def __init__(self) -> None:
        self.reduced: list[int] = []

    def spatial(self, extent: int, value: int) -> int:
        return value

    def reduce(self, extent: int, value: int) -> int:
        self.reduced.append(value)
        return value


class _Script:
    """What a body uses of TVMScript."""

    def __init__(self) -> None:
        self.axis = _Axis()
        self._repeats = 0
        self.float32 = float
        self.int64 = int
        self.max = max
        self.min = min

    def again(self) -> bool:
        """Asked before each step of a `while`, which may lose what ends it when a body is made smaller. Raises
        `OverflowError` where it goes on and on.
        """
        self._repeats += 1
        if self._repeats > _MOST_REPEATS:
            raise OverflowError
        return True

    def alloc_buffer(self, shape: tuple[int, ...], dtype: str) -> Watched:
        return Watched([0.0] * 64, shape)

    def serial(self, first: int, end: int, *, step: int) -> range:
        return range(first, end, step)

    def Cast(self, dtype: str, value: Any) -> float:
        """A number of another type, in eight bits what is left of it there."""
        if dtype == "int8":
            return (int(value) + 128) % 256 - 128
        return int(value) if dtype == "int64" else float(value)

    def Select(self, condition: Any, one: float, other: float) -> float:
        """One of two that are both evaluated."""
        return one if condition else other

    def evaluate(self, value: Any) -> None:
        """Nothing."""

    @contextlib.contextmanager
    def sblock(self, name: str) -> Iterator[None]:
        self.axis.reduced = []
        yield

    def first(self) -> bool:
        return not any(self.axis.reduced)


class _Choices(ast.NodeTransformer):
    """`T.if_then_else` as a conditional expression: what is not chosen is not evaluated. Loops by a condition ask
    whether they have gone on for too long.
    """

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        again = ast.parse("T.again()", mode="eval").body
        node.test = ast.BoolOp(ast.And(), [again, node.test])
        return ast.fix_missing_locations(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "if_then_else":
            return ast.copy_location(ast.IfExp(*node.args), node)
        return node


def run(body: Body, x: Watched, y: Watched, n: int, m: int) -> None:
    """Run the body on two buffers."""
    exec(_compiled(local_text(body)), {"T": _Script(), "x": x, "y": y, "n": n, "m": m, "range": range})


@lru_cache(maxsize=1)
def _compiled(text: str) -> CodeType:
    """A body runs at many sizes, one after the other."""
    tree = _Choices().visit(ast.parse(text.replace("with T.init():", "if T.first():")))
    return compile(tree, "body", "exec")


def sizes() -> Iterator[tuple[int, int]]:
    """Values of `n` and `m`."""
    return itertools.product((0, 1, 2, 5, 8), (1, 3, 4))
