"""What casts and parameters tell about symbols, of types of every kind."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import sympy

from relax_lint.model.matching import (
    asked,
    believed_facts,
    facts_of_value,
    integer_range,
    is_checked,
    match_cast_facts,
    refine,
)
from relax_lint.model.program import Origin, Provenance
from relax_lint.model.symbols import SymbolTable
from relax_lint.model.types import DType, OpaqueType, PrimType, ShapeType, TensorType, TupleType, ValueType

ORIGIN = Origin("a cast")
F32, I32 = DType("float32", 32), DType("int32", 32)
ANY = OpaqueType("Object")


class _Table:
    """Symbols of a function: `n` and `m` are extents of a parameter, `k` and `l` are not defined yet."""

    def __init__(self) -> None:
        self.symbols = SymbolTable(1 << 40)
        self.n, self.m, self.k, self.l = (self.symbols.fresh(name) for name in "nmkl")
        for symbol in (self.n, self.m):
            self.symbols.define(symbol, Provenance.EXTENT, Origin("parameter `x`"), in_signature=True)

    def tensor(self, text: str | None, dtype: DType | None = F32, ndim: int | None = None) -> TensorType:
        shape = self._extents(text)
        rank = ndim if ndim is not None else -1 if shape is None else len(shape)
        return TensorType(shape, dtype, rank)

    def shape(self, text: str | None) -> ShapeType:
        return ShapeType(self._extents(text))

    def _extents(self, text: str | None) -> Any:
        names = vars(self)
        return (
            None
            if text is None
            else tuple(sympy.sympify(eval(one, {**names})) for one in text.split(",") if one)
        )


def _texts(facts: list[Any]) -> list[str]:
    return [str(fact.condition) for fact in facts]


@pytest.mark.parametrize(
    ("dtype", "ends"),
    [
        ("int8", (-128, 127)),
        ("int16", (-(2**15), 2**15 - 1)),
        ("int32", (-(2**31), 2**31 - 1)),
        ("uint8", (0, 255)),
        ("uint16", (0, 2**16 - 1)),
        ("uint32", (0, 2**32 - 1)),
        ("int64", None),
        ("uint64", None),
        ("bool", None),
    ],
)
def test_a_scalar_is_a_number_of_its_dtype(dtype: str, ends: tuple[int, int] | None) -> None:
    value = _Table().n
    found = [fact.condition for fact in integer_range(value, dtype, ORIGIN)]
    assert found == ([] if ends is None else [sympy.And(value >= ends[0], value <= ends[1])])


@pytest.mark.parametrize(
    ("declared", "target", "checked"),
    [
        ("n, 4", "n, 4", False),
        ("n, 4", "k, 4", False),
        ("n, 4", "n, 5", True),
        ("n, 4", "m, 4", False),
        ("n, 4", "m, 5", False),
        ("n, 4", "n * 2, 4", True),
        ("n * 2, 4", "n + n, 4", False),
        ("n, 4", "k, 5", True),
        ("n * 2, 4", "n, 5", False),
        ("n, 4", "n", True),
        ("n, 4", None, False),
        (None, "n, 4", True),
        (None, None, False),
        ("", "", False),
    ],
)
def test_a_cast_to_extents_is_compared_where_one_is_another(
    declared: str | None, target: str | None, checked: bool
) -> None:
    table = _Table()
    assert is_checked(table.symbols, table.shape(declared), table.shape(target)) is checked
    if target is not None:
        assert is_checked(table.symbols, table.tensor(declared), table.tensor(target)) is checked


@pytest.mark.parametrize(
    ("dtype", "ndim", "checked"),
    [
        (F32, 2, False),
        (None, 2, False),
        (I32, 2, True),
        (F32, -1, False),
        (F32, 3, True),
        (I32, 3, True),
        (None, -1, False),
    ],
)
def test_a_cast_without_extents_compares_rank_and_dtype(
    dtype: DType | None, ndim: int, checked: bool
) -> None:
    table = _Table()
    target = table.tensor(None, dtype, ndim)
    assert is_checked(table.symbols, table.tensor("n, 4"), target) is checked


def test_casts_to_another_kind_are_checked_and_tuples_where_all_fields_are() -> None:
    table = _Table()
    fine, wrong = table.tensor("n, 4"), table.tensor("n, 5")
    for declared, target in ((fine, table.shape("n, 4")), (table.shape("n"), table.tensor("n")), (ANY, fine)):
        assert is_checked(table.symbols, declared, target)
    for fields, checked in (((fine, fine), False), ((wrong, fine), False), ((wrong, wrong), True)):
        assert is_checked(table.symbols, TupleType((fine, fine)), TupleType(fields)) is checked
    assert is_checked(table.symbols, TupleType((fine,)), fine)
    assert is_checked(table.symbols, fine, TupleType((fine,)))


def test_a_cast_equates_extents_and_defines_symbols() -> None:
    table = _Table()
    facts = match_cast_facts(table.symbols, table.tensor("n, m, 4"), table.tensor("k, n, 4"), ORIGIN)
    assert _texts(facts)[:2] == ["Eq(n, k)", "Eq(m, n)"]
    assert table.symbols.is_defined(table.k)
    assert not table.symbols.is_defined(table.l)


@pytest.mark.parametrize(
    ("known", "target"),
    [("n", "k, 4"), (None, "k, 4"), ("n, 4, 4", "k, 4")],
)
def test_of_another_rank_nothing_is_equal(known: str | None, target: str) -> None:
    table = _Table()
    for one, other in (
        (table.tensor(known), table.tensor(target)),
        (table.shape(known), table.shape(target)),
        (ANY, table.tensor(target)),
        (None, table.tensor(target)),
        (table.shape("n, 4"), table.tensor(target)),
        (table.tensor("n, 4"), table.shape(target)),
    ):
        fresh = _Table()
        facts = match_cast_facts(fresh.symbols, one, other, ORIGIN)
        assert not any(text.startswith("Eq") for text in _texts(facts)), (one, other)


def test_a_cast_to_a_shape_equates_and_gives_values() -> None:
    table = _Table()
    facts = match_cast_facts(table.symbols, table.shape("n, m"), table.shape("k, n"), ORIGIN)
    assert _texts(facts)[:2] == ["Eq(n, k)", "Eq(m, n)"]
    assert match_cast_facts(table.symbols, table.shape("n, m"), table.shape(None), ORIGIN) == []
    assert match_cast_facts(table.symbols, table.tensor("n, m"), table.tensor(None), ORIGIN) == []
    assert match_cast_facts(table.symbols, table.shape("n, m"), ANY, ORIGIN) == []


def test_fields_are_cast_one_by_one() -> None:
    table = _Table()
    known = TupleType((table.tensor("n"), table.shape("m")))
    target = TupleType((table.tensor("k"), table.shape("l")))
    assert [t for t in _texts(match_cast_facts(table.symbols, known, target, ORIGIN)) if "Eq" in t] == [
        "Eq(n, k)",
        "Eq(m, l)",
    ]
    for other in (TupleType((table.tensor("n"),)), table.tensor("n"), None):
        fresh = _Table()
        facts = match_cast_facts(fresh.symbols, other, target, ORIGIN)
        assert not any("Eq" in text for text in _texts(facts))


def test_a_value_defines_the_symbols_of_its_type() -> None:
    for type_of in ("tensor", "shape"):
        table = _Table()
        type_ = getattr(table, type_of)("k, n * 2")
        nested = TupleType((ANY, TupleType((type_, getattr(table, type_of)("l")))))
        facts_of_value(table.symbols, nested, ORIGIN, in_signature=True, checked=True)
        assert table.symbols.is_defined(table.k)
        assert table.symbols.is_defined(table.l)
        assert (
            facts_of_value(
                table.symbols, getattr(table, type_of)(None), ORIGIN, in_signature=True, checked=True
            )
            == []
        )


def test_the_sign_of_an_extent_is_told_where_it_is_checked() -> None:
    table = _Table()
    for text, told in (("n * 2 - 6, 4", True), ("n, 4", False), ("4, 5", False)):
        for checked in (True, False):
            type_ = table.tensor(text)
            facts = facts_of_value(table.symbols, type_, ORIGIN, in_signature=False, checked=checked)
            assert any("2*n" in one for one in _texts(facts)) == (told and checked), (text, checked)


def test_what_is_believed_of_a_cast_that_is_not_compared() -> None:
    table = _Table()
    facts = believed_facts(table.symbols, table.tensor("n, m"), table.tensor("k, n"), ORIGIN)
    assert [text for text in _texts(facts) if "Eq" in text] == ["Eq(n, k)", "Eq(m, n)"]
    assert table.symbols.is_defined(table.k)
    assert believed_facts(table.symbols, table.tensor("n, m"), table.tensor(None), ORIGIN) == []
    assert believed_facts(table.symbols, ANY, ANY, ORIGIN) == []
    pair = TupleType((table.shape("n"), table.tensor("m")))
    found = believed_facts(table.symbols, pair, TupleType((table.shape("l"), table.tensor("l"))), ORIGIN)
    assert [text for text in _texts(found) if "Eq" in text] == ["Eq(n, l)", "Eq(m, l)"]
    assert not any(
        "Eq" in text for text in _texts(believed_facts(table.symbols, pair, table.tensor("n"), ORIGIN))
    )
    assert not any(
        "Eq" in text for text in _texts(believed_facts(table.symbols, table.tensor("n"), pair, ORIGIN))
    )


def test_what_a_cast_leaves_open_the_source_still_says() -> None:
    table = _Table()
    source = TensorType(table.tensor("n, 4").shape, F32, 2, "cuda:0")
    assert refine(TensorType(None, None, -1), source) == source
    assert refine(TensorType(None, I32, 2, "llvm:0"), source) == TensorType(source.shape, I32, 2, "llvm:0")
    scalar = TensorType(None, None, 0)
    assert refine(scalar, TensorType(None, F32, 3)).ndim == 0  # type: ignore[union-attr]
    target = table.tensor("m, 4", I32)
    assert refine(target, source) == TensorType(target.shape, I32, 2, "cuda:0")
    number = PrimType("int64", sympy.Integer(4))
    types: list[tuple[ValueType, ValueType, ValueType]] = [
        (PrimType("int64", None), number, number),
        (ANY, source, source),
        (target, ANY, target),
        (table.shape("n"), ANY, table.shape("n")),
        (TupleType((target,)), TupleType((source,)), TupleType((target,))),
    ]
    for to, given, expected in types:
        assert refine(to, given) == expected


def test_casts_between_types_of_any_two_kinds() -> None:
    table = _Table()
    types: list[ValueType] = [
        ANY,
        PrimType("int64", None),
        table.shape("n"),
        table.tensor("n"),
        TupleType((table.tensor("n"), table.shape("n"))),
        TupleType((table.tensor("n"), table.tensor("n"))),
        TupleType((table.tensor("n"),)),
    ]
    for declared, target in product(types, repeat=2):
        wanted = asked(table.symbols, declared, target)
        if not (isinstance(declared, TupleType) and isinstance(target, TupleType)):
            assert wanted in (target, OpaqueType())
        if declared == target:
            assert isinstance(wanted, OpaqueType)
        assert believed_facts(table.symbols, declared, target, ORIGIN) == []
