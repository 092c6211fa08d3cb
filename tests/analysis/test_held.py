"""Between which integers the elements of a tensor lie, by its dtype or as positions on an axis."""

from __future__ import annotations

import pytest
import sympy

from relax_lint.facts.held import Held, any_integers, bits_of, dtype_of, positions_below
from relax_lint.model.types import DType, OpaqueType, ShapeType, TensorType, ValueType

N = sympy.Symbol("n", integer=True)


def _tensor(name: str, bits: int = 0) -> TensorType:
    return TensorType((N,), DType(name, bits), 1)


@pytest.mark.parametrize(
    ("type_", "ends", "bits", "name"),
    [
        (_tensor("int8"), (-128, 127), 8, "int8"),
        (_tensor("uint8"), (0, 255), None, "uint8"),
        (_tensor("int64"), (-(2**63), 2**63 - 1), 64, "int64"),
        (_tensor("uint64"), (0, 2**64 - 1), None, "uint64"),
        (_tensor("float32"), None, None, "float32"),
        (_tensor("bool"), None, None, "bool"),
        (_tensor("int8x4"), None, None, "int8x4"),
        (_tensor("32"), None, None, "32"),
        (_tensor("u8"), None, None, "u8"),
        (_tensor("uuint8"), None, None, "uuint8"),
        (TensorType((N,), None, 1), None, None, ""),
        (ShapeType((N,)), None, None, ""),
        (OpaqueType("Object"), None, None, ""),
    ],
)
def test_by_dtype(type_: ValueType, ends: tuple[int, int] | None, bits: int | None, name: str) -> None:
    found = any_integers(type_)
    assert (None if found is None else (found.low, found.high)) == ends
    assert bits_of(type_) == bits
    assert dtype_of(type_) == name
    assert bits_of(None) is None


@pytest.mark.parametrize(
    ("extent", "bits", "is_held", "is_presumed"),
    [
        (128, 8, True, False),
        (129, 8, False, False),
        (2**31, 32, True, False),
        (2**31 + 1, 32, False, False),
        (N, 32, True, True),
        (N, 64, True, False),
        (2**63 + 1, 64, True, False),
        (2**63 + 1, 128, True, False),
    ],
)
def test_positions(extent: object, bits: int, is_held: bool, is_presumed: bool) -> None:
    size = sympy.sympify(extent)
    found = positions_below(size, bits, "R.argmax")
    if not is_held:
        assert found is None
        return
    assert found is not None
    assert (found.low, found.high, found.reached) == (0, size - 1, False)
    assert len(found.presumptions) == len(found.given) == is_presumed
    if is_presumed:
        assert found.given == (sympy.Le(size, 2 ** (bits - 1)),)
        assert "`R.argmax`" in found.presumptions[0].text
    else:
        assert found == Held(sympy.Integer(0), size - 1)
