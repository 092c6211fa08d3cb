"""Values that a declared bound rules out, and what the symbols of a kernel are in one call."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from relax_lint.model.kernel_buffers import KernelBuffers
from relax_lint.model.kernels import BufferParameter, KernelParameter, OpaqueParameter, ScalarParameter
from relax_lint.model.types import DType, OpaqueType, PrimType, TensorType, ValueType
from relax_lint.settings.memory_request import Binding, MemoryRequest
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.kernel_memory import _arguments
from relax_lint.totals.quantities import Indeterminate, Scope
from relax_lint.totals.result import _symbols, outside_declared
from tests.model.test_builder import main_of, module

X = 'x: R.Tensor(("m", "n"), "float32")'
BOUNDS = (
    'R.func_attr({"tir_var_lower_bound": {"m": 3, "n": -2}, "tir_var_upper_bound": {"q": 1, "m": 9}, '
    '"tir_non_negative_var": ["n"]})\nreturn x'
)


@pytest.mark.parametrize(
    ("bindings", "violated"),
    [
        ([("m", 3, 9)], []),
        ([("m", 2, 9)], ["m >= 3"]),
        ([("m", 3, 10)], ["m <= 9"]),
        ([("m", 0, 20)], ["m <= 9", "m >= 3"]),
        # The name of a bound that no symbol has declares nothing.
        ([("q", 5, 5)], []),
        ([("n", 0, 100)], []),
        ([("n", -1, -1)], ["n >= 0"]),
        ([("n", -3, -3), ("m", 1, 1)], ["n >= -2", "n >= 0", "m >= 3"]),
        ([], []),
    ],
)
def test_a_value_outside_of_a_bound_is_told(
    bindings: list[tuple[str, int, int]], violated: list[str]
) -> None:
    function = main_of(module(X, BOUNDS))
    request = MemoryRequest(tuple(Binding(*one) for one in bindings))
    notes = list(outside_declared(function, request))
    assert sorted(note.split("`")[3] for note in notes) == sorted(violated)
    assert all(note.endswith("of `main`") for note in notes)


def test_the_narrowest_bounds_are_the_range_of_a_symbol() -> None:
    found = {one.name: (one.low, one.high) for one in _symbols(main_of(module(X, BOUNDS)))}
    assert found == {"m": (3, 9), "n": (0, None)}


N, M, K = (sympy.Symbol(name, integer=True) for name in "nmk")
F32 = DType("float32", 32)


def _buffer(*extents: Any) -> BufferParameter:
    return BufferParameter("x", tuple(map(sympy.sympify, extents)), F32, sympy.Integer(0))


def _tensor(*extents: Any) -> TensorType:
    return TensorType(tuple(map(sympy.sympify, extents)), F32, len(extents))


NOTHING = Unknown("nobody knows")
NUMBER = PrimType("int64", sympy.Integer(7))


@pytest.mark.parametrize(
    ("parameter", "type_", "found"),
    [
        (ScalarParameter("n", N, "int64"), NUMBER, 7),
        (ScalarParameter("n", N, "int64"), PrimType("int64", 2 * K), 2 * K),
        (ScalarParameter("n", N, "int64"), PrimType("int64"), None),
        (ScalarParameter("n", N, "int64"), _tensor(7), None),
        (_buffer(N, M), _tensor(7, 5), 7),
        (_buffer(M, N), _tensor(7, 5), 5),
        (_buffer(N, M), _tensor(7), 7),
        (_buffer(2 * N), _tensor(7), None),
        (_buffer(N), TensorType(None, F32, 1), None),
        (_buffer(N), NUMBER, None),
        (BufferParameter("x", NOTHING, F32, sympy.Integer(0)), _tensor(7), None),
        (OpaqueParameter("p"), _tensor(7), None),
        (OpaqueParameter("p"), NUMBER, None),
        (OpaqueParameter("p"), OpaqueType(), None),
    ],
)
def test_a_symbol_of_a_kernel_is_what_the_argument_says(
    parameter: KernelParameter, type_: ValueType, found: Any
) -> None:
    scope = _arguments(KernelBuffers((parameter,)), [type_], Scope(None))
    if found is None:
        with pytest.raises(Indeterminate):
            scope.quantity(N)
    else:
        assert scope.quantity(N) == found


def test_a_scalar_goes_before_extents_and_the_first_extent_before_others() -> None:
    parameters = _buffer(N), _buffer(N), ScalarParameter("n", N, "int64")
    scope = _arguments(KernelBuffers(parameters), [_tensor(4), _tensor(5), NUMBER], Scope(None))
    assert scope.quantity(N) == 7
    scope = _arguments(KernelBuffers(parameters[:2]), [_tensor(4), _tensor(5)], Scope(None))
    assert scope.quantity(N) == 4
