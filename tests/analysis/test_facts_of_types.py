"""What the entry of a kernel lets through holds inside, and which types a copy may have."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import sympy

from relax_lint.facts.kernels import _Region
from relax_lint.facts.views import _same_type
from relax_lint.model.types import DType, TensorType
from relax_lint.symbolic.domain import Domain
from relax_lint.symbolic.quantity import Unknown

_A, _B = sympy.symbols("a b", integer=True)
_F32, _I32 = DType("float32", 32), DType("int32", 32)


def test_what_is_compared_at_the_entry_holds_inside() -> None:
    domain, kernel = Domain((_A, _B)), SimpleNamespace(name="f")
    region, given = _Region(domain), _any(kernel)
    entered = region.entered(given, sympy.Eq(_A, _B))
    assert [fact.condition for fact in entered.facts] == [sympy.Eq(_A, _B)]
    assert "`f`" in entered.facts[0].text
    assert region.entered(given, sympy.Eq(_A, _B)) is entered
    assert region.entered(given, _A > 3) != entered
    assert region.entered(given, sympy.true) is region.entered(given, Unknown("nobody knows")) is domain


def _any(value: object) -> Any:
    return value


def _type(dtype: DType | None, *extents: Any) -> TensorType:
    return TensorType(tuple(map(sympy.sympify, extents)), dtype, len(extents))


NO_SHAPE = TensorType(None, _F32, 1)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        (_type(_F32, _A), _type(_F32, _A), "True"),
        (_type(_F32, _A), _type(_I32, _A), "False"),
        (_type(None, _A), _type(_I32, _A), "True"),
        (_type(_F32, _A), _type(None, _A), "True"),
        (_type(None, _A), _type(None, _A), "True"),
        (_type(_F32, _A), NO_SHAPE, "True"),
        (NO_SHAPE, NO_SHAPE, "True"),
        (TensorType(None, _I32, 1), NO_SHAPE, "False"),
        (_type(_F32, _A), _type(_F32, _A, 1), "False"),
        (_type(_F32, 4), _type(_F32, 5), "False"),
        (_type(_F32, _A, 4), _type(_F32, _B, 4), "Eq(a, b)"),
    ],
)
def test_all_that_the_target_says_the_source_says(
    source: TensorType, target: TensorType, expected: str
) -> None:
    assert str(_same_type(source, target)) == expected


def test_of_a_source_without_a_shape_it_is_not_known() -> None:
    assert isinstance(_same_type(NO_SHAPE, _type(_F32, _A)), Unknown)
