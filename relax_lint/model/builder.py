"""The one builder that walks raw Relax IR into the memory program."""

from __future__ import annotations

from typing import Any

import sympy

from relax_lint.model import calls, matching
from relax_lint.model.prim_funcs import Kernels
from relax_lint.model.program import (
    Alias,
    Block,
    Constant,
    Device,
    Function,
    GetItem,
    If,
    MakeTuple,
    MatchCast,
    Op,
    Origin,
    Place,
    Program,
    Provenance,
    Value,
    ValueId,
)
from relax_lint.model.read_types import TypeReader
from relax_lint.model.shape_heap import ShapeHeap
from relax_lint.model.symbols import SymbolTable, declared_bounds
from relax_lint.model.types import OpaqueType, PrimType, ShapeType, TensorType, TupleType, ValueType
from relax_lint.sources.unit import NoPositions, Positions
from relax_lint.symbolic.domain import Fact, FactKind
from relax_lint.symbolic.translate import Translator, Untranslatable
from relax_lint.vm import versions

DEFAULT_MAX_EXTENT = 2**40


def build_program(
    module: Any,
    *,
    positions: Positions | None = None,
    module_name: str | None = None,
    max_extent: int = DEFAULT_MAX_EXTENT,
) -> Program:
    """The memory program of every Relax function of an IRModule, inner functions included.

    `max_extent` (elements) bounds every extent of a real tensor, as a global assumption.
    """
    where = positions or NoPositions()
    functions: list[Function] = []
    for name, func in versions.relax_functions(module):
        builder = FunctionBuilder(module, module_name, where, SymbolTable(max_extent))
        functions.append(builder.build(name, func))
        functions.extend(builder.inner)
    return Program(
        module_name,
        tuple(functions),
        versions.device_count(module),
        module,
        tuple(Device(text, kind) for text, kind in versions.declared_devices(module)),
        Kernels(module),
    )


class FunctionBuilder:
    """Builds one function. An inner function shares the symbols and values of its outer one."""

    def __init__(
        self, module: Any, module_name: str | None, positions: Positions, symbols: SymbolTable
    ) -> None:
        self.module = module
        self.symbols = symbols
        self.translator = Translator(symbols.symbol_of)
        self.types = TypeReader(self.translator)
        self.heap = ShapeHeap(self)
        self.values: dict[ValueId, Value] = {}
        self.trusted: set[ValueId] = set()
        """Values whose type is true by construction, not merely claimed by the IR."""
        self.constants: dict[Any, ValueId] = {}
        self.inline_tuples: dict[ValueId, tuple[ValueId, ...]] = {}
        self.inner: list[Function] = []
        self._module_name = module_name
        self._positions = positions
        self._ids: dict[int, ValueId] = {}
        """By the identity of variables and constants."""
        self._next_index = 0
        self._name = ""
        self._entry_facts: tuple[Fact, ...] = ()

    def build(self, name: str, func: Any) -> Function:
        """The memory program of `func`."""
        self._name = name
        attributes = {} if func.attrs is None else dict(func.attrs.items())
        num_input = int(attributes["num_input"]) if "num_input" in attributes else None
        facts = [*self._entry_facts]
        parameters = []
        for index, param in enumerate(func.params):
            checked = num_input is None or index < num_input
            value = self.bind(param, trusted=checked)
            parameters.append(value)
            origin = Origin(f"parameter `{param.name}`", self._positions.parameter(name, index))
            facts += self._parameter_facts(param, self.values[value].type, origin, checked=checked)
        bounds = declared_bounds(attributes, self.symbols)
        facts += [bound.fact for bound in bounds if bound.fact is not None]
        self._entry_facts = tuple(facts)
        body, result = self.sequence(func.body)
        return Function(
            module=self._module_name,
            name=name,
            location=self._positions.function(name),
            attributes=self._positions.attributes(name),
            parameters=tuple(parameters),
            constants=tuple(self.constants.values()),
            values=self.values,
            symbols=self.symbols.infos(),
            bounds=bounds,
            facts=tuple(facts),
            body=body,
            result=result,
            num_input=num_input,
            private="global_symbol" not in attributes,
            inline_tuples=self.inline_tuples,
            claimed=frozenset(self.values.keys() - self.trusted),
            index_ranges=self._index_ranges(),
            node=func,
        )

    def _index_ranges(self) -> dict[ValueId, tuple[int, int]]:
        ranges = {value: versions.integer_range(node) for node, value in self.constants.items()}
        return {value: span for value, span in ranges.items() if span is not None}

    def sequence(self, body: Any) -> tuple[Block, ValueId]:
        """A SeqExpr (or a plain expression): its operations and its value."""
        if type(body).__name__ != "SeqExpr":
            return Block(()), self.operand(body)
        ops: list[Op] = []
        for block in body.blocks:
            for binding in block.bindings:
                ops.append(self._binding(binding))
        return Block(tuple(ops)), self.operand(body.body)

    def bind(self, var: Any, *, type_: ValueType | None = None, trusted: bool = True) -> ValueId:
        """A new value for a variable, of the type that the IR gives it."""
        value = self._new_value(str(var.name), type_ or self._type_of_var(var))
        self._ids[versions.identity(var)] = value
        if trusted:
            self.trusted.add(value)
        return value

    def operand(self, expr: Any) -> ValueId:
        """The value of an argument; an inline constant, shape or tuple becomes a value of its own."""
        known = self._ids.get(versions.identity(expr))
        if known is not None:
            return known
        if versions.kind(expr) == "Var":
            # After planning a variable may be used that nothing binds.
            return self.bind(expr, trusted=False)
        value = self._new_value("", self.type_of(expr))
        self.trusted.add(value)
        if versions.kind(expr) == "Constant":
            self.constants[expr] = value
            self._ids[versions.identity(expr)] = value
        if versions.kind(expr) == "Tuple":
            self.inline_tuples[value] = tuple(self.operand(item) for item in expr.fields)
        return value

    def learn_shape(self, value: ValueId, extents: tuple[sympy.Expr, ...] | None) -> None:
        """A check at run time tells the shape of a tensor."""
        known = self.values[value]
        if extents is not None and isinstance(known.type, TensorType):
            type_ = TensorType(extents, known.type.dtype, len(extents), known.type.device)
            self.values[value] = Value(value, known.name, type_)
            self.trusted.add(value)

    def type_of(self, expr: Any) -> ValueType:
        """The type of an expression, with the extents of shapes and the value of scalars."""
        kind = versions.kind(expr)
        if kind == "ShapeExpr":
            return ShapeType(self.types.extents(expr))
        if kind == "Tuple":
            return TupleType(tuple(self.values[self.operand(item)].type for item in expr.fields))
        if kind in ("GlobalVar", "ExternFunc", "StringImm", "DataTypeImm", "Op"):
            return OpaqueType(kind)
        ty = self.types.type(expr.ty)
        if isinstance(ty, PrimType):
            return PrimType(ty.dtype, self._prim_value(expr))
        return ty

    def _new_value(self, name: str, type_: ValueType) -> ValueId:
        value = len(self.values)
        self.values[value] = Value(value, name, type_)
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

    def _parameter_facts(self, param: Any, type_: ValueType, origin: Origin, *, checked: bool) -> list[Fact]:
        if isinstance(type_, PrimType):
            if type_.value is None:
                return []
            # TVM collects the symbols of a signature from types, and a scalar parameter is not in its own.
            facts = self.symbols.define(type_.value, Provenance.VALUE, origin, in_signature=False)
            return [*facts, *matching.integer_range(type_.value, type_.dtype, origin)]
        return matching.facts_of_value(self.symbols, type_, origin, in_signature=True, checked=checked)

    def _binding(self, binding: Any) -> Op:
        var = binding.var
        value = binding.value
        place = Place(str(var.name), self._next_index, self._positions.binding(var, value), value, var)
        self._next_index += 1
        if type(binding).__name__ == "MatchCast":
            return self._match_cast(binding, place)
        kind = versions.kind(value)
        if kind == "Call":
            return calls.build_call(self, place, var, value)
        if kind == "If":
            return self._if(place, var, value)
        if kind == "Var":
            source = self.operand(value)
            result = self.bind(var, type_=self.values[source].type, trusted=source in self.trusted)
            if isinstance(self.values[source].type, PrimType):
                self.translator.define(var, value)
            return Alias(place, result, source)
        if kind == "Tuple":
            items = tuple(self.operand(item) for item in value.fields)
            type_ = TupleType(tuple(self.values[item].type for item in items))
            trusted = all(item in self.trusted for item in items)
            return MakeTuple(place, self.bind(var, type_=type_, trusted=trusted), items)
        if kind == "TupleGetItem":
            source, index = self.operand(value.tuple_value), int(value.index)
            # After VMShapeLower the variable's own type has lost the extents.
            of = self.values[source].type
            known = of.fields[index] if isinstance(of, TupleType) and index < len(of.fields) else None
            result = self.bind(var, type_=known, trusted=source in self.trusted)
            return GetItem(place, result, source, index)
        if kind == "Function":
            self._inner_function(str(var.name), value)
            return Constant(place, self.bind(var, type_=OpaqueType("Function")), OpaqueType("Function"))
        return self._constant(place, var, value)

    def _constant(self, place: Place, var: Any, value: Any) -> Op:
        type_ = self.type_of(value)
        result = self.bind(var, type_=type_)
        if versions.kind(value) == "Constant":
            self.constants[value] = result
        if isinstance(type_, PrimType):
            self.translator.define(var, value)
        return Constant(place, result, type_)

    def _match_cast(self, binding: Any, place: Place) -> Op:
        source = self.operand(binding.value)
        if isinstance(self.values[source].type, PrimType):
            self.translator.define(binding.var, binding.value)
        target = self.types.type(binding.ty)
        known = self.values[source].type if source in self.trusted else None
        origin = Origin(f"match_cast to `{place.binding}`", place.location)
        facts = matching.match_cast_facts(self.symbols, known, target, origin)
        # What the cast does not mention (a dtype, a shape) the source still has.
        result = self.bind(binding.var, type_=matching.refine(target, self.values[source].type))
        return MatchCast(place, result, source, target, tuple(facts))

    def _if(self, place: Place, var: Any, value: Any) -> Op:
        condition = self.operand(value.cond)
        then_facts, else_facts = self._branch_facts(value.cond)
        then_block, then_result = self.sequence(value.true_branch)
        else_block, else_result = self.sequence(value.false_branch)
        branches = {self.values[then_result].type, self.values[else_result].type}
        # After VMShapeLower the variable's own type has lost the extents.
        common = branches.pop() if len(branches) == 1 else None
        trusted = {then_result, else_result} <= self.trusted
        result = self.bind(var, type_=common, trusted=trusted)
        return If(
            place, result, condition, then_block, else_block, then_result, else_result, then_facts, else_facts
        )

    def _branch_facts(self, condition: Any) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
        try:
            holds = self.translator.condition(condition)
        except Untranslatable:
            return (), ()
        return (
            (Fact(holds, FactKind.ENFORCED, "the branch condition"),),
            (Fact(sympy.Not(holds), FactKind.ENFORCED, "the negated branch condition"),),
        )

    def _inner_function(self, name: str, func: Any) -> None:
        inner = FunctionBuilder(self.module, self._module_name, self._positions, self.symbols)
        inner.translator, inner.types = self.translator, self.types
        inner.values = dict(self.values)
        inner.trusted = set(self.trusted)
        inner._ids = dict(self._ids)
        inner.inline_tuples = dict(self.inline_tuples)
        inner._entry_facts = self._entry_facts
        self.inner.append(inner.build(f"{self._name}.{name}", func))
        self.inner.extend(inner.inner)
