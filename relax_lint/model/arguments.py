"""The arguments of calls: shapes, offsets, dtypes, devices and strings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from relax_lint.model.context import BuildContext
from relax_lint.model.operations import Op, OperationId
from relax_lint.model.read_types import read_dtype
from relax_lint.model.types import DType, PrimType, ShapeType, TupleType, ValueType
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.quantity import Shape, Size, Unknown
from relax_lint.symbolic.translate import Untranslatable
from relax_lint.vm import versions
from relax_lint.vm.builtins import Builtin, Role

BYTE = DType("uint8", 8)
UNKNOWN_DTYPE = DType("unknown", 0, 0)
"""The value of a dtype argument that is not a constant. Without lanes it has no fixed size."""


@record(frozen=True)
class Given:
    """The arguments of a call of a builtin, by what they are for: `own` are those that the builtin's row
    names, without the leading VM argument.
    """

    builtin: Builtin
    own: Sequence[Any]

    def __getitem__(self, role: Role) -> Any:
        return self.own[self.builtin.arguments.index(role)]

    def get(self, role: Role) -> Any | None:
        """An argument that need not be there."""
        roles, own = self.builtin.roles, self.own
        position = roles.index(role) if role in roles else len(own)
        return own[position] if position < len(own) else None


class Order:
    """The arguments for these roles, in this order, of any builtin; None where there is none."""

    def __init__(self, *roles: Role) -> None:
        self._roles = roles
        self._places: dict[str, list[int]] = {}

    def __call__(self, given: Given) -> list[Any | None]:
        """Of one call."""
        row, own = given.builtin, given.own
        places = self._places.get(row.name)
        if places is None:
            roles = row.roles
            places = [roles.index(role) if role in roles else _NOWHERE for role in self._roles]
            self._places[row.name] = places
        count = len(own)
        return [own[place] if place < count else None for place in places]


_NOWHERE = 1 << 30
_UNKNOWN_SHAPE = Unknown("the shape is unknown in the IR")

Handler: TypeAlias = Callable[[BuildContext, OperationId, Any, Given], Op]
"""(context, place, bound variable, arguments) -> operation."""


def own_arguments(builtin: Builtin, arguments: Sequence[Any]) -> Sequence[Any]:
    """The arguments of a call without the VM argument that LowerRuntimeBuiltin prepends to some."""
    return arguments[-len(builtin.arguments) :] if builtin.after_vm else arguments


def read_shape(context: BuildContext, expr: Any) -> Shape:
    """A shape argument: a ShapeExpr, a tuple of numbers, or a variable that holds a known one."""
    if type(expr).__name__ == "ShapeExpr":
        # As below; of most shapes nothing else is asked.
        extents = context.types.extents(expr)
        return _UNKNOWN_SHAPE if extents is None else extents
    type_ = type_of_argument(context, expr)
    if isinstance(type_, ShapeType) and type_.extents is not None:
        is_true = versions.kind(expr) != "Var" or context.operand(expr) in context.trusted
        return type_.extents if is_true else Unknown(f"the type of `{expr.name}` is declared, not checked")
    if isinstance(type_, TupleType):
        # TVM makes a shape of a tuple of numbers.
        numbers = [field.value if isinstance(field, PrimType) else None for field in type_.fields]
        known = tuple(number for number in numbers if number is not None)
        if len(known) == len(numbers):
            return known
    return _UNKNOWN_SHAPE


def type_of_argument(context: BuildContext, expr: Any) -> ValueType:
    """The type of an argument: what is known of a variable may be more than what its own type says."""
    if versions.kind(expr) == "Var":
        return context.values[context.operand(expr)].type
    return context.type_of(expr)


def read_offset(context: BuildContext, expr: Any) -> Size:
    """A byte offset."""
    try:
        return context.translator.expr(expr)
    except Untranslatable as error:
        return Unknown(f"the offset is unknown: {error}")


def dtype_of(node: Any) -> DType:
    """The dtype of an `R.dtype(...)` argument."""
    named = versions.dtype_in(node)
    return UNKNOWN_DTYPE if named is None else read_dtype(named)


def device_of(node: Any) -> int | None:
    """A device index; None where it is not a constant."""
    value = getattr(node, "value", node)
    return value if isinstance(value, int) else None


def text_of(node: Any) -> str:
    """A string argument."""
    return str(getattr(node, "value", node))
