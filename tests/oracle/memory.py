"""What the evaluator knows of a storage and of a tensor on it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field


@dataclass
class Memory:
    """A storage's bytes as elements of float32; an element is None until it is written. `history` has
    the writes of an element, in order.
    """

    declared: int
    values: dict[int, float] = field(default_factory=dict)
    history: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))


@dataclass
class Placed:
    """A tensor: where it lies, and which write each of its elements should show. Its views show the same; what an
    in-place call makes of it has an `expected` of its own, and other writes to either are in all `versions`.
    """

    memory: Memory
    offset: int
    count: int
    dtype: str
    name: str = ""
    expected: dict[int, int] = field(default_factory=dict)
    versions: list[dict[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.versions:
            self.versions.append(self.expected)
