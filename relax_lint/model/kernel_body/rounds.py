"""How often a loop goes round while a condition holds: at least once where that holds for what is stored
before it.
"""

from __future__ import annotations

from typing import Any

from relax_lint.model.kernel_body.growing import growing
from relax_lint.model.kernel_body.intervals import Interval, Number, Numbers, Steps
from relax_lint.vm import nodes

_KEEPS_WHAT_IS_HELD = ("AllocBuffer", "While")
_FIRST = 1_000
"""Numbers of rounds are called so and by the numbers that follow, sizes by smaller ones."""
_TRUE, _FALSE = (1, 1), (0, 0)


class Rounds:
    """What the statements right before one have stored at indices that are numbers."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers
        self._held: dict[tuple[Any, tuple[int, ...]], Number] = {}

    def before(self, statement: Any) -> None:
        """A statement comes next."""
        kind = type(statement).__name__
        indices = nodes.integers(statement.indices) if kind == "BufferStore" else None
        if indices is not None:
            self._held[statement.buffer, indices] = self._numbers.number(statement.value)
        elif kind not in _KEEPS_WHAT_IS_HELD:
            self._held.clear()

    def of(self, loop: Any) -> Number:
        """The number of rounds: none, any that is at least one, or unknown. Inside nothing is known of what
        is held.
        """
        with self._numbers.holding(self._held):
            holds = self._numbers.number(loop.condition)
        self._held = {}
        some = growing(_FIRST + self._numbers.variable(loop), 1)

        def found(steps: Steps) -> Interval | None:
            begins = holds(steps)
            return (some, some) if begins == _TRUE else _FALSE if begins == _FALSE else None

        return found
