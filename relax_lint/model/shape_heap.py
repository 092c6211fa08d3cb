"""The shape heap of lowered modules: which extent each slot holds.

VMShapeLower replaces symbolic shapes by loads from a heap of int64 slots, filled by
`vm.builtin.match_shape` / `match_prim_value` and by PrimFuncs that compute further slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sympy

from relax_lint import tvm_compat
from relax_lint.model.program import Origin, Provenance, Unknown
from relax_lint.model.types import DType, PrimType, ShapeType, TensorType, ValueType
from relax_lint.symbolic.domain import Fact, FactKind
from relax_lint.symbolic.translate import Translator, Untranslatable

if TYPE_CHECKING:
    from relax_lint.model.builder import FunctionBuilder

# MatchShapeCode and MakeShapeCode of TVM's runtime/vm/builtin.h.
_ASSERT_EQUAL_TO_IMM, _STORE_TO_HEAP, _NO_OP, _ASSERT_EQUAL_TO_LOAD = range(4)
_USE_IMM, _LOAD_SHAPE = range(2)


_SLOT = DType("int64", 64)


class ShapeHeap:
    """The contents of one function's shape heap, in program order."""

    def __init__(self, builder: FunctionBuilder) -> None:
        self._builder = builder
        self._slots: dict[int, sympy.Expr] = {}

    def type_of_heap(self, arguments: Sequence[Any]) -> TensorType:
        """`alloc_shape_heap(slots)`: the type of the heap."""
        slots = self._builder.type_of(arguments[0])
        extent = slots.value if isinstance(slots, PrimType) else None
        return TensorType(None if extent is None else (extent,), _SLOT, 1)

    def match_shape(self, source: ValueType, arguments: Sequence[Any], origin: Origin) -> list[Fact]:
        """`match_shape(x, heap, ndim, code, value, ..., context)`: the facts that it enforces."""
        ndim = _int(arguments[2])
        extents = _extents_of(source)
        facts: list[Fact] = []
        for axis in range(ndim):
            code, register = _int(arguments[3 + 2 * axis]), _int(arguments[4 + 2 * axis])
            known = extents[axis] if extents is not None and len(extents) == ndim else None
            provenance = Provenance.VALUE if isinstance(source, ShapeType) else Provenance.EXTENT
            facts += self._match(known, code, register, provenance, origin)
        return facts

    def matched(self, arguments: Sequence[Any]) -> tuple[sympy.Expr, ...] | None:
        """The extents that a value has which a `match_shape` let through; None where one is not known."""
        found = []
        for axis in range(_int(arguments[2])):
            code, register = _int(arguments[3 + 2 * axis]), _int(arguments[4 + 2 * axis])
            extent = sympy.Integer(register) if code == _ASSERT_EQUAL_TO_IMM else self._slots.get(register)
            if extent is None or code == _NO_OP:
                return None
            found.append(extent)
        return tuple(found)

    def match_prim_value(self, source: ValueType, arguments: Sequence[Any], origin: Origin) -> list[Fact]:
        """`match_prim_value(x, heap, code, value, context)`."""
        known = source.value if isinstance(source, PrimType) else None
        return self._match(known, _int(arguments[2]), _int(arguments[3]), Provenance.VALUE, origin)

    def make_shape(self, arguments: Sequence[Any]) -> tuple[sympy.Expr, ...] | Unknown:
        """`make_shape(heap, ndim, code, value, ...)`: the extents that it yields."""
        extents = []
        for axis in range(_int(arguments[1])):
            extent = self._load(_int(arguments[2 + 2 * axis]), _int(arguments[3 + 2 * axis]))
            if extent is None:
                return Unknown("a slot of the shape heap that nothing filled")
            extents.append(extent)
        return tuple(extents)

    def make_prim_value(self, arguments: Sequence[Any]) -> sympy.Expr | None:
        """`make_prim_value(heap, code, value)`."""
        return self._load(_int(arguments[1]), _int(arguments[2]))

    def compute(self, prim_func: Any) -> None:
        """A PrimFunc of one parameter, the heap, that stores to further slots."""
        translator = Translator(self._builder.symbols.symbol_of, load=self._load_slot)
        for index, value in tvm_compat.stores_to_parameter(prim_func):
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
            symbols = self._builder.symbols
            self._slots[register] = symbols.fresh(f"shape_{register}")
            return list(symbols.define(self._slots[register], provenance, origin, in_signature=False))
        expected = self._slots.get(register) if code == _ASSERT_EQUAL_TO_LOAD else sympy.Integer(register)
        if code == _NO_OP or known is None or expected is None or known == expected:
            return []
        return [Fact(sympy.Eq(known, expected), FactKind.ENFORCED, f"{known} == {expected} ({origin})")]

    def _load(self, code: int, value: int) -> sympy.Expr | None:
        return sympy.Integer(value) if code == _USE_IMM else self._slots.get(value)

    def _load_slot(self, load: Any) -> sympy.Expr:
        slot = self._slots.get(_int(load.indices[0]))
        if slot is None:
            raise Untranslatable("a slot of the shape heap that nothing filled")
        return slot


def _extents_of(type_: ValueType) -> tuple[sympy.Expr, ...] | None:
    if isinstance(type_, TensorType):
        return type_.shape
    return type_.extents if isinstance(type_, ShapeType) else None


def _int(node: Any) -> int:
    return int(getattr(node, "value", node))
