"""What packed functions take, from what their arguments tell: each formula at numbers, with symbols, and where an
argument tells nothing.
"""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from relax_lint.model.kernel_buffers import ExternalCall
from relax_lint.model.types import DType, OpaqueType, PrimType, ShapeType, TensorType, TupleType, ValueType
from relax_lint.totals.packed_formulas import FORMULAS, Arguments, Bytes, sort_bytes
from relax_lint.totals.quantities import Indeterminate, Scope
from relax_lint.vm import packed_memory as table

_N = sympy.Symbol("n", integer=True)
_F16 = DType("float16", 16)
_NOTHING = OpaqueType("Object")
_SCOPE = Scope(None)


def _shape(*extents: Any) -> ShapeType:
    return ShapeType(tuple(map(sympy.sympify, extents)))


def _tensor(*extents: Any, dtype: DType | None = _F16) -> TensorType:
    return TensorType(tuple(map(sympy.sympify, extents)), dtype, len(extents))


def _number(value: Any) -> PrimType:
    return PrimType("int64", sympy.sympify(value))


def _bytes(name: str, *types: ValueType) -> Bytes:
    return FORMULAS[name](Arguments(types, _SCOPE), True)


@pytest.mark.parametrize(
    ("filled", "slots", "expected"),
    [(5, 8, 8), (8, 8, 8), (9, 8, 16), (30, 8, 32), (1, 1, 1), (2, 1, 2), (_N, _N, _N), (0, 0, 0)],
)
def test_a_cache_is_doubled_until_it_holds_what_it_begins_with(
    filled: Any, slots: Any, expected: Any
) -> None:
    found = _bytes(table.LEGACY_CACHE, _tensor(filled, 4), _shape(slots, 4))
    assert found == Bytes(2 * expected * 4)


@pytest.mark.parametrize(
    ("first", "reserved", "why"),
    [
        (_tensor(_N, 4), _shape(8, 4), "may be doubled"),
        (_tensor(5, 4), _shape(_N, 4), "may be doubled"),
        (_tensor(5, 4), _shape(0, 4), "may be doubled"),
        (_tensor(), _shape(8, 4), "no shape"),
        (TensorType(None, _F16, 2), _shape(8, 4), "no shape"),
        (_tensor(5, 4, dtype=None), _shape(8, 4), "argument 0 is not a tensor"),
        (_NOTHING, _shape(8, 4), "argument 0 is not a tensor"),
        (_tensor(5, 4), ShapeType(None), "argument 1 is not a shape"),
        (_tensor(5, 4), _NOTHING, "argument 1 is not a shape"),
    ],
)
def test_a_cache_of_which_too_little_is_told(first: ValueType, reserved: ValueType, why: str) -> None:
    with pytest.raises(Indeterminate, match=why):
        _bytes(table.LEGACY_CACHE, first, reserved)


def test_a_missing_argument_is_named() -> None:
    with pytest.raises(Indeterminate, match="it has no argument 1"):
        _bytes(table.LEGACY_CACHE, _tensor(5, 4))
    with pytest.raises(Indeterminate, match="it has no argument 0"):
        _bytes(table.COPY_TO_DEVICE)


def test_a_state_takes_what_it_keeps_and_two_indices_for_each_sequence() -> None:
    numbers = [_number(2), _number(3), _number(5)]
    states = TupleType((_tensor(2, 4), _tensor(10, dtype=DType("float32", 32))))
    found = _bytes(table.RNN_STATE, *numbers, _NOTHING, _NOTHING, states)
    assert found == Bytes(2 * 3 * 5 * (16 + 40) + 2 * 3 * 4)


@pytest.mark.parametrize(
    "states", [TupleType(()), TupleType((_tensor(2), _NOTHING)), TupleType((_NOTHING, _tensor(2))), _NOTHING]
)
def test_a_state_of_something_else_than_tensors_is_not_known(states: ValueType) -> None:
    numbers = [_number(2), _number(3), _number(5)]
    with pytest.raises(Indeterminate, match="argument 5 is not a tuple of tensors"):
        _bytes(table.RNN_STATE, *numbers, _NOTHING, _NOTHING, states)


@pytest.mark.parametrize("number", [_NOTHING, PrimType("int64", None), _shape(2)])
def test_a_number_that_is_not_told(number: ValueType) -> None:
    with pytest.raises(Indeterminate, match="argument 1 is not a number"):
        _bytes(table.RNN_STATE, _number(2), number, _number(5))


def _paged(
    layers: ValueType, kinds: ValueType, *, sliding: int = 0, tokens: Any = 64, merged: bool = True
) -> Bytes:
    """A cache for 2 sequences with pages of 16 tokens, and its functions, one of which is of the module."""
    numbers: list[ValueType] = [_shape(2, tokens, 16, 16, sliding), layers, *map(_number, (8, 4, 32, 16))]
    types = [*numbers, kinds, *[_NOTHING] * 5, _tensor(1), *[_NOTHING] * 2]
    functions = [TupleType((OpaqueType("PrimFunc"),)) for _ in range(8)]
    return FORMULAS[table.PAGED_CACHE](Arguments([*types, *functions], _SCOPE), merged)


def _expected(layers: int, pages: Any, *, attention: bool = True) -> Bytes:
    """The same, written out once more for these numbers: see `attn_utils.h` of TVM."""
    kept = layers * pages * 2 * 4 * 16 * 32
    projected = 8 * 32 + 4 * (32 + 16) if attention else 0
    temporary = 16 * (projected + 8 * 16)
    in_tree = 16
    auxiliary = 4 * ((32 << 20) + 4 + 2 * in_tree)
    depths = 2 * (4 * 3 + (5 + 2 * 256) * 2 + 2 * pages)
    once = 2 * 2 + 7 * 16 + 2 * 3 + 2 * in_tree
    return Bytes(2 * (kept + temporary) + 2 * 16 * 8 * 4 + auxiliary, 4 * (depths + once) + auxiliary)


def test_a_paged_cache_at_numbers() -> None:
    assert _paged(_shape(1, 4), _shape(0, 0, 0, 0)) == _expected(3, 5)
    assert _paged(_shape(1, 4), _shape(3, 3, 3, 3), sliding=1) == _expected(3, 9, attention=False)
    assert _paged(_shape(0, 2), _shape(0, 3), tokens=65) == _expected(2, 6)


def test_only_the_kinds_of_its_own_layers_count() -> None:
    assert _paged(_shape(1, 3), _shape(1, 0, 3, 2)) == _expected(2, 5)
    with pytest.raises(Indeterminate, match="latent or linear"):
        _paged(_shape(1, 3), _shape(0, 0, 1, 0))


def test_a_paged_cache_of_a_symbol() -> None:
    found = _paged(_shape(0, 2), _shape(0, 0), tokens=_N)
    for n in (1, 16, 17, 1000):
        expected = _expected(2, -(-n // 16) + 1)
        assert [sympy.sympify(part).subs(_N, n) for part in (found.device, found.host)] == [
            expected.device,
            expected.host,
        ]


@pytest.mark.parametrize("layers", [_shape(0, 2, 4), _shape(0, _N), _shape(_N, 2), _shape(4)])
def test_several_groups_of_layers_are_not_counted(layers: ValueType) -> None:
    with pytest.raises(Indeterminate, match="several groups"):
        _paged(layers, _shape(0, 0, 0, 0))


def test_the_arrays_are_those_of_some_devices() -> None:
    with pytest.raises(Indeterminate, match="a CPU or CUDA only"):
        _paged(_shape(0, 2), _shape(0, 0), merged=False)


def _sorted(name: str, numbers: dict[int, int], *extents: Any) -> Any:
    shape = tuple(map(sympy.sympify, extents))
    return sort_bytes(ExternalCall(name, shape, tuple(numbers.items())), _SCOPE)


def test_what_sorting_takes() -> None:
    """The place of the axis among the arguments is another one for each function."""
    assert _sorted(table.SORT, {3: 0, 4: 1}, 5, 7) == 16 * 3 * 5
    assert _sorted(table.ARGSORT, {3: 1, 4: 0}, 5, 7) == 16 * 3 * 7
    assert _sorted(table.ARGSORT_NMS, {3: 1, 4: 0}, 5, 7) == 16 * 3 * 5
    assert _sorted(table.SORT, {3: 1}, 5, _N) == 16 * 3 * _N
    assert _sorted("another", {3: 1}, 5, 7) is None
    assert _sorted("another", {2: 4, 5: 0}, 5, 7) is None


def test_what_the_largest_ones_take() -> None:
    """With a number of them it is a heap of so many; else the rows are sorted."""
    assert _sorted(table.TOP_K, {2: 4, 3: 1, 4: 0, 5: 0}, 5, 7) == 16 * (4 + 1)
    assert _sorted(table.TOP_K, {2: 1, 3: 1, 4: 0, 5: 0}, 5, 7) == 16 * (1 + 1)
    assert _sorted(table.TOP_K, {2: 0, 3: 1, 4: 0, 5: 0}, 5, 7) == 16 * 3 * 7
    assert _sorted(table.TOP_K, {3: 1, 4: 0, 5: 0}, 5, 7) == 16 * 3 * 7


@pytest.mark.parametrize(("numbers", "extents"), [({2: 1}, (5, 7)), ({3: 1}, ())])
def test_what_is_sorted_must_be_known(numbers: dict[int, int], extents: tuple[int, ...]) -> None:
    with pytest.raises(Indeterminate, match="what it sorts"):
        _sorted(table.SORT, numbers, *extents)


def test_every_function_that_takes_memory_has_a_formula_and_every_formula_a_function() -> None:
    taken = {name for name, row in table.PACKED_MEMORY.items() if row.takes is table.Takes.OBJECT}
    assert taken == set(FORMULAS)
    scratch = {name for name, row in table.PACKED_MEMORY.items() if row.takes is table.Takes.SCRATCH}
    assert scratch == {table.SORT, table.ARGSORT, table.ARGSORT_NMS, table.TOP_K}
