"""What a body is made of: operators, in-place calls, casts, branches, inner functions, devices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from tools.hunt.operators import FAMILIES, VIEWS
from tools.hunt.operators.base import floats, numbers, of, static, tensors
from tools.hunt.operators.calls import increment_template, packed_increment_template
from tools.hunt.program import Branches, Closure, Function, Lambda, Pair, Statement, Tensor, Type
from tools.hunt.scope import Scope, placed

Maker: TypeAlias = Callable[[Scope], None]
DEPTH = 2
"""How deep Ifs are nested."""
DEVICES = ("llvm:0", "llvm:1")


def operator(scope: Scope) -> None:
    """An operator of some family, on one device."""
    device = scope.any_device()
    weights = [weight for weight, _ in FAMILIES]
    _, make = scope.random.choices(FAMILIES, weights)[0]
    choice = make(scope.on_device(device), scope.random)
    if choice is None:
        return
    template, operands, kind = choice
    # What has no operands is on the device that has no name.
    kind = placed(kind, device if operands else "")
    scope.add(Statement(next(scope.names), kind, template, operands), make.__name__ in VIEWS)


def _overwritable(scope: Scope, *, is_static: bool) -> tuple[str, Tensor] | None:
    """A tensor that a right program may overwrite; a constant is no such memory."""
    constants = {s.name for s in scope.statements if s.template.startswith("R.const")}
    found = [name for name in scope.consumable(static=is_static) if not scope.memory[name] & constants]
    if not found:
        return None
    name = scope.random.choice(found)
    return name, of(scope.values, name)


def in_place(scope: Scope) -> None:
    """A kernel that overwrites its argument."""
    found = _overwritable(scope, is_static=False)
    if found is not None:
        name, kind = found
        template = increment_template(kind)
        scope.add(Statement(next(scope.names), kind, template, (name,), consumes=True), shares=True)


def packed_in_place(scope: Scope) -> None:
    """A packed function that overwrites its argument."""
    found = _overwritable(scope, is_static=False)
    if found is not None:
        name, kind = found
        template = packed_increment_template(kind)
        statement = Statement(next(scope.names), kind, template, (name,), flow=False, consumes=True)
        scope.add(statement, shares=True)


def packed(scope: Scope) -> None:
    """A packed function that may do anything: it returns its argument, or something new."""
    found = floats(scope.values)
    if found:
        name = scope.random.choice(found)
        callee = scope.random.choice(("hunt.same", "hunt.twice"))
        template = f'R.call_packed("{callee}", {{0}}, ty_args={scope.values[name]})'
        scope.add(
            Statement(next(scope.names), scope.values[name], template, (name,), flow=False), shares=True
        )


def cast(scope: Scope) -> None:
    """A tensor with a symbol for the number of its rows."""
    found = tensors(scope.values, lambda kind: kind.dtype == "float32" and len(kind.shape) == 2)
    if found:
        name = scope.random.choice(found)
        kind = of(scope.values, name)
        symbol = _symbol(scope)
        to = replace(kind, shape=(symbol, kind.shape[1]))
        template = f"R.match_cast({{0}}, {to})"
        scope.add(Statement(next(scope.names), to, template, (name,), symbols=(symbol,)), shares=True)


def unknown(scope: Scope) -> None:
    """An operator whose result has a shape that only the run tells, with symbols for it."""
    found = [name for name in static(scope.on_device(""), 2) if of(scope.values, name).shape == (4, 4)]
    if not found:
        return
    rows = _symbol(scope)
    bounds = scope.random.choice((("[1, 0]", "[3, 4]", 4), ("[0, 0]", "[4, 4]", 4), ("[2, 1]", "[4, 4]", 3)))
    begin, end, columns = bounds
    template, kind = scope.random.choice(
        (
            (
                f'R.dynamic_strided_slice({{0}}, R.const({begin}, "int64"), R.const({end}, "int64"), '
                'R.const([1, 1], "int64"))',
                Tensor((rows, columns)),
            ),
            ("R.unique(R.floor({0}))", Tensor((rows,))),
            ("R.nonzero({0})", Tensor((2, rows), "int64")),
        )
    )
    template = f"R.match_cast({template}, {kind})"
    name = scope.random.choice(found)
    scope.add(Statement(next(scope.names), kind, template, (name,), symbols=(rows,)), shares=False)


def _symbol(scope: Scope) -> str:
    return f"m{next(scope.names)[1:]}"


def moved(scope: Scope) -> None:
    """A tensor on another device."""
    found = numbers(scope.values)
    if found:
        name = scope.random.choice(found)
        device = scope.random.choice(DEVICES)
        kind = replace(of(scope.values, name), device=device)
        template = f'R.to_vdevice({{0}}, "{device}")'
        # To where it is already is no copy.
        scope.add(Statement(next(scope.names), kind, template, (name,)), shares=True)


def call_of(callee: Function) -> Maker:
    """A call of a function of the module."""
    assert callee.result_type is not None
    result = callee.result_type

    def call(scope: Scope) -> None:
        operands: list[str] = []
        given: list[str] = []
        for _, kind in callee.parameters:
            fields = [_of_type(scope, one) for one in (kind.fields if isinstance(kind, Pair) else (kind,))]
            if None in fields:
                return
            places = [f"{{{len(operands) + number}}}" for number, _ in enumerate(fields)]
            operands += [one for one in fields if one is not None]
            given.append(f"({', '.join(places)})" if isinstance(kind, Pair) else places[0])
        template = f"cls.{callee.name}({', '.join(given)})"
        if callee.erased:
            template = f"R.match_cast({template}, {result})"
        scope.add(Statement(next(scope.names), result, template, tuple(operands)), shares=True)

    return call


def _of_type(scope: Scope, wanted: Type) -> str | None:
    found = [name for name, kind in scope.values.items() if kind == wanted]
    return scope.random.choice(found) if found else None


def closure(scope: Scope) -> None:
    """A function inside the function, which may use what is outside."""
    inner = scope.inner()
    inner.values = {
        name: kind
        for name, kind in inner.values.items()
        if isinstance(kind, Tensor) and kind.is_static and not kind.device
    }
    if scope.random.random() < 0.3:
        inner.values = {}
    parameter, kind = next(scope.names), Tensor((4, 4))
    inner.parameter(parameter, kind)
    is_erased = scope.random.random() < 0.3
    if is_erased:
        template = f"R.match_cast({{0}}, {kind})"
        inner.add(Statement(next(scope.names), kind, template, (parameter,)), shares=True)
        del inner.values[parameter]
    for _ in range(scope.random.randint(1, 3)):
        operator(inner)
    found = floats({name: inner.values[name] for name in inner.values if name in inner.own})
    if not found:
        return
    result = of(inner.values, found[-1])
    erased = result if is_erased else None
    body = Closure(((parameter, kind),), tuple(inner.statements), found[-1], erased)
    outside = {name for statement in inner.statements for name in statement.used()} & set(scope.memory)
    to = Lambda((kind,), result, captures=bool(outside), erased=is_erased)
    scope.add(Statement(next(scope.names), to, "", closure=body), shares=True)


def applied(scope: Scope) -> None:
    """A call of a function that is a value."""
    functions = [(name, kind) for name, kind in scope.values.items() if isinstance(kind, Lambda)]
    if not functions:
        closure(scope)
        return
    name, kind = scope.random.choice(functions)
    operands = [_of_type(scope, parameter) for parameter in kind.parameters]
    given = [operand for operand in operands if operand is not None]
    if len(given) == len(operands):
        places = ", ".join(f"{{{number + 1}}}" for number, _ in enumerate(given))
        template = f"{{0}}({places})"
        if kind.erased:
            template = f"R.match_cast({template}, {kind.result})"
        statement = Statement(next(scope.names), kind.result, template, (name, *given))
        scope.add(statement, shares=True)
        if kind.captures and not kind.erased:
            # LambdaLift forgets the type of what such a function returns: nothing can be done with it.
            scope.only_returned.append(statement.name)
            del scope.values[statement.name]


def branch(scope: Scope, depth: int = DEPTH) -> None:
    """An If, which may have others inside."""
    bodies, kinds = [], []
    for _ in range(2):
        inner = scope.inner()
        for _ in range(scope.random.randint(1, 4)):
            operator(inner)
        if scope.random.random() < 0.2:
            in_place(inner)
        if depth > 1 and scope.random.random() < 0.3:
            branch(inner, depth - 1)
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
    branches = Branches("c", (bodies[0], bodies[1]), (one, other))
    statement = Statement(next(scope.names), kind, "", (), flow=False, branches=branches)
    scope.add(statement, shares=False)
    # What a branch returns may be a value from outside.
    for name in set(statement.used()) & set(scope.memory):
        shared = scope.memory[name] | scope.memory[statement.name]
        for member in shared:
            scope.memory[member] = shared
