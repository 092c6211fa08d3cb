"""The shape heap of lowered modules: which extent each slot holds.

VMShapeLower replaces symbolic shapes by loads from a heap of int64 slots, filled by
`vm.builtin.match_shape` / `match_prim_value` and by PrimFuncs that compute further slots.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sympy

from relax_lint.model.heap_contents import SlotAccess, Ways
from relax_lint.model.heap_state import Heaps
from relax_lint.model.operations import OperationId, ValueId
from relax_lint.model.program import Origin, Provenance
from relax_lint.model.shape_conditions import equality
from relax_lint.model.symbols import SymbolTable
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.domain import Fact
from relax_lint.symbolic.printing import condition_text, expr_text
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.symbolic.translate import Translator, Untranslatable
from relax_lint.vm.facts import FactSource

# MatchShapeCode and MakeShapeCode of TVM's runtime/vm/builtin.h.
_ASSERT_EQUAL_TO_IMM, _STORE_TO_HEAP, _NO_OP, _ASSERT_EQUAL_TO_LOAD = range(4)
_USE_IMM, _LOAD_SHAPE = range(2)


@record(frozen=True)
class HeapUse:
    """One heap, as an operation is given it."""

    heaps: Heaps
    root: ValueId
    name: str
    place: OperationId

    def read(self, slot: Size) -> sympy.Expr | None:
        """The value of a slot, which the operation reads."""
        value, ways = self.heaps.read(self.root, _number(slot))
        self._record(slot, ways, writes=False)
        return value

    def write(self, slot: Size, value: sympy.Expr | None) -> None:
        """The operation writes a slot."""
        _, ways = self.heaps.read(self.root, _number(slot))
        self._record(slot, ways, writes=True)
        self.heaps.write(self.root, _number(slot), value)

    def blur(self) -> None:
        """The operation may write any slot."""
        self.heaps.blur(self.root)

    def _record(self, slot: Size, ways: Ways, *, writes: bool) -> None:
        heaps = self.heaps
        access = SlotAccess(self.place, self.name, slot, heaps.slots(self.root), writes, ways)
        heaps.accesses.append((self.root, access))


@record(frozen=True)
class Source:
    """What a check compares: its extents (or its value), None where they are not known or only declared, and
    where the symbols come from that they define.
    """

    known: tuple[sympy.Expr | None, ...] | None
    provenance: Provenance
    origin: Origin


@record(frozen=True)
class Matched:
    """What a check tells: `compared` holds because it would have failed, `learned` of the extents it read.
    `extents` are those of the source from then on, where all of them are known.
    """

    compared: tuple[Fact, ...]
    learned: tuple[Fact, ...]
    extents: tuple[sympy.Expr, ...] | None


class HeapReader:
    """Reads the arguments of the builtins that use a heap."""

    def __init__(self, translator: Translator, symbols: SymbolTable) -> None:
        self._translator = translator
        self._symbols = symbols

    def match_shape(self, heap: HeapUse, arguments: Sequence[Any], source: Source) -> Matched:
        """`match_shape(x, heap, ndim, code, value, ..., context)`."""
        codes = self._codes(arguments, 2)
        if codes is None:
            heap.blur()
            return Matched((), (), None)
        return self._match(heap, codes, source)

    def match_prim_value(self, heap: HeapUse, arguments: Sequence[Any], source: Source) -> Matched:
        """`match_prim_value(x, heap, code, value, context)`."""
        return self._match(heap, [(_int(arguments[2]), self._size(arguments[3]))], source)

    def make_shape(self, heap: HeapUse, arguments: Sequence[Any]) -> tuple[sympy.Expr, ...] | Unknown:
        """`make_shape(heap, ndim, code, value, ...)`: the extents that it yields."""
        codes = self._codes(arguments, 1)
        if codes is None:
            return Unknown("a shape whose shape-heap slots are not constant")
        extents = [self._made(heap, code, value) for code, value in codes]
        known = [extent for extent in extents if extent is not None]
        if len(known) < len(extents):
            return Unknown("the value of a slot of the shape heap is not known")
        return tuple(known)

    def make_prim_value(self, heap: HeapUse, arguments: Sequence[Any]) -> sympy.Expr | None:
        """`make_prim_value(heap, code, value)`."""
        return self._made(heap, _int(arguments[1]), self._size(arguments[2]))

    def _match(self, heap: HeapUse, codes: Sequence[tuple[int | None, Size]], source: Source) -> Matched:
        known = source.known if source.known is not None and len(source.known) == len(codes) else None
        compared: list[Fact] = []
        learned: list[Fact] = []
        extents: list[sympy.Expr | None] = []
        for axis, (code, operand) in enumerate(codes):
            value = None if known is None else known[axis]
            if code == _STORE_TO_HEAP:
                if value is None:
                    value, facts = self._named(f"shape_{operand}", source)
                    learned += facts
                heap.write(operand, value)
                extents.append(value)
            else:
                expected = self._expected(heap, code, operand)
                compared += self._equality(value, expected, source.origin)
                extents.append(expected)
        whole = tuple(extent for extent in extents if extent is not None)
        return Matched(tuple(compared), tuple(learned), whole if len(whole) == len(extents) else None)

    def _equality(
        self, value: sympy.Expr | None, expected: sympy.Expr | None, origin: Origin
    ) -> Iterator[Fact]:
        if value is not None and expected is not None and value != expected:
            condition = equality(value, expected)
            text = f"{expr_text(value)} == {expr_text(expected)}"
            if not isinstance(condition, sympy.Eq):
                text = condition_text(condition)
            yield self._symbols.fact(FactSource.HEAP_SLOT, condition, text, str(origin))

    def _named(self, name: str, source: Source) -> tuple[sympy.Symbol, tuple[Fact, ...]]:
        """A symbol for a value that nothing else names, and what is known of it."""
        symbol = self._symbols.fresh(name)
        return symbol, self._symbols.define(symbol, source.provenance, source.origin, in_signature=False)

    def _expected(self, heap: HeapUse, code: int | None, operand: Size) -> sympy.Expr | None:
        """What a code other than that of a store compares with."""
        if code == _ASSERT_EQUAL_TO_LOAD:
            return heap.read(operand)
        if code is None:
            # It may be that of a store.
            heap.blur()
        return operand if code == _ASSERT_EQUAL_TO_IMM and not isinstance(operand, Unknown) else None

    def _made(self, heap: HeapUse, code: int | None, operand: Size) -> sympy.Expr | None:
        if code == _LOAD_SHAPE:
            return heap.read(operand)
        return operand if code == _USE_IMM and not isinstance(operand, Unknown) else None

    def _codes(self, arguments: Sequence[Any], count_at: int) -> list[tuple[int | None, Size]] | None:
        """The (code, slot or value) of each axis, which follow the number of axes at `count_at`; None where
        they are not all there.
        """
        ndim = _int(arguments[count_at])
        if ndim is None or ndim < 0 or len(arguments) < count_at + 1 + 2 * ndim:
            return None
        first = count_at + 1
        return [
            (_int(arguments[at]), self._size(arguments[at + 1])) for at in range(first, first + 2 * ndim, 2)
        ]

    def _size(self, node: Any) -> Size:
        try:
            return self._translator.expr(node)
        except (Untranslatable, AttributeError):
            return Unknown("the number of the slot is not known")


def _number(slot: Size) -> int | None:
    return int(slot) if isinstance(slot, sympy.Integer) else None


def _int(node: Any) -> int | None:
    """An integer constant; None for anything else."""
    value = getattr(node, "value", node)
    return int(value) if type(value).__name__ in ("int", "IntImm") else None
