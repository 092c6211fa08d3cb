"""What the run-time checks of parameters and of `R.match_cast` tell about symbols."""

from __future__ import annotations

import sympy

from relax_lint.model.program import Origin, Provenance
from relax_lint.model.symbols import SymbolTable
from relax_lint.model.types import (
    OpaqueType,
    PrimType,
    ShapeType,
    TensorType,
    TupleType,
    ValueType,
    extents_of,
)
from relax_lint.symbolic.domain import INT64_MAX, INT64_MIN, Fact
from relax_lint.symbolic.printing import expr_text
from relax_lint.vm.facts import FactSource

_INTEGER_RANGES = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (INT64_MIN, INT64_MAX),
    "uint8": (0, 2**8 - 1),
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1),
}


def integer_range(value: sympy.Expr, dtype: str, origin: Origin) -> list[Fact]:
    """The range of a scalar by its dtype, which the VM does not check. Every symbol has that of int64."""
    limits = _INTEGER_RANGES.get(dtype)
    if limits is None or dtype == "int64":
        return []
    text = f"{limits[0]} <= {value} <= {limits[1]} ({dtype} {origin}, not checked)"
    inside = sympy.And(value >= limits[0], value <= limits[1])
    return [Fact.of(FactSource.SCALAR_RANGE, inside, text)]


def has_symbols(type_: ValueType) -> bool:
    """Whether a size in a type is more than a number: `facts_of_value` tells nothing of others."""
    if isinstance(type_, TupleType):
        return any(map(has_symbols, type_.fields))
    return not all(extent.is_Integer for extent in extents_of(type_))


def facts_of_value(
    symbols: SymbolTable, type_: ValueType, origin: Origin, *, in_signature: bool, checked: bool
) -> list[Fact]:
    """Facts that a value of a declared type gives: the symbols that it defines, and the sign of its extents.

    `checked` says whether the VM compares the value with the type (parameters after `num_input`
    are not compared; symbols are still read from them).
    """
    if isinstance(type_, TupleType):
        return [
            fact
            for field in type_.fields
            for fact in facts_of_value(symbols, field, origin, in_signature=in_signature, checked=checked)
        ]
    if isinstance(type_, TensorType) and type_.shape is not None:
        return _shape_facts(symbols, type_.shape, origin, in_signature=in_signature, checked=checked)
    if isinstance(type_, ShapeType) and type_.extents is not None:
        for extent in type_.extents:
            if isinstance(extent, sympy.Symbol):
                symbols.define(extent, Provenance.VALUE, origin, in_signature=in_signature)
    return []


def match_cast_facts(
    symbols: SymbolTable, known: ValueType | None, target: ValueType, origin: Origin
) -> list[Fact]:
    """Facts that hold after a match_cast. `known` is the type of the source where it can be trusted:
    a type that is merely claimed (of a packed call) says nothing about the symbols in it.
    """
    if isinstance(target, TupleType):
        fields: tuple[ValueType | None, ...] = (None,) * len(target.fields)
        if isinstance(known, TupleType) and len(known.fields) == len(target.fields):
            fields = known.fields
        return [
            fact
            for source, field in zip(fields, target.fields, strict=True)
            for fact in match_cast_facts(symbols, source, field, origin)
        ]
    if isinstance(target, TensorType) and target.shape is not None:
        facts = _equalities(
            symbols, known.shape if isinstance(known, TensorType) else None, target.shape, origin
        )
        return facts + _shape_facts(symbols, target.shape, origin, in_signature=False, checked=True)
    if isinstance(target, ShapeType) and target.extents is not None:
        source = known.extents if isinstance(known, ShapeType) else None
        facts = _equalities(symbols, source, target.extents, origin)
        return facts + facts_of_value(symbols, target, origin, in_signature=False, checked=True)
    return []


def is_checked(symbols: SymbolTable, declared: ValueType, target: ValueType) -> bool:
    """Whether the VM checks a cast of a value whose type is only declared.

    TVM believes that type: it drops a cast that the type proves, once each symbol of the target stands for
    the extent that is declared.
    """
    if isinstance(declared, TupleType) and isinstance(target, TupleType):
        pairs = zip(declared.fields, target.fields, strict=False)
        return all(is_checked(symbols, have, want) for have, want in pairs)
    if isinstance(declared, TensorType) and isinstance(target, TensorType):
        if target.shape is None:
            same_rank = target.ndim in (-1, declared.ndim)
            return not (same_rank and target.dtype in (None, declared.dtype))
        return _is_compared(symbols, declared.shape, target.shape)
    if isinstance(declared, ShapeType) and isinstance(target, ShapeType):
        return _is_compared(symbols, declared.extents, target.extents)
    return True


def asked(symbols: SymbolTable, declared: ValueType, target: ValueType) -> ValueType:
    """What a cast asks of a value whose type is only declared: where that type proves what is asked, nothing
    is (`OpaqueType`).
    """
    if isinstance(declared, TupleType) and isinstance(target, TupleType):
        if len(declared.fields) != len(target.fields):
            return target
        pairs = zip(declared.fields, target.fields, strict=True)
        fields = tuple(asked(symbols, have, want) for have, want in pairs)
        return TupleType(fields) if any(field != OpaqueType() for field in fields) else OpaqueType()
    if isinstance(declared, TensorType) and isinstance(target, TensorType):
        is_plain = target.dtype in (None, declared.dtype) and target.ndim in (-1, declared.ndim)
        return OpaqueType() if is_plain and not is_checked(symbols, declared, target) else target
    if isinstance(declared, PrimType) and isinstance(target, PrimType):
        return OpaqueType() if declared.dtype == target.dtype else target
    return target if is_checked(symbols, declared, target) else OpaqueType()


def _is_compared(
    symbols: SymbolTable, declared: tuple[sympy.Expr, ...] | None, target: tuple[sympy.Expr, ...] | None
) -> bool:
    if target is None or declared is None or len(declared) != len(target):
        return target is not None
    pairs = list(zip(declared, target, strict=True))
    if any(want.is_Symbol and symbols.is_defined(want) and have != want for have, want in pairs):
        return False
    return any(not want.is_Symbol and sympy.expand(have - want) != 0 for have, want in pairs)


def believed_facts(
    symbols: SymbolTable, declared: ValueType, target: ValueType, origin: Origin
) -> list[Fact]:
    """What holds after a cast that the VM does not check: a new symbol stands for the declared extent."""
    if isinstance(declared, TupleType) and isinstance(target, TupleType):
        pairs = zip(declared.fields, target.fields, strict=False)
        return [fact for have, want in pairs for fact in believed_facts(symbols, have, want, origin)]
    have, want = _extents(declared), _extents(target)
    facts = _equalities(symbols, have, want, origin) if want is not None else []
    for extent in want or ():
        if isinstance(extent, sympy.Symbol) and not symbols.is_defined(extent):
            symbols.define(extent, Provenance.VALUE, origin, in_signature=False)
    return facts


def _extents(type_: ValueType) -> tuple[sympy.Expr, ...] | None:
    if isinstance(type_, TensorType):
        return type_.shape
    return type_.extents if isinstance(type_, ShapeType) else None


def refine(target: ValueType, source: ValueType) -> ValueType:
    """The type after a cast: what the target leaves open, the source still says."""
    if isinstance(target, TensorType) and isinstance(source, TensorType):
        return TensorType(
            target.shape if target.shape is not None else source.shape,
            target.dtype or source.dtype,
            target.ndim if target.ndim >= 0 else source.ndim,
            target.device or source.device,
        )
    if isinstance(target, PrimType | OpaqueType):
        return source
    return target


def _shape_facts(
    symbols: SymbolTable,
    shape: tuple[sympy.Expr, ...],
    origin: Origin,
    *,
    in_signature: bool,
    checked: bool,
) -> list[Fact]:
    facts: list[Fact] = []
    for extent in shape:
        if isinstance(extent, sympy.Symbol):
            facts += symbols.define(extent, Provenance.EXTENT, origin, in_signature=in_signature)
    for extent in shape:
        if checked and not extent.is_Integer and not isinstance(extent, sympy.Symbol):
            facts += symbols.extent_facts(extent, origin)
    return facts


def _equalities(
    symbols: SymbolTable,
    source: tuple[sympy.Expr, ...] | None,
    target: tuple[sympy.Expr, ...],
    origin: Origin,
) -> list[Fact]:
    if source is None or len(source) != len(target):
        return []
    facts = []
    for have, want in zip(source, target, strict=True):
        if have == want:
            continue
        if isinstance(want, sympy.Symbol) and symbols.is_defined(want):
            # `CanonicalizeBindings` takes such a cast for the definition of the symbol and puts the extent
            # in its place everywhere: nothing is compared then.
            text = f"{expr_text(want)} == {expr_text(have)} ({origin}, which TVM may leave unchecked)"
            facts.append(Fact.of(FactSource.MATCH_CAST_SYMBOL, sympy.Eq(have, want), text))
        else:
            text = f"{expr_text(want)} == {expr_text(have)}"
            facts.append(symbols.fact(FactSource.MATCH_CAST, sympy.Eq(have, want), text, str(origin)))
    return facts
