"""Totals of random programs against a replay with real objects: Python's own reference counts decide when a
storage dies, and a pool of real free lists decides what is obtained.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_lint.model.operations import (
    Alias,
    AllocStorage,
    AllocTensor,
    Block,
    GetItem,
    If,
    KernelCall,
    Kill,
    MakeTuple,
    Op,
    OperationId,
    View,
)
from relax_lint.model.program import Function, Origin, Program, Provenance, SymbolInfo, Value
from relax_lint.model.types import DType, OpaqueType, PrimType, TupleType, ValueType
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.compute import Totals, measure
from relax_lint.totals.quantities import evaluate
from relax_lint.vm.allocators import Allocator
from relax_lint.vm.builtins import SHAPE_HEAP, KillKind, Level, ViewKind
from relax_lint.vm.calls import CallKind

n, m = sympy.symbols("n m", integer=True)
BYTE = DType("uint8", 8)
ANY = OpaqueType()
PAGE = 64

constants = st.sampled_from([0, 1, 64, 65, 128, 200])
sizes = st.builds(
    lambda a, b, c: a * n + b * m + c,
    st.sampled_from([0, 0, 1, 4, 64]),
    st.sampled_from([0, 0, 0, 4]),
    constants,
)


class Builder:
    """A random function. Every value is an object or a pair of objects."""

    def __init__(self, draw: Any) -> None:
        self._draw = draw
        self._index = 0
        self.values: dict[int, Value] = {}

    def value(self, type_: ValueType = ANY) -> int:
        number = len(self.values)
        self.values[number] = Value(number, f"v{number}", type_)
        return number

    def place(self) -> OperationId:
        self._index += 1
        return OperationId(f"op{self._index}", self._index - 1)

    def block(self, known: list[int], pairs: list[int], length: int, depth: int) -> Block:
        return Block(tuple(self.op(known, pairs, depth) for _ in range(length)))

    def op(self, known: list[int], pairs: list[int], depth: int) -> Op:
        kinds = ["storage"] * 3
        kinds += ["tensor", "alias", "view", "pair", "kill", "kill", "kill"] if known else []
        kinds += ["get", "kill pair"] if pairs else []
        kinds += ["if"] if depth and known else []
        kind = self._draw(st.sampled_from(kinds))
        if kind == "storage":
            size = sympy.sympify(self._draw(sizes))
            known.append(self.value())
            return AllocStorage(self.place(), known[-1], Level.MEMORY, size, (size,), BYTE, 0, "global")
        if kind in ("get", "kill pair"):
            pair = self._draw(st.sampled_from(pairs))
            if kind == "kill pair":
                return Kill(self.place(), self.value(), KillKind.OBJECT, pair)
            known.append(self.value())
            return GetItem(self.place(), known[-1], pair, self._draw(st.integers(0, 1)))
        source = self._draw(st.sampled_from(known))
        if kind == "kill":
            return Kill(self.place(), self.value(), KillKind.OBJECT, source)
        if kind == "if":
            return self.branches(known, pairs, depth)
        if kind == "pair":
            pairs.append(self.value(TupleType((ANY, ANY))))
            return MakeTuple(self.place(), pairs[-1], (source, self._draw(st.sampled_from(known))))
        known.append(self.value())
        if kind == "tensor":
            zero = sympy.Integer(0)
            return AllocTensor(
                self.place(), known[-1], Level.MEMORY, source, zero, (zero,), BYTE, zero, 0, "global"
            )
        if kind == "alias":
            return Alias(self.place(), known[-1], source)
        return View(self.place(), known[-1], ViewKind.RESHAPE, source, sympy.Integer(0), ANY)

    def branches(self, known: list[int], pairs: list[int], depth: int) -> If:
        place, condition = self.place(), self.value()
        sides = []
        for _ in range(2):
            inner, inner_pairs = list(known), list(pairs)
            block = self.block(inner, inner_pairs, self._draw(st.integers(0, 5)), depth - 1)
            sides.append((block, self._draw(st.sampled_from(inner))))
        known.append(self.value())
        (then, then_result), (other, other_result) = sides
        return If(place, known[-1], condition, then, other, then_result, other_result, (), ())


@st.composite
def functions(draw: Any) -> Function:
    builder = Builder(draw)
    slots = builder.value(PrimType("int64", sympy.Integer(2)))
    # A shape heap: a lowered function, whose kills are final.
    heap = KernelCall(builder.place(), builder.value(), CallKind.BUILTIN, SHAPE_HEAP, (slots,), ANY)
    known: list[int] = []
    body = builder.block(known, [], draw(st.integers(1, 14)), 2)
    return Function(
        module=None,
        name="main",
        location=None,
        attributes=None,
        parameters=(),
        constants=(),
        values=builder.values,
        symbols=tuple(SymbolInfo(symbol, Provenance.EXTENT, Origin("x"), True) for symbol in (n, m)),
        bounds=(),
        facts=(),
        body=Block((heap, *body.ops)),
        result=known[-1] if known else heap.result,
        num_input=None,
        private=False,
    )


# -- the replay -------------------------------------------------------------------------------


class Device:
    """What an allocator obtains: naive gives back at once, pooled never."""

    def __init__(self, allocator: Allocator) -> None:
        self.pooled = allocator is Allocator.POOLED
        self.held = self.most = 0
        self.free: dict[int, int] = defaultdict(int)

    def obtain(self, size: int) -> int:
        if self.pooled:
            size = (size + PAGE - 1) // PAGE * PAGE
            if self.free[size]:
                self.free[size] -= 1
                return size
        self.held += size
        self.most = max(self.most, self.held)
        return size

    def give_back(self, size: int) -> None:
        if self.pooled:
            self.free[size] += 1
        else:
            self.held -= size


@dataclass(eq=False)
class Storage:
    device: Device
    size: int

    def __post_init__(self) -> None:
        self.size = self.device.obtain(self.size)

    def __del__(self) -> None:
        self.device.give_back(self.size)


def replay(function: Function, allocator: Allocator, binding: dict[str, int]) -> int:
    """The most that is obtained on any path."""
    most = 0
    pending: list[list[bool]] = [[]]
    while pending:
        decisions = pending.pop()
        device = Device(allocator)
        taken: list[bool] = []
        registers: dict[int, Any] = {}
        names: dict[int, int] = {}
        run(function.body, registers, names, device, decisions, taken, binding)
        most = max(most, device.most)
        pending += [[*taken[:i], False] for i in range(len(decisions), len(taken))]
    return most


def run(
    block: Block,
    registers: dict[int, Any],
    names: dict[int, int],
    device: Device,
    decisions: list[bool],
    taken: list[bool],
    binding: dict[str, int],
) -> None:
    def read(value: int) -> Any:
        return registers.get(names.get(value, value))

    def build(item: int) -> int:
        return names.get(item, item)

    for op in block.ops:
        if isinstance(op, KernelCall):
            registers[op.result] = Storage(device, 16)
        elif isinstance(op, AllocStorage):
            registers[op.result] = Storage(device, evaluate(sympy.sympify(op.size), binding))
        elif isinstance(op, AllocTensor):
            assert op.storage is not None
            registers[op.result] = [read(op.storage)]
        elif isinstance(op, View):
            registers[op.result] = [read(op.source)]
        elif isinstance(op, Alias):
            names[op.result] = build(op.source)
        elif isinstance(op, MakeTuple):
            registers[op.result] = tuple(read(item) for item in op.items)
            names_of_fields[op.result] = tuple(build(item) for item in op.items)
        elif isinstance(op, GetItem):
            names[op.result] = names_of_fields[op.tuple][op.item]
        elif isinstance(op, Kill):
            registers.pop(build(op.target), None)
        elif isinstance(op, If):
            position = len(taken)
            taken.append(decisions[position] if position < len(decisions) else True)
            side = taken[position]
            inner = op.then_block if side else op.else_block
            run(inner, registers, names, device, decisions, taken, binding)
            registers[op.result] = read(op.then_result if side else op.else_result)


names_of_fields: dict[int, tuple[int, ...]] = {}
"""The registers that the fields of each pair were built from: TVM reads a field of a known tuple from there."""


def check(function: Function, bindings: list[dict[str, int]]) -> None:
    program = Program(None, (function,), 1)
    formulas = measure(program, function, page_size=PAGE)
    for binding in bindings:
        bound: Totals = measure(program, function, page_size=PAGE, binding=binding)
        for allocator in Allocator:
            expected = replay(function, allocator, binding)
            assert bound.reserved[allocator] == expected
            formula = formulas.reserved[allocator]
            if not isinstance(formula, Unknown):
                assert evaluate(sympy.sympify(formula), binding) == expected
            else:
                assert allocator is Allocator.POOLED


bindings = st.lists(
    st.fixed_dictionaries(
        {"n": st.sampled_from([0, 1, 2, 16, 17, 50]), "m": st.sampled_from([0, 1, 16, 33])}
    ),
    min_size=3,
    max_size=3,
)


@settings(max_examples=40, deadline=None)
@given(functions(), bindings)
def test_totals_of_random_programs_are_what_a_replay_obtains(
    function: Function, chosen: list[dict[str, int]]
) -> None:
    check(function, chosen)


@pytest.mark.slow
@settings(max_examples=5000, deadline=None)
@given(functions(), bindings)
def test_totals_of_many_random_programs_are_what_a_replay_obtains(
    function: Function, chosen: list[dict[str, int]]
) -> None:
    check(function, chosen)
