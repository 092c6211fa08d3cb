"""Random programs. A program is right by TVM's own rules: what an in-place call overwrites is used by nothing
later, neither by its name nor by a name that may stand for the same memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from tools.hunt import bodies
from tools.hunt.operators.base import tensors
from tools.hunt.program import (
    Closure,
    Function,
    Lambda,
    Pair,
    Program,
    Statement,
    Tensor,
    Type,
    without_unused,
)
from tools.hunt.scope import Scope

STATEMENTS = 14
"""How many statements `main` has, about."""
SQUARE, VECTOR = Tensor((4, 4)), Tensor((4,))


def generate(seed: int) -> Program:
    """The program of a seed."""
    random = Random(seed)
    names = (f"v{number}" for number in range(10_000))
    functions = [_private(random, names, number) for number in range(random.choice((0, 0, 0, 1, 1, 2)))]
    if random.random() < 0.1:
        functions.append(random.choice((_making, _applying))(random, names))
    functions.append(_main(random, names, tuple(functions)))
    program = Program(tuple(functions))
    if program.symbol_value is not None:
        program = replace(program, extents=tuple(sorted(random.sample((1, 2, 3, 5, 8), 2))))
    return without_unused(program)


def _private(random: Random, names: Iterator[str], number: int) -> Function:
    """A function with one to three parameters, one of them perhaps a tuple, and one or two results."""
    scope = Scope(random, names)
    parameters: list[tuple[str, Type]] = [("p", SQUARE)]
    parameters += [("q", Pair((SQUARE, VECTOR)))] if random.random() < 0.3 else []
    parameters += [("r", VECTOR)] if random.random() < 0.3 else []
    for name, kind in parameters:
        scope.parameter(name, kind)
    for _ in range(random.randint(1, 4)):
        bodies.operator(scope)
    if random.random() < 0.3:
        bodies.in_place(scope)
    found = tensors({name: scope.values[name] for name in scope.values if name in scope.own}) or ["p"]
    results = tuple(dict.fromkeys(random.choices(found, k=2))) if random.random() < 0.3 else (found[-1],)
    kinds = [scope.values[result] for result in results]
    fields = tuple(kind for kind in kinds if isinstance(kind, Tensor))
    kind = fields[0] if len(fields) == 1 else Pair(fields)
    return Function(
        f"inner{number}",
        tuple(parameters),
        tuple(scope.statements),
        results,
        kind,
        private=random.random() < 0.7,
        erased=isinstance(kind, Tensor) and random.random() < 0.2,
    )


def _making(random: Random, names: Iterator[str]) -> Function:
    """A function that returns a function, which uses a parameter of it."""
    parameter, result = next(names), next(names)
    body = (Statement(result, SQUARE, "R.add({0}, {1})", (parameter, "p")),)
    made = Statement(
        "made", Lambda((SQUARE,), SQUARE), "", closure=Closure(((parameter, SQUARE),), body, result)
    )
    return Function("making", (("p", SQUARE),), (made,), ("made",), made.type, private=True, dataflow=False)


def _applying(random: Random, names: Iterator[str]) -> Function:
    """A function that calls a function that it is given."""
    kind = Lambda((SQUARE,), SQUARE)
    body = (Statement("applied", SQUARE, "{0}({1})", ("f", "p")),)
    return Function("applying", (("f", kind), ("p", SQUARE)), body, ("applied",), SQUARE, private=True)


def _main(random: Random, names: Iterator[str], callees: tuple[Function, ...]) -> Function:
    scope = Scope(random, names)
    parameters: list[tuple[str, Type]] = [("x", SQUARE), ("y", VECTOR)]
    parameters += [("z", Tensor(("n", 4)))] if random.random() < 0.4 else []
    parameters += [("c", Tensor((), "bool"))] if random.random() < 0.35 else []
    for name, kind in parameters:
        scope.parameter(name, kind)
    makers = _makers(random, scope, callees)
    for _ in range(random.randint(4, STATEMENTS)):
        random.choices([maker for _, maker in makers], [weight for weight, _ in makers])[0](scope)
    returned = [name for name, kind in scope.values.items() if not isinstance(kind, Lambda) and name != "c"]
    live = [name for name in returned if name in scope.own] + scope.only_returned or ["x"]
    chosen = sorted(set(live[-2:] + random.sample(live, min(2, len(live)))), key=live.index)
    bound = 8 if random.random() < 0.5 and "z" in scope.memory else None
    return Function(
        "main",
        tuple(parameters),
        tuple(scope.statements),
        tuple(chosen),
        dataflow=random.random() < 0.85,
        bound=bound,
        plans_output=bound is not None and random.random() < 0.3,
    )


def _makers(random: Random, scope: Scope, callees: tuple[Function, ...]) -> list[tuple[float, bodies.Maker]]:
    """What `main` is made of, by weight. Some things are in few programs, and then often."""
    makers: list[tuple[float, bodies.Maker]] = [
        (0.62, bodies.operator),
        (0.18, bodies.in_place),
        (0.03, bodies.packed_in_place),
        (0.02, bodies.packed),
        (0.03, bodies.cast),
        (0.03, bodies.unknown),
        *((0.1, bodies.call_of(callee)) for callee in callees),
    ]
    if "c" in scope.values:
        makers.append((0.08, bodies.branch))
    if random.random() < 0.12 or any(f.name in ("making", "applying") for f in callees):
        makers.append((0.2, bodies.applied))
        makers.append((0.1, bodies.closure))
    if random.random() < 0.1:
        makers.append((0.2, bodies.moved))
    return makers
