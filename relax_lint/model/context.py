"""The state of the builder: the values, symbols and constants of the function that is being built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy

from relax_lint.model.heap_contents import WRITTEN
from relax_lint.model.heap_state import Following, Heaps
from relax_lint.model.operations import OperationId, ValueId
from relax_lint.model.program import Function, Value
from relax_lint.model.read_types import TypeReader
from relax_lint.model.returned import Lookup
from relax_lint.model.shape_heap import HeapReader, HeapUse
from relax_lint.model.symbols import SymbolTable
from relax_lint.model.types import OpaqueType, PrimType, ShapeType, TensorType, TupleType, ValueType
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.translate import Translator, Untranslatable
from relax_lint.vm import versions
from relax_lint.vm.builtins import BUILTINS
from relax_lint.vm.constants import integer_range


def _unknown(name: str, *, heaps: bool = False) -> Function | None:
    return None


@record(frozen=True)
class Called:
    """What a call names: the node with its kind and its name, and the PrimFunc of the module that it is.
    `computes`: that one only returns what it computes. `kernel` is the PrimFunc that a packed call runs.
    """

    node: Any
    kind: str
    name: str
    is_relax: bool = False
    prim_func: Any | None = None
    computes: bool = False
    kernel: str | None = None


def _called(module: Any, callee: Any) -> Called:
    kind = versions.kind(callee)
    if kind == "Op":
        return Called(callee, kind, str(callee.name))
    if kind == "ExternFunc":
        symbol = str(callee.global_symbol)
        # A name with a dot is one of TVM's own: which of two functions that have it comes first was not seen.
        own = symbol.isidentifier() and symbol not in BUILTINS
        return Called(callee, kind, symbol, kernel=versions.exported_as(module, symbol) if own else None)
    if kind != "GlobalVar":
        return Called(callee, kind, str(getattr(callee, "name", "function")))
    # The module of a bare function has none of the functions that it calls.
    function = module[callee] if callee in module.functions else None
    if function is None or versions.is_relax(function):
        return Called(callee, kind, str(callee.name_hint), function is not None)
    computes = versions.returned_expression(function) is not None
    return Called(callee, kind, str(callee.name_hint), prim_func=function, computes=computes)


class BuildContext:
    """What is known of one function so far. An inner function shares the symbols of its outer one."""

    def __init__(
        self, module: Any, symbols: SymbolTable, callee: Lookup = _unknown, *, heaps: bool = False
    ) -> None:
        self.module = module
        self.symbols = symbols
        self.callee = callee
        """Another function of the module by name, where it can be told apart from the one being built."""
        self.translator = Translator(
            symbols.symbol_of,
            fits=symbols.fits,
            range_of=symbols.range_of,
            held_range_of=symbols.held_range_of,
            wide_variables=True,
        )
        self.types = TypeReader(self.translator)
        self.heap_reader = HeapReader(self.translator, symbols)
        self.heaps = Heaps(Following(heaps))
        self.touched: set[ValueId] = set()
        """The values that the operation uses that is being built."""
        self.used: set[ValueId] = set()
        """The values that any operation but a check of their type has used."""
        self.path: tuple[int, ...] = ()
        """The branches around the operation, as numbers."""
        self.paths: dict[ValueId, tuple[int, ...]] = {}
        self.values: dict[ValueId, Value] = {}
        self.trusted: set[ValueId] = set()
        """Values whose type is true by construction, not merely claimed by the IR."""
        self.retyped: set[ValueId] = set()
        """Values of which another type is known than the one that the IR gives them."""
        self.learned: set[ValueId] = set()
        """Values of which more may be known than TVM ever finds out itself: by what a function does, or by
        the type that a value had before it was cast.
        """
        self.constants: dict[Any, ValueId] = {}
        self.inline_tuples: dict[ValueId, tuple[ValueId, ...]] = {}
        self.tuples: dict[ValueId, tuple[ValueId, ...]] = {}
        """The fields of tuples that a binding makes."""
        self.fields: dict[ValueId, ValueId] = {}
        """By the name of a field, the tuple that it was taken from."""
        self.read_from: dict[Any, ValueId] = {}
        """By symbol of a type that is only declared, the tensor that a check reads it from."""
        self.function_values: dict[ValueId, str] = {}
        """The values that are functions of the program, by any name that they are bound to."""
        self._ids: dict[int, ValueId] = {}
        """By the identity of variables and constants."""
        self._named: tuple[Any, str] = None, ""
        """The variable whose name was asked for last, and the name: it is asked for twice."""
        self._called: dict[int, Called] = {}
        """By the identity of what calls name; a `Called` keeps it."""

    def inner(self) -> BuildContext:
        """The context of a function that is defined here: it knows the values that are known by now."""
        made = BuildContext(self.module, self.symbols, self.callee)
        made.translator, made.types = self.translator, self.types
        made.heap_reader, made.heaps = self.heap_reader, self.heaps.inner()
        made.values = dict(self.values)
        made.trusted, made.retyped = set(self.trusted), set(self.retyped)
        made.learned = set(self.learned)
        made._ids = dict(self._ids)
        made.function_values = dict(self.function_values)
        made.inline_tuples = dict(self.inline_tuples)
        made.tuples = dict(self.tuples)
        return made

    def bind(self, var: Any, *, type_: ValueType | None = None, trusted: bool = True) -> ValueId:
        """A new value for a variable, of the type that the IR gives it."""
        named = self._named
        name = named[1] if named[0] is var else self.name_of(var)
        value = self._ids[var.__chandle__()] = self._new_value(name, type_ or self._type_of_var(var))
        if trusted:
            self.trusted.add(value)
        if type_ is not None:
            self.retyped.add(value)
        return value

    def name_of(self, var: Any) -> str:
        """The name of a variable."""
        if self._named[0] is not var:
            self._named = var, str(var.name)
        return self._named[1]

    def called(self, callee: Any) -> Called:
        """What a call names, read once for all calls that name it."""
        address = callee.__chandle__()
        known = self._called.get(address)
        if known is None:
            known = self._called[address] = _called(self.module, callee)
        return known

    def callees(self) -> frozenset[str]:
        """The names of the operators and packed functions that were called."""
        return frozenset(one.name for one in self._called.values() if one.kind in ("Op", "ExternFunc"))

    def operand(self, expr: Any) -> ValueId:
        """The value of an argument; an inline constant, shape or tuple becomes a value of its own."""
        # As `versions.identity`: it is asked for every argument.
        known = self._ids.get(expr.__chandle__())
        if known is not None:
            self.touched.add(known)
            return known
        if versions.kind(expr) == "Var":
            # After planning an undefined variable may be used.
            return self.bind(expr, trusted=False)
        value = self._new_value("", self.type_of(expr))
        self.trusted.add(value)
        self.name_function(value, expr)
        if versions.kind(expr) == "Constant":
            self.constants[expr] = value
            self._ids[versions.identity(expr)] = value
        if versions.kind(expr) == "Tuple":
            fields = self.inline_tuples[value] = tuple(self.operand(item) for item in expr.fields[:])
            self.heaps.pack(value, fields)
        return value

    def operands(self, exprs: Sequence[Any]) -> tuple[ValueId, ...]:
        """The values of arguments. Most are variables that are known."""
        known = self._ids
        found = [known.get(expr.__chandle__()) for expr in exprs]
        if None in found:
            return tuple([self.operand(expr) for expr in exprs])
        self.touched.update(found)  # type: ignore[arg-type]
        return tuple(found)  # type: ignore[arg-type]

    def tuple_of(self, value: ValueId) -> ValueId:
        """The outermost tuple that a value was taken from; itself where it was not."""
        while value in self.fields:
            value = self.fields[value]
        return value

    def heap(self, expr: Any, place: OperationId) -> HeapUse:
        """The shape heap that an operation is given."""
        value = self.values[self.operand(expr)]
        if self.heaps.heap_of(value.id) is None and value.id in self.constants.values():
            self.heaps.result_of(value.id, value.type, WRITTEN)
        return HeapUse(self.heaps, self.heaps.root(value.id, value.type), value.name, place)

    def name_function(self, value: ValueId, expr: Any) -> None:
        """A value that is a global function of the module is that function."""
        if versions.kind(expr) == "GlobalVar" and versions.is_relax_function(self.module, expr):
            self.function_values[value] = str(expr.name_hint)

    def function_named(self, callee: Any) -> str | None:
        """The function of the program that an expression is; None where it is another or not known."""
        if versions.kind(callee) == "GlobalVar":
            known = versions.is_relax_function(self.module, callee)
            return str(callee.name_hint) if known else None
        return self.function_values.get(self.operand(callee)) if versions.kind(callee) == "Var" else None

    def is_only_checked(self, value: ValueId) -> bool:
        """Whether every use of a value comes after the operation that is being built, or checks its type."""
        return self.paths.get(value) == self.path and value not in self.used

    def learn_shape(self, value: ValueId, extents: tuple[sympy.Expr, ...]) -> None:
        """The shape of a tensor is known to be this one, wherever it is used."""
        known = self.values[value]
        if isinstance(known.type, TensorType):
            type_ = TensorType(extents, known.type.dtype, len(extents), known.type.device)
            self.values[value] = Value(value, known.name, type_)
            self.trusted.add(value)
            self.retyped.add(value)

    def type_of(self, expr: Any) -> ValueType:
        """The type of an expression, with the extents of shapes and the value of scalars."""
        kind = versions.kind(expr)
        if kind == "ShapeExpr":
            return ShapeType(self.types.extents(expr))
        if kind == "Tuple":
            return TupleType(tuple(self.values[self.operand(item)].type for item in expr.fields[:]))
        if kind in ("GlobalVar", "ExternFunc", "StringImm", "DataTypeImm", "Op"):
            return OpaqueType(kind)
        ty = self.types.type(expr.ty)
        if isinstance(ty, PrimType):
            return PrimType(ty.dtype, self._prim_value(expr))
        return ty

    def index_ranges(self) -> dict[ValueId, tuple[int, int]]:
        """The smallest and the largest element of the integer constants."""
        ranges = {value: integer_range(node) for node, value in self.constants.items()}
        return {value: span for value, span in ranges.items() if span is not None}

    def _new_value(self, name: str, type_: ValueType) -> ValueId:
        value = len(self.values)
        self.values[value] = Value(value, name, type_)
        self.paths[value] = self.path
        return value

    def _type_of_var(self, var: Any) -> ValueType:
        ty = self.types.type(var.ty)
        if isinstance(ty, PrimType) and ty.dtype != "bool":
            return PrimType(ty.dtype, self.symbols.symbol_of(var))
        return ty

    def _prim_value(self, expr: Any) -> sympy.Expr | None:
        try:
            return self.translator.expr(expr)
        except Untranslatable:
            return None
