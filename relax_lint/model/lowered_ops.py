"""Builtins of lowered modules: the shape heap, and calls through the CUDA graph runtime."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy

from relax_lint.model.arguments import Given, Handler
from relax_lint.model.context import BuildContext
from relax_lint.model.operations import Assert, Constant, FunctionCall, Op, OperationId, ValueId
from relax_lint.model.program import Origin
from relax_lint.model.types import PrimType, ShapeType, TensorType
from relax_lint.symbolic.domain import Fact, FactKind
from relax_lint.symbolic.quantity import Unknown
from relax_lint.vm import versions
from relax_lint.vm.builtins import Operation

# -- the shape heap of lowered modules --------------------------------------------------------


def _match_shape(context: BuildContext, place: OperationId, var: Any, given: Given) -> Op:
    source = context.operand(given.own[0])
    origin = Origin(f"the shape of `{context.values[source].name}`", place.location)
    type_ = context.values[source].type
    facts = context.heap.match_shape(type_, given.own, origin)
    if isinstance(type_, TensorType) and type_.shape is None:
        # From here on the shape is known: the slots were compared with it, or filled from it.
        context.learn_shape(source, context.heap.matched(given.own))
    return _check(context, place, var, facts)


def _match_value(context: BuildContext, place: OperationId, var: Any, given: Given) -> Op:
    source = context.operand(given.own[0])
    origin = Origin(f"the value of `{context.values[source].name}`", place.location)
    facts = context.heap.match_prim_value(context.values[source].type, given.own, origin)
    return _check(context, place, var, facts)


def _check(context: BuildContext, place: OperationId, var: Any, facts: list[Fact]) -> Op:
    if not facts:
        return Assert(place, context.bind(var), None, (), written=False)
    condition = sympy.And(*(fact.condition for fact in facts))
    text = ", ".join(fact.text for fact in facts)
    return Assert(place, context.bind(var), Fact(condition, FactKind.ENFORCED, text), (), written=False)


def _make_shape(context: BuildContext, place: OperationId, var: Any, given: Given) -> Op:
    extents = context.heap.make_shape(given.own)
    type_ = ShapeType(None if isinstance(extents, Unknown) else extents)
    return Constant(place, context.bind(var, type_=type_), type_)


def _make_value(context: BuildContext, place: OperationId, var: Any, given: Given) -> Op:
    value = context.heap.make_prim_value(given.own)
    if value is not None:
        context.translator.know(var, value)
    type_ = PrimType("int64", value)
    return Constant(place, context.bind(var, type_=type_), type_)


def _shape_of(context: BuildContext, place: OperationId, var: Any, given: Given) -> Op:
    source = context.operand(given.own[0])
    of = context.values[source].type
    type_ = ShapeType(of.shape if isinstance(of, TensorType) else None)
    return Constant(place, context.bind(var, type_=type_, trusted=source in context.trusted), type_)


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
