"""The elements of constant tensors, and the constants of which they are not known. Imports TVM."""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax

from relax_lint.vm import versions

_OMITTED = "omitted by TVM's printer"
"""The file that omitted constants are in."""


def numbers_of(constant: Any) -> list[Any] | None:
    """The elements of a constant tensor, zeros where they are omitted; None for anything else."""
    if versions.kind(constant) != "Constant":
        return None
    found: list[Any] = _data_of(constant).numpy().ravel().tolist()
    return found


def integer_range(constant: Any) -> tuple[int, int] | None:
    """Smallest and largest element of a constant of integers or of truth values; None for other dtypes, for
    empty ones, for omitted ones and for what is no array of numbers.
    """
    data = _data_of(constant)
    if is_omitted(constant) or not str(getattr(data, "dtype", "")).startswith(("int", "uint", "bool")):
        return None
    elements = data.numpy()
    return (int(elements.min()), int(elements.max())) if elements.size else None


def _data_of(constant: Any) -> Any:
    return constant.value if type(constant).__name__ == "GenericConst" else constant.data


def mark_omitted(constant: Any) -> Any:
    """The same constant, known by its place to be one whose elements the text of a module omits."""
    place = tvm.ir.Span(tvm.ir.SourceName(_OMITTED), 0, 0, 0, 0)
    return type(constant)(_data_of(constant), constant.ty, place)


def is_omitted(constant: Any) -> bool:
    """Whether the elements of a constant are not those that the module has, because its text omits them."""
    place = constant.span
    return place is not None and place.source_name.name == _OMITTED


def has_omitted(module: Any) -> bool:
    """Whether a Relax function of a module has such a constant."""
    found = False

    def visit(node: Any) -> None:
        nonlocal found
        found = found or (versions.kind(node) == "Constant" and is_omitted(node))

    for _, function in versions.relax_functions(module):
        relax.analysis.post_order_visit(function, visit)
    return found
