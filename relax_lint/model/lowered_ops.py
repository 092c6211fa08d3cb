"""Builtins of lowered modules: the shape heap, and calls through the CUDA graph runtime."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import sympy

from relax_lint.model.arguments import Given, Handler
from relax_lint.model.context import BuildContext
from relax_lint.model.operations import Assert, Constant, FunctionCall, Op, OperationId, ValueId
from relax_lint.model.program import Origin, Provenance
from relax_lint.model.shape_heap import Matched, Source
from relax_lint.model.types import PrimType, ShapeType, TensorType
from relax_lint.symbolic.domain import Fact, compared_text
from relax_lint.symbolic.quantity import Unknown
from relax_lint.vm import versions
from relax_lint.vm.builtins import Operation
from relax_lint.vm.facts import FactSource

# -- the shape heap of lowered modules --------------------------------------------------------


def _match_shape(context: BuildContext, place: OperationId, var: Any, given: Given) -> Op:
    source = context.operand(given.own[0])
    value = context.values[source]
    origin = Origin(f"the shape of `{value.name}`", place.location)
    extents, named = _true_extents(context, source, origin)
    provenance = Provenance.VALUE if isinstance(value.type, ShapeType) else Provenance.EXTENT
    heap = context.heap(given.own[1], place)
    matched = context.heap_reader.match_shape(heap, given.own, Source(extents, provenance, origin))
    if extents is None and matched.extents is not None and context.is_only_checked(source):
        # From here on the shape is known: the slots were compared with it, or filled from it.
        context.learn_shape(source, matched.extents)
    return _check(context, place, var, source, replace(matched, learned=(*named, *matched.learned)))


def _true_extents(
    context: BuildContext, source: ValueId, origin: Origin
) -> tuple[tuple[sympy.Expr | None, ...] | None, tuple[Fact, ...]]:
    """The extents of what is checked, where they are true and not only declared, and what is known of those
    that get a name here: those of a tensor that other branches, or operations before, use as well.
    """
    type_ = context.values[source].type
    if isinstance(type_, ShapeType):
        return type_.extents, ()
    if not isinstance(type_, TensorType):
        return None, ()
    if type_.shape is not None:
        if source in context.trusted:
            return type_.shape, ()
        return _own_symbols(context, source, type_.shape), ()
    if source not in context.trusted or type_.ndim < 0 or context.is_only_checked(source):
        return None, ()
    name = context.values[source].name
    symbols = tuple(context.symbols.fresh(f"{name}_{axis}") for axis in range(type_.ndim))
    context.learn_shape(source, symbols)
    return symbols, tuple(
        fact
        for symbol in symbols
        for fact in context.symbols.define(symbol, Provenance.EXTENT, origin, in_signature=False)
    )


def _own_symbols(
    context: BuildContext, source: ValueId, shape: tuple[sympy.Expr, ...]
) -> tuple[sympy.Expr | None, ...] | None:
    """Of a shape that is only declared, the extents that are symbols which this tensor defines: it, or the
    tuple that it is a field of, is the parameter that they come from, and it is the first one that is read.
    """
    parameter = f"parameter `{context.values[context.tuple_of(source)].name}`"
    own = [
        extent
        if isinstance(extent, sympy.Symbol)
        and context.symbols.origin_of(extent) == parameter
        and context.read_from.setdefault(extent, source) == source
        else None
        for extent in shape
    ]
    return tuple(extent if extent not in own[:axis] else None for axis, extent in enumerate(own))


def _match_value(context: BuildContext, place: OperationId, var: Any, given: Given) -> Op:
    source = context.operand(given.own[0])
    name, type_ = context.values[source].name, context.values[source].type
    origin = Origin(f"the value of `{name}`", place.location)
    value = type_.value if isinstance(type_, PrimType) else None
    compared = Source(None if value is None else (value,), Provenance.VALUE, origin)
    heap = context.heap(given.own[1], place)
    return _check(
        context, place, var, source, context.heap_reader.match_prim_value(heap, given.own, compared)
    )


def _check(context: BuildContext, place: OperationId, var: Any, source: ValueId, matched: Matched) -> Op:
    enforced = [fact for fact in matched.compared if fact.kind is FactSource.HEAP_SLOT.kind]
    others = tuple(fact for fact in matched.compared if fact not in enforced)
    fact = None
    if enforced:
        condition = sympy.And(*(fact.condition for fact in enforced))
        told = ", ".join(fact.text for fact in enforced)
        fact = Fact.of(FactSource.HEAP_SLOT, condition, told, compared_text(enforced))
    learned = (*others, *matched.learned)
    return Assert(place, context.bind(var), fact, (), written=False, learned=learned, of=source)


def _make_shape(context: BuildContext, place: OperationId, var: Any, given: Given) -> Op:
    extents = context.heap_reader.make_shape(context.heap(given.own[0], place), given.own)
    type_ = ShapeType(None if isinstance(extents, Unknown) else extents)
    return Constant(place, context.bind(var, type_=type_), type_)


def _make_value(context: BuildContext, place: OperationId, var: Any, given: Given) -> Op:
    value = context.heap_reader.make_prim_value(context.heap(given.own[0], place), given.own)
    if value is not None:
        context.translator.know(var, value)
        type_ = PrimType("int64", value)
        return Constant(place, context.bind(var, type_=type_), type_)
    result = context.bind(var)
    own = context.values[result].type
    if isinstance(own, PrimType) and isinstance(own.value, sympy.Symbol):
        origin = Origin(f"`{place.binding}`, from the shape heap", place.location)
        context.symbols.define(own.value, Provenance.VALUE, origin, in_signature=False)
    return Constant(place, result, own)


def _shape_of(context: BuildContext, place: OperationId, var: Any, given: Given) -> Op:
    source = context.operand(given.own[0])
    of = context.values[source].type
    type_ = ShapeType(of.shape if isinstance(of, TensorType) else None)
    result = context.bind(var, type_=type_, trusted=source in context.trusted)
    return Constant(place, result, type_, of=source)


# -- calls through the CUDA graph runtime -----------------------------------------------------


def _through_cuda_graph(context: BuildContext, place: OperationId, var: Any, given: Given) -> Op:
    function, passed = given.own[:2]
    arguments = _passed(context, passed)
    result = context.bind(var, trusted=False)
    callee = str(getattr(function, "name_hint", "function"))
    # Of a tuple that came from elsewhere it is not known which parameter gets what.
    target = None if arguments is None else context.function_named(function)
    arguments = (context.operand(passed),) if arguments is None else arguments
    return FunctionCall(place, result, callee, arguments, context.values[result].type, target)


def _passed(context: BuildContext, passed: Any) -> tuple[ValueId, ...] | None:
    """What a captured function is given: the fields of a tuple, or nothing where an index follows at once."""
    if versions.kind(passed) == "Tuple":
        return tuple(context.operand(item) for item in passed.fields)
    if versions.kind(passed) == "Var":
        return context.tuples.get(context.operand(passed))
    return ()


HANDLERS: Mapping[Operation, Handler] = {
    Operation.MATCH_SHAPE: _match_shape,
    Operation.MATCH_VALUE: _match_value,
    Operation.MAKE_SHAPE: _make_shape,
    Operation.MAKE_VALUE: _make_value,
    Operation.SHAPE_OF: _shape_of,
    Operation.CUDA_GRAPH: _through_cuda_graph,
}
