"""What the VM's builtins and TVM's operators on memory take. A call that gives one anything else ends in an
error of the VM, whatever memory it seems to be about: it is the call of an unknown function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from relax_lint.model.arguments import type_of_argument
from relax_lint.model.types import OpaqueType, PrimType, ShapeType, TensorType, TupleType, ValueType

if TYPE_CHECKING:
    from relax_lint.model.builder import FunctionBuilder

_Kind: TypeAlias = Callable[[ValueType], bool]


def _any(type_: ValueType) -> bool:
    return True


def _tensor(type_: ValueType) -> bool:
    return isinstance(type_, TensorType) or type_ == OpaqueType()


def _shape(type_: ValueType) -> bool:
    return isinstance(type_, ShapeType) or type_ == OpaqueType()


def _integer(type_: ValueType) -> bool:
    return (isinstance(type_, PrimType) and "int" in type_.dtype) or type_ == OpaqueType()


def _dtype(type_: ValueType) -> bool:
    return type_ in (OpaqueType("DataTypeImm"), OpaqueType())


def _text(type_: ValueType) -> bool:
    return type_ in (OpaqueType("StringImm"), OpaqueType())


def _optional(kind: _Kind) -> _Kind:
    """TVM writes an empty tuple for what is left out."""
    return lambda type_: type_ == TupleType(()) or kind(type_)


_SIGNATURES: dict[str, tuple[_Kind, ...]] = {
    "vm.builtin.alloc_storage": (_shape, _integer, _dtype, _text),
    "vm.builtin.alloc_tensor": (_any, _integer, _shape, _dtype),
    "vm.builtin.reshape": (_tensor, _shape),
    "vm.builtin.copy": (_any,),
    "vm.builtin.ensure_zero_offset": (_tensor,),
    "vm.builtin.shape_of": (_tensor,),
    "vm.builtin.alloc_shape_heap": (_integer,),
    "vm.builtin.match_shape": (_any, _any, _integer),
    "vm.builtin.match_prim_value": (_any, _any, _integer, _integer),
    "vm.builtin.make_shape": (_any, _integer),
    "vm.builtin.make_prim_value": (_any, _integer, _integer),
    "vm.builtin.cuda_graph.get_cached_alloc": (_any, _any),
    "vm.builtin.cuda_graph.run_or_capture": (_any, _any),
    # TVM itself builds no call of an operator with arguments of other kinds; what was saved may lack some.
    "relax.memory.alloc_storage": (_any,) * 4,
    "relax.memory.alloc_tensor": (_any,) * 4,
    "relax.memory.kill_storage": (_any,),
    "relax.memory.kill_tensor": (_any,),
    "relax.memory.view": (_any,) * 4,
    "relax.memory.ensure_zero_offset": (_any,),
    "relax.vm.alloc_storage": (_any,) * 4,
    "relax.vm.alloc_tensor": (_any,) * 4,
    "relax.vm.kill_object": (_any,),
    "relax.builtin.alloc_tensor": (_any,) * 4,
    "relax.reshape": (_any,) * 2,
    "relax.shape_of": (_any,),
    "relax.assert_op": (_any,),
    "runtime.TVMTensorCreateView": (_tensor, _optional(_shape), _optional(_dtype), _optional(_integer)),
}
"""The kinds of the first arguments."""

_AFTER_CONTEXT = frozenset({"vm.builtin.alloc_storage", "vm.builtin.alloc_shape_heap"})
"""Builtins that, once LowerRuntimeBuiltin has been there, have the VM as an argument before these."""


def takes(builder: FunctionBuilder, name: str, arguments: Sequence[Any]) -> bool:
    """Whether a builtin or an operator can be called with these arguments; what is not known counts as
    fitting, and so does everything for a name that is not known.
    """
    kinds = _SIGNATURES.get(name, ())
    if name in _AFTER_CONTEXT:
        arguments = arguments[-len(kinds) :]
    return len(arguments) >= len(kinds) and all(
        kind(type_of_argument(builder, argument)) for kind, argument in zip(kinds, arguments, strict=False)
    )
