"""Random programs. A program is right by TVM's own rules: what an in-place call overwrites is used by nothing
later, neither by its name nor by a name that may stand for the same memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from tools.hunt.operators import (
    FAMILIES,
    VIEWS,
    Choice,
    Values,
    increment_template,
    packed_increment_template,
    tensors,
)
from tools.hunt.program import Branches, Function, Program, Statement, Tensor, Type, without_unused

STATEMENTS = 14
"""How many statements `main` has, about."""


def generate(seed: int) -> Program:
    """The program of a seed."""
    random = Random(seed)
    names = (f"v{number}" for number in range(10_000))
    functions = []
    if random.random() < 0.35:
        functions.append(_private(random, names))
    functions.append(_main(random, names, tuple(functions)))
    symbolic = any("n" in str(kind) for _, kind in functions[-1].parameters)
    extents = tuple(sorted(random.sample((1, 2, 3, 5, 8), 2))) if symbolic else (3,)
    return without_unused(Program(tuple(functions), extents))


@dataclass
class _Scope:
    """What a body may use. `memory`: what may share the memory of a name; `own` was made here."""

    random: Random
    names: Iterator[str]
    values: Values = field(default_factory=dict)
    memory: dict[str, set[str]] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)
    statements: list[Statement] = field(default_factory=list)

    def inner(self) -> _Scope:
        """The scope of a branch."""
        copied = {name: set(shared) for name, shared in self.memory.items()}
        return _Scope(self.random, self.names, dict(self.values), copied)

    def parameter(self, name: str, kind: Type) -> None:
        self.values[name] = kind
        self.memory[name] = {name}

    def add(self, statement: Statement, shares: bool) -> None:
        """Add a statement; `shares`: its result may share the memory of its operands."""
        name = statement.name
        self.statements.append(statement)
        self.own.add(name)
        group = {name}
        if shares:
            for operand in statement.operands:
                group |= self.memory.get(operand, {operand})
        for member in group:
            self.memory[member] = group
        if statement.consumes:
            for member in group - {name}:
                self.values.pop(member, None)
        self.values[name] = statement.type

    def consumable(self, static: bool) -> list[str]:
        """Tensors of this body whose memory nothing shares that came from outside."""
        return tensors(
            {name: self.values[name] for name in self.values if self.memory[name] <= self.own},
            lambda kind: (
                kind.dtype == "float32"
                and len(kind.shape) > 0
                and (not static or all(isinstance(extent, int) for extent in kind.shape))
            ),
        )


def _operator(scope: _Scope) -> None:
    weights = [weight for weight, _, _ in FAMILIES]
    _, family, make = scope.random.choices(FAMILIES, weights)[0]
    choice: Choice = make(scope.values, scope.random)
    if choice is not None:
        template, operands, kind = choice
        scope.add(Statement(next(scope.names), kind, template, operands), family in VIEWS)


def _overwritable(scope: _Scope, *, static: bool) -> tuple[str, Tensor] | None:
    """A tensor that a right program may overwrite; a constant is no such memory."""
    constants = {s.name for s in scope.statements if s.template.startswith("R.const")}
    found = [name for name in scope.consumable(static=static) if not scope.memory[name] & constants]
    if not found:
        return None
    name = scope.random.choice(found)
    kind = scope.values[name]
    assert isinstance(kind, Tensor)
    return name, kind


def _in_place(scope: _Scope) -> None:
    found = _overwritable(scope, static=True)
    if found is not None:
        name, kind = found
        scope.add(
            Statement(next(scope.names), kind, increment_template(kind), (name,), consumes=True), shares=True
        )


def _packed_in_place(scope: _Scope) -> None:
    found = _overwritable(scope, static=False)
    if found is not None:
        name, kind = found
        template = packed_increment_template(kind)
        scope.add(
            Statement(next(scope.names), kind, template, (name,), flow=False, consumes=True), shares=True
        )


def _cast(scope: _Scope) -> None:
    found = tensors(scope.values, lambda kind: kind.dtype == "float32" and len(kind.shape) == 2)
    if found:
        name = scope.random.choice(found)
        kind = scope.values[name]
        assert isinstance(kind, Tensor)
        symbol = f"m{next(scope.names)[1:]}"
        to = Tensor((symbol, kind.shape[1]))
        template = f"R.match_cast({{0}}, {to})"
        scope.add(Statement(next(scope.names), to, template, (name,), symbols=(symbol,)), shares=True)


def _call(scope: _Scope, callee: Function) -> None:
    assert callee.result_type is not None
    operands = []
    for _, kind in callee.parameters:
        found = [name for name, other in scope.values.items() if other == kind]
        if not found:
            return
        operands.append(scope.random.choice(found))
    given = ", ".join(f"{{{number}}}" for number in range(len(operands)))
    template = f"cls.{callee.name}({given})"
    scope.add(Statement(next(scope.names), callee.result_type, template, tuple(operands)), shares=True)


def _if(scope: _Scope) -> None:
    bodies, results, kinds = [], [], []
    for _ in range(2):
        inner = scope.inner()
        for _ in range(scope.random.randint(1, 4)):
            _operator(inner)
        if scope.random.random() < 0.2:
            _in_place(inner)
        bodies.append(tuple(inner.statements))
        kinds.append([(s.name, s.type) for s in inner.statements if s.name in inner.values])
    pairs = [
        (one, other, kind)
        for one, kind in kinds[0]
        for other, same in kinds[1]
        if same == kind and isinstance(kind, Tensor)
    ]
    if not pairs:
        return
    one, other, kind = scope.random.choice(pairs)
    results = [one, other]
    branches = Branches("c", (bodies[0], bodies[1]), (results[0], results[1]))
    statement = Statement(next(scope.names), kind, "", (), flow=False, branches=branches)
    scope.add(statement, shares=False)
    # What a branch returns may be a value from outside.
    for name in set(statement.used()) & set(scope.memory):
        shared = scope.memory[name] | scope.memory[statement.name]
        for member in shared:
            scope.memory[member] = shared


def _private(random: Random, names: Iterator[str]) -> Function:
    scope = _Scope(random, names)
    scope.parameter("p", Tensor((4, 4)))
    for _ in range(random.randint(1, 4)):
        _operator(scope)
    if random.random() < 0.3:
        _in_place(scope)
    found = tensors({name: scope.values[name] for name in scope.values if name in scope.own}) or ["p"]
    result = found[-1]
    kind = scope.values[result]
    return Function(
        "inner",
        (("p", Tensor((4, 4))),),
        tuple(scope.statements),
        (result,),
        kind,
        private=random.random() < 0.7,
    )


def _main(random: Random, names: Iterator[str], callees: tuple[Function, ...]) -> Function:
    scope = _Scope(random, names)
    parameters: list[tuple[str, Type]] = [("x", Tensor((4, 4))), ("y", Tensor((4,)))]
    if random.random() < 0.4:
        parameters.append(("z", Tensor(("n", 4))))
    if random.random() < 0.35:
        parameters.append(("c", Tensor((), "bool")))
    for name, kind in parameters:
        scope.parameter(name, kind)
    for _ in range(random.randint(4, STATEMENTS)):
        kind_of = random.random()
        if kind_of < 0.2:
            _in_place(scope)
        elif kind_of < 0.23:
            _packed_in_place(scope)
        elif kind_of < 0.26:
            _cast(scope)
        elif kind_of < 0.34 and callees:
            _call(scope, callees[0])
        elif kind_of < 0.4 and "c" in scope.values:
            _if(scope)
        else:
            _operator(scope)
    live = [name for name in scope.values if name in scope.own and name != "c"] or ["x"]
    chosen = sorted(set(live[-2:] + random.sample(live, min(2, len(live)))), key=live.index)
    bound = 8 if random.random() < 0.5 and len(parameters) > 2 and parameters[2][0] == "z" else None
    return Function(
        "main",
        tuple(parameters),
        tuple(scope.statements),
        tuple(chosen),
        dataflow=random.random() < 0.85,
        bound=bound,
    )
