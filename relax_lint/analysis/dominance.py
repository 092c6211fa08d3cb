"""Which uses are not preceded by what they use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from relax_lint.analysis.certainty import Certainty, must_if
from relax_lint.analysis.liveness import leaves, registers_read, values_read
from relax_lint.analysis.paths import Paths
from relax_lint.model.operations import Constant, If, Op, ValueId
from relax_lint.model.program import Function, Program
from relax_lint.model.types import PrimType
from relax_lint.support.lazy_dataclass import record


@record(frozen=True)
class UndominatedUse:
    """`op` (None: the result) uses `value`, which `definition` (None: nothing that is known) makes elsewhere.

    `MUST`: no path to the use passes the definition. `inside` names the inner function that makes it.
    `early`: the text defines it, but only further down, which TVM's passes refuse.
    """

    op: Op | None
    value: ValueId
    definition: Op | None
    certainty: Certainty
    inside: str | None = None
    early: bool = False

    @property
    def is_certain(self) -> bool:
        """Whether that is so on every path."""
        return self.certainty is Certainty.MUST


def outer_function(program: Program, function: Function) -> Function | None:
    """The function inside of which another one is written."""
    name = function.name.rpartition(".")[0]
    return next((outer for outer in program.functions if outer.name == name), None)


def captured_values(program: Program, function: Function) -> frozenset[ValueId]:
    """The values of the functions around an inner function that it may use: an inner function starts with
    the values that its outer one has bound so far, under the same ids.
    """
    outer = outer_function(program, function)
    if outer is None:
        return frozenset()
    paths = Paths(outer)
    made = outer.body.of(Constant)
    here = next((op for op in made if outer.function_values.get(op.result) == function.name), None)
    if here is None:
        return frozenset()
    before = [
        value
        for value, op in paths.definitions.items()
        if op.place.index < here.place.index and paths.always_with(op, here)
    ]
    own = Paths(function).definitions.keys() | set(function.parameters)
    bound = captured_values(program, outer).union(before, outer.parameters, outer.constants)
    return bound - own


def used_inside(program: Program, outer: Function, name: str = "") -> frozenset[ValueId]:
    """The values of a function that the functions inside of it use; with a `name` the one of these that is
    called so, and those inside of that.
    """
    if not name.startswith(f"{outer.name}.") and name:
        return frozenset()
    found: frozenset[ValueId] = frozenset()
    for function in _inner_functions(program):
        if f"{function.name}.".startswith(f"{name or outer.name}.") and function is not outer:
            # A function counts its values on from those that it may use: its own have the numbers of others.
            used, around = values_read(function), function
            while around is not outer:
                used &= captured_values(program, around)
                around = outer_function(program, around) or outer
            found |= used
    return found


def _inner_functions(program: Program) -> tuple[Function, ...]:
    """The functions that are written inside of others; found out once."""
    if _inner_functions not in program.kept:
        program.kept[_inner_functions] = tuple(one for one in program.functions if "." in one.name)
    found: tuple[Function, ...] = program.kept[_inner_functions]
    return found


def uses_of_outer(program: Program, function: Function) -> bool:
    """Whether an inner function uses a value of a function around it, constants apart."""
    captured, outer = captured_values(program, function), outer_function(program, function)
    while outer is not None:
        captured, outer = captured.difference(outer.constants), outer_function(program, outer)
    if not captured:
        return False
    return not captured.isdisjoint(values_read(function))


def undominated_uses(
    program: Program, function: Function, paths: Paths, captured: frozenset[ValueId]
) -> Iterable[UndominatedUse]:
    """Every use of a value that is not bound by then: one walk over the operations."""
    known = captured.union(function.parameters, function.constants, function.inline_tuples)
    if _is_in_order(function, known, paths):
        return
    inner = _inner_definitions(program, function)
    bound = {op.place.binding: op.place.index for op in function.body.walk()}
    for op in (*function.body.walk(), None):
        for value in dict.fromkeys(_used(op, function)):
            if value in known:
                continue
            definition = paths.definitions.get(value)
            if definition is None:
                early = op is not None and bound.get(function.values[value].name, -1) >= op.place.index
                yield from _unbound(op, value, function, inner, early=early)
            elif not _precedes(definition, op, paths):
                early = op is not None and definition.place.index >= op.place.index
                never = early or (op is not None and paths.never_with(definition, op))
                yield UndominatedUse(op, value, definition, must_if(never), early=early)


def _is_in_order(function: Function, known: frozenset[ValueId], paths: Paths) -> bool:
    """Whether there are no branches, and every variable that is used is known or was bound before: so it is
    in nearly all functions, and takes one look at each operation.
    """
    if function.body.of(If):
        return False
    # A scalar that no operation makes is a symbol.
    variables = (
        number
        for number, value in function.values.items()
        if value.name and (not isinstance(value.type, PrimType) or number in paths.definitions)
    )
    unbound = set(variables) - known
    for op in function.body.ops:
        if not unbound.isdisjoint(registers_read(op, function)):
            return False
        unbound.discard(op.result)
    return unbound.isdisjoint(_used(None, function))


def _used(op: Op | None, function: Function) -> tuple[ValueId, ...]:
    if op is None:
        return leaves((function.result,), function)
    return registers_read(op, function)


def _precedes(definition: Op, op: Op | None, paths: Paths) -> bool:
    return paths.always_with(definition, op) and (op is None or definition.place.index < op.place.index)


def _unbound(
    op: Op | None, value: ValueId, function: Function, inner: Mapping[str, tuple[str, Op]], *, early: bool
) -> Iterable[UndominatedUse]:
    """A variable that is undefined in the function. Values written in place have no name, and scalars are
    symbols, which have rules of their own.
    """
    name = function.values[value].name
    if not name or isinstance(function.type_of(value), PrimType):
        return
    inside, definition = inner.get(name, (None, None))
    yield UndominatedUse(op, value, definition, Certainty.MUST, inside, early)


def _inner_definitions(program: Program, function: Function) -> dict[str, tuple[str, Op]]:
    """What the functions written inside of the same outermost function bind, by name."""
    prefix = f"{function.name.partition('.')[0]}."
    return {
        op.place.binding: (inner.name.removeprefix(prefix), op)
        for inner in program.functions
        if inner.name.startswith(prefix) and inner.name != function.name
        for op in inner.body.walk()
    }
