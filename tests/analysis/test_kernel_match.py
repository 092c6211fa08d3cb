"""A kernel with operands of certain types: dtypes that are refused, reductions without a first step, and where
indices are inside.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
import sympy
import tvm

from relax_lint.facts.kernel_match import KernelMatch
from relax_lint.model.kernels import Kernel, Lookup, Reduction
from relax_lint.model.prim_funcs import read_kernel
from relax_lint.model.types import DType, OpaqueType, PrimType, TensorType, ValueType
from relax_lint.symbolic.evaluation import compile_condition
from relax_lint.symbolic.quantity import Unknown

_A, _B, _C = sympy.symbols("a b c", integer=True)
_ANY = OpaqueType("Object")
_TEXT = """\
@T.prim_func(private=True)
def f(x_: T.handle, y_: T.handle, k: T.int64):
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(x_, (n, m), "{x}")
    y = T.match_buffer(y_, (m,), "{y}")
    y[0] = {value}
"""


def _kernel(x: str = "float32", y: str = "float32", **more: Any) -> Kernel:
    value = f'T.Cast("{y}", x[0, 0])'
    found = read_kernel("f", tvm.script.from_source(_TEXT.format(x=x, y=y, value=value)))
    return replace(found, **more)


def _tensor(*extents: Any, dtype: str | None = "float32") -> TensorType:
    known = None if dtype is None else DType(dtype, 32)
    return TensorType(tuple(map(sympy.sympify, extents)), known, len(extents))


def _match(kernel: Kernel, *types: ValueType) -> KernelMatch:
    return KernelMatch(kernel, types or (_tensor(_A, _B), _tensor(_B), PrimType("int64", _C)))


def _symbols(kernel: Kernel) -> dict[str, sympy.Symbol]:
    return {symbol.name: symbol for symbol in _match(kernel).binding.values}


@pytest.mark.parametrize(
    ("wanted", "given", "refused"),
    [
        ("float32", "float32", False),
        ("float32", "float16", True),
        ("float32", None, False),
        ("int4", "int8", False),
        ("uint4", "int8", False),
        ("int8", "int4", True),
    ],
)
def test_another_dtype_is_refused(wanted: str, given: str | None, refused: bool) -> None:
    kernel = _kernel(wanted, "float32")
    found = _match(kernel, _tensor(_A, _B, dtype=given), _tensor(_B), _ANY).dtype_mismatches
    assert [(one.position, one.have, one.want) for one in found] == ([(0, given, wanted)] if refused else [])


def test_only_tensors_have_a_dtype() -> None:
    assert _match(_kernel(), _ANY, _tensor(_B, dtype="int32"), _tensor(_A)).dtype_mismatches[0].position == 1
    assert len(_match(_kernel(), _ANY, _tensor(_B, dtype="int32"), _tensor(_A)).dtype_mismatches) == 1


def _holds(condition: Any, point: dict[sympy.Symbol, int]) -> bool:
    symbols = tuple(point)
    return bool(compile_condition(condition, symbols)(*point.values()))


def test_a_reduction_begins_where_it_has_a_step_or_no_result() -> None:
    names = _symbols(_kernel())
    n, m = names["n"], names["m"]
    kernel = _kernel(reductions=(Reduction((n,), (m, n + 1)),))
    found = _match(kernel).initialises
    for a, b in product(range(-1, 3), repeat=2):
        writes_nothing = b <= 0
        expected = a >= 1 or b <= 0 or a + 1 <= 0 or writes_nothing
        assert _holds(found, {_A: a, _B: b}) == expected, (a, b)


def test_every_reduction_begins() -> None:
    names = _symbols(_kernel())
    n, m = names["n"], names["m"]
    both = _match(_kernel(reductions=(Reduction((n,), ()), Reduction((m, n), ())))).initialises
    for a, b in product(range(-1, 3), repeat=2):
        assert _holds(both, {_A: a, _B: b}) == ((a >= 1 and b >= 1) or b <= 0), (a, b)
    assert _match(_kernel()).initialises == sympy.true
    always = Reduction((sympy.Integer(3),), (n,))
    assert _match(_kernel(reductions=(always,))).initialises == sympy.true


def test_a_reduction_over_what_is_not_known() -> None:
    free = sympy.Symbol("free", integer=True)
    found = _match(_kernel(reductions=(Reduction((free,), ()),))).initialises
    assert isinstance(found, Unknown)


@pytest.mark.parametrize("type_", [TensorType(None, DType("float32", 32), 1), _ANY])
def test_of_an_unknown_shape_it_is_not_known_that_it_is_empty(type_: ValueType) -> None:
    n = _symbols(_kernel())["n"]
    kernel = _kernel(reductions=(Reduction((n,), ()),))
    found = _match(kernel, _tensor(_A, _B), type_, _ANY).initialises
    assert [_holds(found, {_A: a}) for a in (0, 1)] == [False, True]
    both = replace(kernel, writes=frozenset({0, 1}))
    found = _match(both, _tensor(_A, _B), _tensor(_B), _ANY).initialises
    for a, b in product(range(-1, 3), repeat=2):
        assert _holds(found, {_A: a, _B: b}) == (a >= 1 or ((a <= 0 or b <= 0) and b <= 0)), (a, b)


def _lookup(axis: int, *steps: Any) -> Lookup:
    return Lookup(0, axis, 1, tuple(steps))


def test_indices_are_inside_or_none_is_used() -> None:
    m = _symbols(_kernel())["m"]
    for steps in ((), (m,)):
        found = _match(_kernel()).holds(_lookup(1, *steps), _C, _C + 2)
        for b, c in product(range(-1, 4), range(-2, 4)):
            inside = c >= 0 and c + 3 <= b
            assert _holds(found, {_B: b, _C: c}) == (inside or (bool(steps) and b <= 0)), (b, c)


def test_other_rows_hold_elements_too() -> None:
    match = _match(_kernel())
    for axis in (0, 1):
        found = match.may_hold_in_memory(_lookup(axis), _C, _C)
        for a, b, c in product(range(1, 4), range(1, 4), range(-5, 10)):
            extent, rows = (a, 1) if axis == 0 else (b, a)
            expected = 0 <= c < extent or (c + 1 <= rows * extent and (rows - 1) * extent + c >= 0)
            assert _holds(found, {_A: a, _B: b, _C: c}) == expected, (axis, a, b, c)


def test_an_axis_has_an_element() -> None:
    assert _match(_kernel()).has_element(_lookup(1)) == sympy.Le(1, _B)
    assert _match(_kernel()).has_element(_lookup(0)) == sympy.Le(1, _A)


@pytest.mark.parametrize(
    ("type_", "axis"),
    [(_ANY, 0), (TensorType(None, DType("float32", 32), 2), 0), (_tensor(_A, _B), 2), (_tensor(), 0)],
)
def test_of_an_axis_that_is_not_known_nothing_is(type_: ValueType, axis: int) -> None:
    match = _match(_kernel(), type_, _tensor(_B), _ANY)
    lookup = _lookup(axis)
    assert match.holds(lookup, _C, _C) is match.has_element(lookup) is None


def test_where_it_is_not_known_whether_an_index_is_used() -> None:
    free = sympy.Symbol("free", integer=True)
    match = _match(_kernel())
    assert match.holds(_lookup(0, free), _C, _C) is None
