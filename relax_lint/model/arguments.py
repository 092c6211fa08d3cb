"""The arguments of calls: shapes, offsets, dtypes, devices and strings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from relax_lint.model.program import Op, Place, Shape, Size, Unknown
from relax_lint.model.read_types import read_dtype
from relax_lint.model.sizes import tensor_bytes
from relax_lint.model.types import DType, ShapeType, ValueType
from relax_lint.symbolic.translate import Untranslatable
from relax_lint.vm import versions

if TYPE_CHECKING:
    from relax_lint.model.builder import FunctionBuilder

Handler: TypeAlias = "Callable[[FunctionBuilder, Place, Any, Sequence[Any]], Op]"
"""(builder, place, bound variable, arguments) -> operation."""

BYTE = DType("uint8", 8)
UNKNOWN_DTYPE = DType("unknown", 0, 0)
"""What a dtype argument stands for that is no constant. Without lanes it has no fixed size."""


def read_shape(builder: FunctionBuilder, expr: Any) -> Shape:
    """A shape argument: a ShapeExpr, or a variable that holds a known shape."""
    type_ = type_of_argument(builder, expr)
    if isinstance(type_, ShapeType) and type_.extents is not None:
        return type_.extents
    return Unknown("the shape is not known from the IR")


def type_of_argument(builder: FunctionBuilder, expr: Any) -> ValueType:
    """The type of an argument: what is known of a variable may be more than what its own type says."""
    if versions.kind(expr) == "Var":
        return builder.values[builder.operand(expr)].type
    return builder.type_of(expr)


def read_offset(builder: FunctionBuilder, expr: Any) -> Size:
    """A byte offset."""
    try:
        return builder.translator.expr(expr)
    except Untranslatable as error:
        return Unknown(f"the offset is not known: {error}")


def size_in_bytes(shape: Shape, dtype: DType) -> Size:
    """Bytes of a tensor of a shape and dtype; Unknown where either is not known."""
    if isinstance(shape, Unknown):
        return shape
    if dtype.lanes == 0:
        return Unknown(f"`{dtype.name}` has no fixed size")
    return tensor_bytes(shape, dtype)


def dtype_of(node: Any) -> DType:
    """The dtype that an `R.dtype(...)` argument stands for."""
    return read_dtype(node.value) if versions.kind(node) == "DataTypeImm" else UNKNOWN_DTYPE


def device_of(node: Any) -> int | None:
    """A device index; None where it is no constant."""
    value = getattr(node, "value", node)
    return value if isinstance(value, int) else None


def text_of(node: Any) -> str:
    """A string argument."""
    return str(getattr(node, "value", node))
