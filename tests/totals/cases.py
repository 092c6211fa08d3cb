"""A program to measure, and what it is called with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Run:
    """One call of `main`: its inputs (numpy arrays, or ints for scalars) and the symbols they stand for."""

    inputs: tuple[Any, ...]
    binding: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """A module, and runs of one of its functions. Runs of one binding are the paths of one prediction.

    `planned` says whether memory is planned first: TVM's planner gives a storage of one branch to the other
    (apache/tvm#20191), and the machine does not survive that.
    """

    name: str
    make: Callable[[], Any]
    runs: tuple[Run, ...]
    entry: str = "main"
    planned: bool = True


def case(name: str, module: Any, *runs: Run, planned: bool = True) -> Case:
    """A case whose function is `main`."""
    return Case(name, lambda: module, runs, planned=planned)


def f32(*shape: int) -> Any:
    """A tensor of ones."""
    return np.ones(shape, "float32")


YES, NO = np.array(True), np.array(False)
STATIC = Run((f32(8, 4),))


def rows(*counts: int) -> Iterator[Run]:
    """Runs with an `[n, 4]` tensor."""
    for n in counts:
        yield Run((f32(n, 4),), {"n": n})
