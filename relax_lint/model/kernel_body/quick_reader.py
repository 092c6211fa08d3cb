"""The walk over a body without what asks which parameters are read for sure: that takes longer than all the
rest, and where everything is written before it is read nobody wants to know.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, ClassVar

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.expressions import BINARY, Loads
from relax_lint.model.kernel_body.in_order import Moment, Order
from relax_lint.model.kernel_body.lent import is_access_pointer
from relax_lint.model.kernel_body.reader import BodyReader
from relax_lint.model.kernel_body.sure_reads import Sure
from relax_lint.model.kernel_body.touches import Loop, Touch
from relax_lint.model.kernel_body.ways_out import Around
from relax_lint.vm import nodes


class _Nothing:
    """What is read for sure in a part, of which nobody asks."""

    def __enter__(self) -> Sure:
        return {}

    def __exit__(self, *_: object) -> None:
        return None


class _NoOrder(Order):
    """The order of stores and loads, of which nobody asks."""

    def store(self, memory: Hashable, touch: Touch) -> None:
        """A store comes next."""

    def load(self, memory: Hashable) -> None:
        """A load comes next."""

    def act(self) -> None:
        """Something comes next that does more than to store."""


class _Anywhere(Around):
    """What stands around a statement, of which nobody asks."""

    def before(self, statements: Sequence[Any]) -> Any:
        """Inside of what comes right before some statements."""
        return _NOWHERE

    def loop(self, body: Any) -> Any:
        """Inside of a loop."""
        return _NOWHERE

    def skips(self, way_out: str) -> bool:
        """Whether anything is left undone."""
        return False


_NOTHING = _Nothing()
_NOWHERE = nullcontext()


class QuickReader(BodyReader):
    """Finds what the other one does, but for `effects.sure`, which means nothing here."""

    order = _NoOrder
    around = _Anywhere

    def _sequence(self, node: Any) -> None:
        for statement in node.seq[:]:
            self.statement(statement)

    def _come_from(self, loops: Sequence[Loop], sure: Sure, *, whole: bool) -> None:
        return None

    def _parts(self) -> Any:
        return _NOTHING

    def _where(self, condition: Any, *, holds: bool = True, unknown: Boolean = sympy.false) -> Any:
        return _NOTHING

    @contextmanager
    def _naming(self, var: Any, value: Any) -> Iterator[None]:
        yield
        if is_access_pointer(value):
            self._opaque(nodes.data_of_buffer(value.args[1]))

    def _decided(self, asked: Sure, since: Moment, touches: Sequence[Touch], depth: int) -> None:
        return None

    def _at_start(self, block: Any, kind: int) -> Boolean:
        return sympy.false

    def _counted_by(self, *numbers: Any) -> Any:
        return _NOWHERE

    def _memory(self, buffer: Any) -> Any:
        return None

    def _cell(self, buffer: Any, indices: Any) -> Any:
        return None

    def _first_round(self, condition: Any) -> Boolean:
        return sympy.false

    def _computed(self, node: Any, loads: Loads) -> None:
        self._expression(node.a, loads)
        self._expression(node.b, loads)

    statements: ClassVar[Mapping[str, Callable[[Any, Any], None]]] = {
        **BodyReader.statements,
        "SeqStmt": _sequence,
    }
    expressions: ClassVar[Mapping[str, Callable[[Any, Any, Loads], None]]] = {
        **BodyReader.expressions,
        **dict.fromkeys(BINARY, _computed),
    }
