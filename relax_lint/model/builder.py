"""The walk over raw Relax IR that makes the memory program: the only one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, count
from typing import Any

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model import calls, casts, heap_uses, matching
from relax_lint.model.context import BuildContext
from relax_lint.model.derived import says_more
from relax_lint.model.either import Branch, type_of_either
from relax_lint.model.operations import (
    Alias,
    Block,
    Constant,
    GetItem,
    If,
    MakeTuple,
    MatchCast,
    Op,
    OperationId,
    ValueId,
)
from relax_lint.model.positions import NoPositions, Positions
from relax_lint.model.prim_funcs import Kernels
from relax_lint.model.program import Device, Function, Origin, Program, Provenance
from relax_lint.model.read_conditions import read_condition
from relax_lint.model.returned import Callees, Lookup
from relax_lint.model.symbols import SymbolTable, declared_bounds
from relax_lint.model.types import OpaqueType, PrimType, TupleType, ValueType
from relax_lint.symbolic.domain import Fact
from relax_lint.symbolic.printing import condition_text
from relax_lint.symbolic.translate import Untranslatable
from relax_lint.vm import versions
from relax_lint.vm.facts import FactSource
from relax_lint.vm.nodes import says_no_alias
from relax_lint.vm.scopes import POINTER_MOVER

DEFAULT_MAX_EXTENT = 2**40


def build_program(
    module: Any,
    *,
    positions: Positions | None = None,
    module_name: str | None = None,
    max_extent: int = DEFAULT_MAX_EXTENT,
    kernels: Kernels | None = None,
    called_unseen: frozenset[str] = frozenset(),
) -> Program:
    """The memory program of every Relax function of an IRModule, inner functions included.

    `max_extent` (elements) bounds every extent of a real tensor, as a global assumption. `kernels` are its
    PrimFuncs, where they were read before; `called_unseen` are functions that may be called from where nobody
    has read.
    """
    where = positions or NoPositions()
    nodes = dict(versions.relax_functions(module))

    def build(name: str, callee: Lookup, heaps: bool) -> tuple[Function, ...]:
        context = BuildContext(module, SymbolTable(max_extent), callee, heaps=heaps)
        builder = FunctionBuilder(context, module_name, where)
        function = builder.build(name, nodes[name])
        if context.heaps.following.asked and not heaps:
            # It uses a heap that it did not allocate, which is seldom: only then are such values followed.
            return build(name, callee, True)
        return (function, *builder.inner)

    callees = Callees(nodes, build)
    for name in nodes:
        callees.all_of(name)
    devices = tuple(Device(*row) for row in versions.declared_devices(module))
    return Program(
        module_name,
        tuple(function for name in nodes for function in callees.all_of(name)),
        versions.device_count(module),
        module,
        devices,
        Kernels(module, where) if kernels is None else kernels,
        any(device.target == POINTER_MOVER for device in devices),
        any(says_no_alias(prim_func) for _, prim_func in versions.prim_functions(module)),
        called_unseen,
    )


class FunctionBuilder:
    """The walk over one function. An inner function knows what its outer one knows by then."""

    def __init__(self, context: BuildContext, module_name: str | None, positions: Positions) -> None:
        self.inner: list[Function] = []
        self._context = context
        self._module_name = module_name
        self._positions = positions
        self._next_index = 0
        self._name = ""
        self._entry_facts: tuple[Fact, ...] = ()
        self._handed: set[ValueId] = set()
        """The parameters, those of outer functions too, with their fields, by any name."""
        self._unnamed: list[Any] = []
        """The variables of values that have none, kept so that their identities stay their own."""
        self._dataflow = False

    def build(self, name: str, func: Any) -> Function:
        """The memory program of `func`."""
        self._name = name
        attributes = {} if func.attrs is None else dict(func.attrs.items())
        num_input = int(attributes["num_input"]) if "num_input" in attributes else None
        params = func.params[:]
        checked = [num_input is None or index < num_input for index in range(len(params))]
        parameters = [
            self._context.bind(param, trusted=trusted) for param, trusted in zip(params, checked, strict=True)
        ]
        self._handed.update(parameters)
        self._context.heaps.function = name
        for parameter in parameters:
            self._context.heaps.receive(parameter, self._context.values[parameter].type)
        # A parameter may use a symbol that a later one defines: that gives facts in the second round only.
        self._parameters_facts(name, parameters, checked)
        facts = [*self._entry_facts, *self._parameters_facts(name, parameters, checked)]
        bounds = declared_bounds(attributes, self._context.symbols)
        facts += [bound.fact for bound in bounds if bound.fact is not None]
        self._entry_facts = tuple(facts)
        body, result = self.sequence(func.body)
        return Function(
            module=self._module_name,
            name=name,
            location=self._positions.function(name),
            attributes=self._positions.attributes(name),
            parameters=tuple(parameters),
            constants=tuple(self._context.constants.values()),
            values=self._context.values,
            symbols=self._context.symbols.infos(),
            bounds=bounds,
            facts=tuple(facts),
            body=body,
            result=result,
            num_input=num_input,
            private="global_symbol" not in attributes,
            inline_tuples=self._context.inline_tuples,
            claimed=frozenset(self._context.values.keys() - self._context.trusted),
            index_ranges=self._context.index_ranges(),
            function_values=self._context.function_values,
            slot_accesses=self._context.heaps.found(),
            heaps=self._context.heaps,
            callees=self._context.callees(),
            node=func,
            constant_nodes={value: node for node, value in self._context.constants.items()},
        )

    def sequence(self, body: Any) -> tuple[Block, ValueId]:
        """A SeqExpr (or a plain expression): its operations and its value."""
        if type(body).__name__ != "SeqExpr":
            return Block(()), self._context.operand(body)
        ops: list[Op] = []
        for block in body.blocks:
            self._dataflow = versions.kind(block) == "DataflowBlock"
            for binding in versions.items(block.bindings):
                if type(binding).__name__ == "MatchCast":
                    ops += self._settled(binding)
                else:
                    var = binding.var
                    ops.append(self._bound(var, binding.value, var))
            self._dataflow = False
        return Block(tuple(ops)), self._context.operand(body.body)

    def _parameters_facts(self, name: str, values: Sequence[ValueId], checked: Sequence[bool]) -> list[Fact]:
        facts = []
        for index, value in enumerate(values):
            known = self._context.values[value]
            if matching.has_symbols(known.type):
                origin = Origin(f"parameter `{known.name}`", self._positions.parameter(name, index))
                facts += self._parameter_facts(known.type, origin, checked=checked[index])
        return facts

    def _parameter_facts(self, type_: ValueType, origin: Origin, *, checked: bool) -> list[Fact]:
        if isinstance(type_, PrimType):
            if type_.value is None:
                return []
            # TVM collects the symbols of a signature from types, and a scalar parameter is not in its own.
            facts = self._context.symbols.define(type_.value, Provenance.VALUE, origin, in_signature=False)
            return [*facts, *matching.integer_range(type_.value, type_.dtype, origin)]
        return matching.facts_of_value(
            self._context.symbols, type_, origin, in_signature=True, checked=checked
        )

    def _settled(self, binding: Any) -> list[Op]:
        """The operations of a cast: one of what is computed is two."""
        # Every look at what TVM holds is a call.
        var, value = binding.var, binding.value
        computed = None
        if versions.kind(value) in _COMPUTED:
            unnamed = versions.variable_for(value, str(var.name))
            self._unnamed.append(unnamed)
            computed = self._bound(var, value, unnamed)
        self._context.touched = set()
        place = self._place(var, value)
        cast = self._match_cast(binding, place, None if computed is None else computed.result)
        heap_uses.settle(self._context, cast)
        return [cast] if computed is None else [computed, cast]

    def _bound(self, written: Any, value: Any, var: Any) -> Op:
        """The operation that computes a value for `var` where `written` is bound, with its effect on the
        shape heaps.
        """
        context, place = self._context, self._place(written, value)
        context.touched = set()
        # Most are of a class that has one name in all versions.
        kind = type(value).__name__
        if kind == "Call":
            op = calls.build_call(context, place, var, value)
        else:
            handler = _BINDINGS.get(kind) or _BINDINGS.get(versions.kind(value), FunctionBuilder._constant)
            op = handler(self, place, var, value)
        heap_uses.settle(context, op)
        return op

    def _place(self, var: Any, value: Any) -> OperationId:
        location = self._positions.binding(var, value)
        place = OperationId(
            self._context.name_of(var), self._next_index, location, value, var, self._dataflow
        )
        self._next_index += 1
        return place

    def _alias(self, place: OperationId, var: Any, value: Any) -> Op:
        context = self._context
        source = context.operand(value)
        type_ = context.values[source].type
        result = context.bind(var, type_=type_, trusted=source in context.trusted)
        if isinstance(type_, PrimType):
            context.translator.define(var, value)
        if source in context.function_values:
            context.function_values[result] = context.function_values[source]
        self._hand_on(source, result)
        if source in context.tuples:
            context.tuples[result] = context.tuples[source]
        return Alias(place, result, source)

    def _tuple(self, place: OperationId, var: Any, value: Any) -> Op:
        context = self._context
        items = tuple(context.operand(item) for item in value.fields[:])
        type_ = TupleType(tuple(context.values[item].type for item in items))
        trusted = all(item in context.trusted for item in items)
        result = context.bind(var, type_=type_, trusted=trusted)
        context.tuples[result] = items
        self._learn(result, *items)
        return MakeTuple(place, result, items)

    def _item(self, place: OperationId, var: Any, value: Any) -> Op:
        context = self._context
        source, index = context.operand(value.tuple_value), int(value.index)
        # After VMShapeLower the variable's own type has lost the extents.
        of = context.values[source].type
        known = of.fields[index] if isinstance(of, TupleType) and index < len(of.fields) else None
        result = context.bind(var, type_=known, trusted=source in context.trusted)
        context.fields[result] = source
        self._hand_on(source, result)
        return GetItem(place, result, source, index)

    def _function(self, place: OperationId, var: Any, value: Any) -> Op:
        name = self._inner_name(str(var.name))
        type_ = OpaqueType("Function")
        inner = FunctionBuilder(self._context.inner(), self._module_name, self._positions)
        inner._entry_facts, inner._handed = self._entry_facts, set(self._handed)
        # It may call itself: to that call it has the name that it is about to get here.
        inner._context.function_values[inner._context.bind(var, type_=type_)] = name
        self.inner.append(inner.build(name, value))
        self.inner.extend(inner.inner)
        # What it captures it may write whenever it is called.
        self._context.heaps.escape(inner._context.used)
        result = self._context.bind(var, type_=type_)
        self._context.function_values[result] = name
        return Constant(place, result, type_)

    def _inner_name(self, binding: str) -> str:
        """A name for an inner function that no other one has: bindings of one name may be several."""
        taken = {function.name for function in self.inner}
        name = f"{self._name}.{binding}"
        others = (f"{name}~{number}" for number in count(2))
        return next(free for free in chain((name,), others) if free not in taken)

    def _constant(self, place: OperationId, var: Any, value: Any) -> Op:
        context = self._context
        type_ = context.type_of(value)
        result = context.bind(var, type_=type_)
        context.name_function(result, value)
        if versions.kind(value) == "Constant":
            context.constants[value] = result
        if isinstance(type_, PrimType):
            context.translator.define(var, value)
        return Constant(place, result, type_)

    def _match_cast(self, binding: Any, place: OperationId, computed_value: ValueId | None) -> Op:
        context = self._context
        source = context.operand(binding.value) if computed_value is None else computed_value
        type_ = context.values[source].type
        if isinstance(type_, PrimType):
            context.translator.define(binding.var, binding.value)
        target = context.types.type(binding.ty)
        trivial = casts.is_trivial(context, source, binding)
        origin = Origin(f"match_cast to `{place.binding}`", place.location, source not in self._handed)
        known = type_ if source in context.trusted else None
        cast = casts.cast(context, binding, known, target, origin)
        # What the cast does not mention (a dtype, a shape) the source still has.
        type_ = matching.refine(target, type_) if cast.checked or known is None else type_
        result = context.bind(binding.var, type_=type_, trusted=cast.checked or known is not None)
        self._hand_on(source, result)
        if type_ != target:
            context.learned.add(result)
        is_computed = computed_value is not None
        return MatchCast(
            place, result, source, target, cast.facts, cast.checked, is_computed, cast.asked, trivial
        )

    def _hand_on(self, source: ValueId, result: ValueId) -> None:
        """A value that is another one, or a part of it, is handed over where that is."""
        if source in self._handed:
            self._handed.add(result)
        self._learn(result, source)

    def _learn(self, result: ValueId, *sources: ValueId) -> None:
        """Of what consists of others as much is known as of these."""
        if not self._context.learned.isdisjoint(sources):
            self._context.learned.add(result)

    def _if(self, place: OperationId, var: Any, value: Any) -> Op:
        context = self._context
        condition = context.operand(value.cond)
        then_facts, else_facts = self._branch_facts(value.cond)
        before = dict(context.heaps.state)
        then_block, then_result = self._branch(value.true_branch, 2 * place.index)
        after_then, context.heaps.state = context.heaps.state, before
        else_block, else_result = self._branch(value.false_branch, 2 * place.index + 1)
        after_else = context.heaps.state
        context.heaps.join(after_then, after_else)
        known = [context.values[each].type for each in (then_result, else_result)]
        # After VMShapeLower the variable's own type has lost the extents.
        type_: ValueType | None = known[0]
        trusted = {then_result, else_result} <= context.trusted
        if known[0] != known[1]:
            type_ = self._either(var, (value.true_branch, value.false_branch), known)
            more = type_ is not None and any(says_more(type_, branch) for branch in known)
            trusted = trusted and not more
        result = context.bind(var, type_=type_, trusted=trusted)
        self._learn(result, then_result, else_result)
        context.heaps.meet_at(result, (then_result, else_result), (after_then, after_else))
        return If(
            place, result, condition, then_block, else_block, then_result, else_result, then_facts, else_facts
        )

    def _either(self, var: Any, branches: Sequence[Any], known: Sequence[ValueType]) -> ValueType | None:
        """The type of what an `If` gives whose branches give different ones; None: what its variable says."""
        results = [branch.body if type(branch).__name__ == "SeqExpr" else branch for branch in branches]
        declared, *each = (self._context.types.type(versions.type_of(given)) for given in (var, *results))
        return (
            None
            if isinstance(declared, PrimType)
            else type_of_either(declared, list(map(Branch, known, each)))
        )

    def _branch(self, body: Any, number: int) -> tuple[Block, ValueId]:
        context = self._context
        context.path = (*context.path, number)
        sequence = self.sequence(body)
        context.path = context.path[:-1]
        return sequence

    def _branch_facts(self, condition: Any) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
        try:
            holds = read_condition(self._context.translator, condition)
        except Untranslatable:
            return (), ()
        return self._branch_fact(holds, "the branch condition"), self._branch_fact(
            sympy.Not(holds), "the negated branch condition"
        )

    def _branch_fact(self, condition: Boolean, why: str) -> tuple[Fact, ...]:
        fact = self._context.symbols.fact(
            FactSource.BRANCH, condition, condition_text(condition), why, simplified=True
        )
        return (fact,)


_BINDINGS: Mapping[str, Callable[[FunctionBuilder, OperationId, Any, Any], Op]] = {
    "If": FunctionBuilder._if,
    "Var": FunctionBuilder._alias,
    "Tuple": FunctionBuilder._tuple,
    "TupleGetItem": FunctionBuilder._item,
    "Function": FunctionBuilder._function,
}
"""By the kind of what is bound, where it is no call."""
_COMPUTED = frozenset({"Call", "If", "TupleGetItem", "Function"})
"""What a cast may have as its value without a name."""
