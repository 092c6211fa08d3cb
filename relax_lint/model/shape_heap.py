"""The shape heap of lowered modules: which extent each slot holds.

VMShapeLower replaces symbolic shapes by loads from a heap of int64 slots, filled by
`vm.builtin.match_shape` / `match_prim_value` and by PrimFuncs that compute further slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy

from relax_lint.model.program import Origin, Provenance
from relax_lint.model.symbols import SymbolTable
from relax_lint.model.types import DType, PrimType, ShapeType, TensorType, ValueType
from relax_lint.symbolic.domain import Fact, FactKind
from relax_lint.symbolic.printing import expr_text
from relax_lint.symbolic.quantity import Unknown
from relax_lint.symbolic.translate import Translator, Untranslatable
from relax_lint.vm import versions

# MatchShapeCode and MakeShapeCode of TVM's runtime/vm/builtin.h.
_ASSERT_EQUAL_TO_IMM, _STORE_TO_HEAP, _NO_OP, _ASSERT_EQUAL_TO_LOAD = range(4)
_USE_IMM, _LOAD_SHAPE = range(2)


_SLOT = DType("int64", 64)


class ShapeHeap:
    """The contents of one function's shape heap, in program order."""

    def __init__(self, symbols: SymbolTable) -> None:
        self._symbols = symbols
        self._slots: dict[int, sympy.Expr] = {}

    @staticmethod
    def type_of_heap(slots: ValueType) -> TensorType:
        """The type of the heap that `alloc_shape_heap(slots)` makes."""
        extent = slots.value if isinstance(slots, PrimType) else None
        return TensorType(None if extent is None else (extent,), _SLOT, 1)

    def match_shape(self, source: ValueType, arguments: Sequence[Any], origin: Origin) -> list[Fact]:
        """`match_shape(x, heap, ndim, code, value, ..., context)`: the facts that it enforces."""
        codes = _codes(arguments, 2) or []
        extents = _extents_of(source)
        facts: list[Fact] = []
        for axis, (code, register) in enumerate(codes):
            known = extents[axis] if extents is not None and len(extents) == len(codes) else None
            provenance = Provenance.VALUE if isinstance(source, ShapeType) else Provenance.EXTENT
            facts += self._match(known, code, register, provenance, origin)
        return facts

    def matched(self, arguments: Sequence[Any]) -> tuple[sympy.Expr, ...] | None:
        """The extents that a value has which a `match_shape` let through; None where one is not known."""
        codes = _codes(arguments, 2)
        if codes is None:
            return None
        found = []
        for code, register in codes:
            extent = sympy.Integer(register) if code == _ASSERT_EQUAL_TO_IMM else self._slots.get(register)
            if extent is None or code == _NO_OP:
                return None
            found.append(extent)
        return tuple(found)

    def match_prim_value(self, source: ValueType, arguments: Sequence[Any], origin: Origin) -> list[Fact]:
        """`match_prim_value(x, heap, code, value, context)`."""
        known = source.value if isinstance(source, PrimType) else None
        code, register = _int(arguments[2]), _int(arguments[3])
        if code is None or register is None:
            return []
        return self._match(known, code, register, Provenance.VALUE, origin)

    def make_shape(self, arguments: Sequence[Any]) -> tuple[sympy.Expr, ...] | Unknown:
        """`make_shape(heap, ndim, code, value, ...)`: the extents that it yields."""
        codes = _codes(arguments, 1)
        if codes is None:
            return Unknown("a shape whose shape-heap slots are not constant")
        extents = []
        for code, value in codes:
            extent = self._load(code, value)
            if extent is None:
                return Unknown("a slot of the shape heap that is never written")
            extents.append(extent)
        return tuple(extents)

    def make_prim_value(self, arguments: Sequence[Any]) -> sympy.Expr | None:
        """`make_prim_value(heap, code, value)`."""
        code, value = _int(arguments[1]), _int(arguments[2])
        return None if code is None or value is None else self._load(code, value)

    def compute(self, prim_func: Any) -> None:
        """A PrimFunc of one parameter, the heap, that stores to further slots."""
        translator = Translator(self._symbols.symbol_of, load=self._load_slot)
        for index, value in versions.stores_to_parameter(prim_func):
            try:
                self._slots[index] = translator.expr(value)
            except Untranslatable:
                self._slots.pop(index, None)

    def _match(
        self, known: sympy.Expr | None, code: int, register: int, provenance: Provenance, origin: Origin
    ) -> list[Fact]:
        if code == _STORE_TO_HEAP:
            if known is not None:
                self._slots[register] = known
                return []
            self._slots[register] = self._symbols.fresh(f"shape_{register}")
            return list(self._symbols.define(self._slots[register], provenance, origin, in_signature=False))
        expected = self._slots.get(register) if code == _ASSERT_EQUAL_TO_LOAD else sympy.Integer(register)
        if code == _NO_OP or known is None or expected is None or known == expected:
            return []
        text = f"{expr_text(known)} == {expr_text(expected)} ({origin})"
        return [Fact(sympy.Eq(known, expected), FactKind.ENFORCED, text)]

    def _load(self, code: int, value: int) -> sympy.Expr | None:
        return sympy.Integer(value) if code == _USE_IMM else self._slots.get(value)

    def _load_slot(self, load: Any) -> sympy.Expr:
        index = _int(load.indices[0])
        slot = None if index is None else self._slots.get(index)
        if slot is None:
            raise Untranslatable("a slot of the shape heap that is never written")
        return slot


def _extents_of(type_: ValueType) -> tuple[sympy.Expr, ...] | None:
    if isinstance(type_, TensorType):
        return type_.shape
    return type_.extents if isinstance(type_, ShapeType) else None


def _codes(arguments: Sequence[Any], count_at: int) -> list[tuple[int, int]] | None:
    """The (code, slot or value) of each axis, which follow the number of axes at `count_at`; None where they
    are not all there or not all constant.
    """
    ndim = _int(arguments[count_at])
    if ndim is None or ndim < 0 or len(arguments) < count_at + 1 + 2 * ndim:
        return None
    pairs = []
    for at in range(count_at + 1, count_at + 1 + 2 * ndim, 2):
        code, value = _int(arguments[at]), _int(arguments[at + 1])
        if code is None or value is None:
            return None
        pairs.append((code, value))
    return pairs


def _int(node: Any) -> int | None:
    """An integer constant; None for anything else."""
    value = getattr(node, "value", node)
    return int(value) if type(value).__name__ in ("int", "IntImm") else None
