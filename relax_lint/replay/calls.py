"""Arguments for a function of which some symbols are given, from the types in its signature."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice, product
from math import prod
from typing import Any

import sympy

from relax_lint.analysis.divisors import divided
from relax_lint.analysis.domains import domains_of, entry_domain
from relax_lint.model.operations import Alias, MatchCast, ValueId
from relax_lint.model.program import Function
from relax_lint.model.types import DType, PrimType, ShapeType, TensorType, TupleType, ValueType
from relax_lint.replay.cases import Case, Sought
from relax_lint.replay.values import Input, Scalar, Shape, Tensor, Tuple
from relax_lint.settings.config import Config
from relax_lint.symbolic.domain import Domain
from relax_lint.symbolic.evaluation import compile_condition, compile_expr
from relax_lint.symbolic.printing import expr_text
from relax_lint.symbolic.prover import ProverChain
from relax_lint.symbolic.questions import DomainIndex

MAX_ARGUMENT_BYTES = 2**28
"""Calls with larger arguments are not made."""

_LIKELY = (4, 3, 2, 8, 5, 6, 7, 16, 12, 32, 64, 1, 0)
_MAX_BRANCHES = 8


class NotCallableError(Exception):
    """The function cannot be called with arguments of ours; the text says why."""


class Calls:
    """The calls of one function."""

    def __init__(self, function: Function, config: Config) -> None:
        self._function = function
        self._trusting = config.trust_declared_bounds
        self._chain = ProverChain(max_extent=config.max_extent)
        self._given = dict(_learned_types(function))

    def case(self, sought: Sought) -> Case:
        """What to run to show a finding."""
        try:
            return self._case(sought)
        except NotCallableError as error:
            return Case(sought.number, reason=str(error))

    def _case(self, sought: Sought) -> Case:
        if "." in self._function.name:
            raise NotCallableError("an inner function cannot be called")
        if self._function.private:
            raise NotCallableError("a private function cannot be called")
        if sought.wrong is None:
            raise NotCallableError("no wrong example is known")
        trusted = self._domain(sought.binding_index, trusting=self._trusting)
        wrong = self._arguments(sought.wrong, trusted)
        fine: tuple[tuple[str, ...], ...] = ()
        if sought.fine is not None:
            fine = self._arguments(sought.fine, trusted)
        untrusting = self._domain(sought.binding_index, trusting=False)
        first = {}
        for allocator, assignment in sought.first_failures.items():
            try:
                first[allocator] = self._arguments(assignment, untrusting)[0]
            except NotCallableError:
                # Far away from zero the arguments may be too large; the example is what counts.
                continue
        names = tuple(self._function.values[value].name for value in self._function.parameters)
        return Case(sought.number, names, wrong, fine, first)

    def _domain(self, binding_index: int | None, *, trusting: bool) -> Domain:
        entry = entry_domain(self._function, trust_declared_bounds=trusting)
        domain = entry
        if binding_index is not None:
            domain = domains_of(self._function, entry).get(binding_index, entry)
        return domain.with_facts(divided(self._function))

    def _arguments(self, assignment: Mapping[str, int], domain: Domain) -> tuple[tuple[str, ...], ...]:
        values = self._completed(assignment, domain)
        types = [self._type_of(value) for value in self._function.parameters]
        determined = _determined(types)
        missing = [name for name in assignment if name not in determined]
        if missing:
            raise NotCallableError(f"no argument determines `{missing[0]}`")
        inputs = [
            _input(type_, values, self._function.values[value].name)
            for type_, value in zip(types, self._function.parameters, strict=True)
        ]
        if sum(map(_bytes, inputs)) > MAX_ARGUMENT_BYTES:
            raise NotCallableError(f"the arguments would need {sum(map(_bytes, inputs)):,} bytes")
        return tuple(dict.fromkeys(tuple(map(str, variant)) for variant in _variants(inputs)))

    def _type_of(self, value: ValueId) -> ValueType:
        known = self._function.values[value].type
        learned = self._given.get(value)
        if isinstance(known, TensorType) and isinstance(learned, TensorType) and known.shape is None:
            return replace(learned, dtype=learned.dtype or known.dtype)
        if isinstance(known, ShapeType) and isinstance(learned, ShapeType) and known.extents is None:
            return learned
        return known

    def _completed(self, assignment: Mapping[str, int], domain: Domain) -> dict[sympy.Symbol, int]:
        """Values for all symbols: what the assignment leaves open is small, and as the facts allow."""
        values = {s: assignment[s.name] for s in domain.symbols if s.name in assignment}
        index = DomainIndex(domain)
        connected = [*index.components(), *(frozenset((s,)) for s in domain.symbols)]
        facts = [fact.condition for fact in domain.facts]
        found = self._chain.satisfiable(domain) or {}
        for symbols in connected:
            open_ = sorted(symbols - values.keys(), key=lambda s: str(s.name))
            if not open_:
                continue
            concerned = [c for c in facts if c.free_symbols & symbols]
            for value in _LIKELY:
                attempt = {**values, **dict.fromkeys(open_, value)}
                if all(_holds(condition, attempt) for condition in concerned):
                    values = attempt
                    break
            else:
                values |= {s: found.get(s.name, 1) for s in open_}
        return values


def _holds(condition: Any, values: Mapping[sympy.Symbol, int]) -> bool:
    symbols = tuple(sorted(condition.free_symbols, key=lambda s: str(s.name)))
    if any(s not in values for s in symbols):
        return False
    return compile_condition(condition, symbols)(*(values[s] for s in symbols)) is True


def _learned_types(function: Function) -> Iterator[tuple[ValueId, ValueType]]:
    """What the match_casts of parameters say of them."""
    origin = {value: value for value in function.parameters}
    for op in function.body.walk():
        if isinstance(op, Alias) and op.source in origin:
            origin[op.result] = origin[op.source]
        if isinstance(op, MatchCast) and op.source in origin:
            origin[op.result] = origin[op.source]
            yield origin[op.source], op.type


def _determined(types: Iterable[ValueType]) -> set[str]:
    """The names of the symbols to which arguments of these types give a value."""
    found: set[str] = set()
    for type_ in types:
        if isinstance(type_, TensorType):
            found |= {str(s.name) for extent in type_.shape or () for s in extent.free_symbols}
        elif isinstance(type_, ShapeType):
            found |= {str(s.name) for extent in type_.extents or () for s in extent.free_symbols}
        elif isinstance(type_, PrimType) and type_.value is not None:
            found |= {str(s.name) for s in type_.value.free_symbols}
        elif isinstance(type_, TupleType):
            found |= _determined(type_.fields)
    return found


def _input(type_: ValueType, values: Mapping[sympy.Symbol, int], name: str) -> Input:
    if isinstance(type_, TensorType):
        shape = type_.shape
        if shape is None:
            extents: tuple[int, ...] = (4,) * max(type_.ndim, 0)
        else:
            extents = tuple(_value(extent, values) for extent in shape)
        if any(extent < 0 for extent in extents):
            raise NotCallableError(f"`{name}` would have a negative extent")
        return Tensor(_dtype(type_.dtype, name), extents)
    if isinstance(type_, ShapeType):
        if type_.extents is None:
            raise NotCallableError(f"the extents of the shape `{name}` are unknown")
        return Shape(tuple(_value(extent, values) for extent in type_.extents))
    if isinstance(type_, PrimType):
        if type_.dtype == "bool":
            return Scalar(False)
        if type_.value is None:
            return Scalar(1.0 if type_.dtype.startswith(("float", "bfloat")) else 1)
        return Scalar(_value(type_.value, values))
    if isinstance(type_, TupleType):
        return Tuple(tuple(_input(field, values, name) for field in type_.fields))
    raise NotCallableError(f"no argument can be made for `{name}: {type_.text}`")


def _value(extent: sympy.Expr, values: Mapping[sympy.Symbol, int]) -> int:
    symbols = tuple(sorted(extent.free_symbols, key=lambda s: str(s.name)))
    try:
        return int(compile_expr(extent, symbols)(*(values[s] for s in symbols)))
    except (KeyError, ZeroDivisionError, TypeError):
        raise NotCallableError(f"the extent `{expr_text(extent)}` has no value") from None


def _dtype(dtype: DType | None, name: str) -> str:
    if dtype is None:
        return "float32"
    if dtype.lanes != 1 or (dtype.bits % 8 and dtype.name != "bool"):
        raise NotCallableError(f"no tensor of `{dtype.name}` can be made for `{name}`")
    return dtype.name


def _bytes(value: Input) -> int:
    if isinstance(value, Tuple):
        return sum(map(_bytes, value.fields))
    return prod(value.extents) * 8 if isinstance(value, Tensor) else 0


def _variants(inputs: list[Input]) -> Iterator[list[Input]]:
    """The same arguments with other contents: each way through conditions that are arguments, then all
    elements equal, so that a tensor of indices points to where there is something.
    """
    conditions = [i for i, value in enumerate(inputs) if _is_condition(value)]
    choices = islice(product((True, False), repeat=len(conditions)), _MAX_BRANCHES)
    for chosen in choices:
        variant = list(inputs)
        for position, value in zip(conditions, chosen, strict=True):
            variant[position] = _condition(variant[position], value)
        yield variant
    for fill in (1, 0):
        yield [_filled(value, fill) for value in inputs]


def _is_condition(value: Input) -> bool:
    if isinstance(value, Tensor):
        return value.dtype == "bool" and not value.extents
    return isinstance(value, Scalar) and isinstance(value.value, bool)


def _condition(value: Input, chosen: bool) -> Input:
    return replace(value, fill=int(chosen)) if isinstance(value, Tensor) else Scalar(chosen)


def _filled(value: Input, fill: int) -> Input:
    if isinstance(value, Tuple):
        return Tuple(tuple(_filled(field, fill) for field in value.fields))
    return replace(value, fill=fill) if isinstance(value, Tensor) else value
