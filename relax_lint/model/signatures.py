"""Whether a builtin or an operator can be called with the arguments that a call gives it.

A call that gives one anything else ends in an error of the VM, whatever memory it seems to be about: it is
the call of an unknown function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from relax_lint.model.arguments import own_arguments, type_of_argument
from relax_lint.model.context import BuildContext
from relax_lint.model.types import OpaqueType, PrimType, ShapeType, TensorType, TupleType, ValueType
from relax_lint.vm.builtins import Builtin, Role

_Test: TypeAlias = Callable[[ValueType], bool]


def _tensor(type_: ValueType) -> bool:
    return isinstance(type_, TensorType) or type_ == OpaqueType()


def _shape(type_: ValueType) -> bool:
    return isinstance(type_, ShapeType) or type_ == OpaqueType() or _numbers(type_)


def _numbers(type_: ValueType) -> bool:
    """A tuple of numbers, which TVM takes for a shape."""
    return isinstance(type_, TupleType) and all(map(_integer, type_.fields))


def _integer(type_: ValueType) -> bool:
    return (isinstance(type_, PrimType) and "int" in type_.dtype) or type_ == OpaqueType()


def _dtype(type_: ValueType) -> bool:
    return type_ in (OpaqueType("DataTypeImm"), OpaqueType())


def _text(type_: ValueType) -> bool:
    return type_ in (OpaqueType("StringImm"), OpaqueType())


_TESTS: Mapping[Role, _Test] = {
    Role.TENSOR: _tensor,
    Role.SHAPE: _shape,
    Role.DTYPE: _dtype,
    Role.SCOPE: _text,
    Role.OFFSET: _integer,
    Role.DEVICE: _integer,
    Role.COUNT: _integer,
    Role.CODE: _integer,
    Role.SLOT: _integer,
}
"""Arguments of the other roles may be anything."""


def takes(context: BuildContext, builtin: Builtin, arguments: Sequence[Any]) -> bool:
    """Whether a call can give these arguments; what is not known counts as fitting."""
    given = own_arguments(builtin, arguments)
    if len(given) < len(builtin.arguments):
        return False
    if builtin.is_operator:
        # TVM itself builds no call of one with arguments of other kinds; what was saved may lack some.
        return True
    return all(
        _fits(builtin, position, type_of_argument(context, argument))
        for position, argument in enumerate(given[: len(builtin.arguments)])
    )


def _fits(builtin: Builtin, position: int, type_: ValueType) -> bool:
    if position > 0 and builtin.may_leave_out and type_ == TupleType(()):
        return True
    test = _TESTS.get(builtin.arguments[position])
    return test is None or test(type_)
