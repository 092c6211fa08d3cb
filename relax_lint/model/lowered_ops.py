"""Builtins of lowered modules: the shape heap, and calls through the CUDA graph runtime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sympy

from relax_lint.model.arguments import (
    Handler,
)
from relax_lint.model.program import (
    Assert,
    Constant,
    FunctionCall,
    Op,
    Origin,
    Place,
    Unknown,
)
from relax_lint.model.types import PrimType, ShapeType, TensorType
from relax_lint.symbolic.domain import Fact, FactKind
from relax_lint.vm import versions

if TYPE_CHECKING:
    from relax_lint.model.builder import FunctionBuilder

# -- the shape heap of lowered modules --------------------------------------------------------


def _match_shape(builder: FunctionBuilder, place: Place, var: Any, args: Sequence[Any]) -> Op:
    source = builder.operand(args[0])
    origin = Origin(f"the shape of `{builder.values[source].name}`", place.location)
    type_ = builder.values[source].type
    facts = builder.heap.match_shape(type_, args, origin)
    if isinstance(type_, TensorType) and type_.shape is None:
        # From here on the shape is known: the slots were compared with it, or filled from it.
        builder.learn_shape(source, builder.heap.matched(args))
    return _check(builder, place, var, facts)


def _match_prim_value(builder: FunctionBuilder, place: Place, var: Any, args: Sequence[Any]) -> Op:
    source = builder.operand(args[0])
    origin = Origin(f"the value of `{builder.values[source].name}`", place.location)
    facts = builder.heap.match_prim_value(builder.values[source].type, args, origin)
    return _check(builder, place, var, facts)


def _check(builder: FunctionBuilder, place: Place, var: Any, facts: list[Fact]) -> Op:
    if not facts:
        return Assert(place, builder.bind(var), None, (), written=False)
    condition = sympy.And(*(fact.condition for fact in facts))
    text = ", ".join(fact.text for fact in facts)
    return Assert(place, builder.bind(var), Fact(condition, FactKind.ENFORCED, text), (), written=False)


def _make_shape(builder: FunctionBuilder, place: Place, var: Any, args: Sequence[Any]) -> Op:
    extents = builder.heap.make_shape(args)
    type_ = ShapeType(None if isinstance(extents, Unknown) else extents)
    return Constant(place, builder.bind(var, type_=type_), type_)


def _make_prim_value(builder: FunctionBuilder, place: Place, var: Any, args: Sequence[Any]) -> Op:
    value = builder.heap.make_prim_value(args)
    if value is not None:
        builder.translator.know(var, value)
    type_ = PrimType("int64", value)
    return Constant(place, builder.bind(var, type_=type_), type_)


def _shape_of(builder: FunctionBuilder, place: Place, var: Any, args: Sequence[Any]) -> Op:
    source = builder.operand(args[0])
    of = builder.values[source].type
    type_ = ShapeType(of.shape if isinstance(of, TensorType) else None)
    return Constant(place, builder.bind(var, type_=type_, trusted=source in builder.trusted), type_)


# -- calls through the CUDA graph runtime -----------------------------------------------------


def _through_cuda_graph(builder: FunctionBuilder, place: Place, var: Any, args: Sequence[Any]) -> Op:
    """`get_cached_alloc(function, index)` and `run_or_capture(function, (arguments), index, ...)`
    call, or have called, the function.
    """
    passed = args[1].fields if versions.kind(args[1]) == "Tuple" else ()
    arguments = tuple(builder.operand(argument) for argument in passed)
    result = builder.bind(var, trusted=False)
    callee = str(getattr(args[0], "name_hint", "function"))
    return FunctionCall(place, result, callee, arguments, builder.values[result].type)


OPERATORS: dict[str, Handler] = {"relax.shape_of": _shape_of}

BUILTINS: dict[str, Handler] = {
    "vm.builtin.match_shape": _match_shape,
    "vm.builtin.match_prim_value": _match_prim_value,
    "vm.builtin.make_shape": _make_shape,
    "vm.builtin.make_prim_value": _make_prim_value,
    "vm.builtin.shape_of": _shape_of,
    "vm.builtin.cuda_graph.get_cached_alloc": _through_cuda_graph,
    "vm.builtin.cuda_graph.run_or_capture": _through_cuda_graph,
}
