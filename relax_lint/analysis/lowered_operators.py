"""What becomes of operators: which kernel, and which of their arguments the kernels that TVM makes of them
take at their data pointer, and refuse elsewhere.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, TypeAlias

import tvm
from tvm import relax

from relax_lint.analysis.made_views import operator_key
from relax_lint.analysis.paths import Paths
from relax_lint.model.builder import build_program
from relax_lint.model.kernels import BufferParameter, Kernel
from relax_lint.model.operations import Constant, GetItem, KernelCall, ValueId
from relax_lint.model.program import Function, Program
from relax_lint.model.types import PrimType, ValueType
from relax_lint.support.lazy_dataclass import record
from relax_lint.vm import reshapes, versions
from relax_lint.vm.calls import CallKind

Path: TypeAlias = tuple[int, ...]
"""A parameter or an argument by its number, and which field of it, however deep."""

_HOST = "llvm"


@record(frozen=True)
class Lowered:
    """The arguments that a kernel takes at their data pointer alone. Where it `reshapes`, TVM may make a view
    in its place. Where one `kernel` is all that becomes of the operator, each argument is given to some of
    its parameters, others are given `constants` or `numbers`, and the results are those from `outputs` on.
    """

    taken: frozenset[Path] = frozenset()
    reshapes: bool = False
    kernel: Kernel | None = None
    given: Mapping[Path, frozenset[int]] = field(default_factory=dict)
    outputs: int = 0
    constants: Mapping[int, tuple[ValueType, Any]] = field(default_factory=dict)
    numbers: Mapping[int, PrimType] = field(default_factory=dict)


class LoweredOperators:
    """Asked of one program; operators that are alike are lowered once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, tuple[int, ...]], Lowered] = {}

    def of(self, call: KernelCall) -> Lowered:
        """What becomes of the call of an operator; nothing where that cannot be tried."""
        given = [identity for _, identity in _values(call.place.node.args[:])]
        # `x + x` is cut out with one parameter, `x + y` with two.
        key = operator_key(call), tuple(map(given.index, given))
        if key not in self._known:
            self._known[key] = _lowered(call)
        return self._known[key]


def _lowered(call: KernelCall) -> Lowered:
    try:
        program = build_program(_alone(call))
    except Exception:
        # What cannot be cut out is judged where it has become a kernel.
        return Lowered()
    main = next(function for function in program.functions if function.name == "main")
    numbers = {identity: number for number, identity in enumerate(reshapes.variables(call.place.node))}
    values = list(_values(call.place.node.args[:]))
    only = _only_kernel(main, program)
    at = _positions(only[1]) if only else {}
    named = {main.parameters[number]: identity for identity, number in numbers.items()}
    named |= {value: versions.identity(node) for value, node in main.constant_nodes.items()}
    given = dict[Path, frozenset[int]]()
    for path, identity in values:
        positions = [at[value] for value in at if named.get(value) == identity]
        if positions:
            given[path] = frozenset[int]().union(*positions)
    reshaped = any(kernel.is_reshape for kernel in program.kernels.values())
    taken = set(_taken(main, program))
    found = (
        (*path, *fields)
        for path, identity in values
        for parameter, *fields in taken
        if numbers.get(identity) == parameter
    )
    own = {identity for _, identity in values}
    return Lowered(
        frozenset(found),
        reshaped,
        only[0] if only else None,
        given,
        len(only[1].arguments) if only else 0,
        {
            position: (main.type_of(value), node)
            for value, node in _constants(main).items()
            if versions.identity(node) not in own
            for position in at.get(value, ())
        },
        dict(_numbers(main, only[1])) if only else {},
    )


def _positions(call: KernelCall) -> Mapping[ValueId, frozenset[int]]:
    """At which positions a kernel is given each value."""
    found = defaultdict[ValueId, set[int]](set)
    for position, argument in enumerate(call.arguments):
        found[argument].add(position)
    return {value: frozenset(positions) for value, positions in found.items()}


def _only_kernel(main: Function, program: Program) -> tuple[Kernel, KernelCall] | None:
    """The kernel that is called, and its call, where nothing else is done with tensors that it is given."""
    calls = list(main.body.of(KernelCall))
    if len(calls) != 1 or calls[0].kind is not CallKind.CALL_TIR:
        return None
    kernel = program.kernels.get(calls[0].callee)
    given = set(calls[0].arguments)
    numbers = (calls[0].arguments[at] for at, _ in _numbers(main, calls[0]))
    if kernel is None or not given <= {*main.parameters, *_constants(main), *numbers}:
        return None
    return kernel, calls[0]


def _numbers(main: Function, call: KernelCall) -> Iterator[tuple[int, PrimType]]:
    """The numbers that a kernel is given, by their positions."""
    for position, argument in enumerate(call.arguments):
        type_ = main.type_of(argument)
        if isinstance(type_, PrimType):
            yield position, type_


def _constants(main: Function) -> Mapping[ValueId, Any]:
    """The constants of a function, those without a name too, and their nodes."""
    return {**{op.result: op.place.node for op in main.body.of(Constant)}, **main.constant_nodes}


def _values(expressions: Iterable[Any]) -> Iterator[tuple[Path, int]]:
    """The variables and constants among arguments, by their identities."""
    for number, expression in enumerate(expressions):
        kind = versions.kind(expression)
        if kind in ("Var", "Constant"):
            yield (number,), versions.identity(expression)
        elif kind == "Tuple":
            for path, identity in _values(expression.fields[:]):
                yield (number, *path), identity


def _alone(call: KernelCall) -> Any:
    module = reshapes.alone(call.place.node)
    # Sorts and samplings are kernels before the others.
    passes = (
        relax.backend.DispatchSampling,
        relax.backend.DispatchSortScan,
        relax.transform.LegalizeOps,
    )
    with warnings.catch_warnings(), tvm.transform.PassContext(), tvm.target.Target(_HOST):
        warnings.simplefilter("ignore")
        for make in passes:
            module = make()(module)
    return module


def _taken(main: Function, program: Program) -> Iterator[Path]:
    paths = Paths(main)
    for call in main.body.of(KernelCall):
        kernel = program.kernels.get(call.callee) if call.kind is CallKind.CALL_TIR else None
        for argument, parameter in zip(call.arguments, kernel.parameters if kernel else (), strict=False):
            if isinstance(parameter, BufferParameter) and parameter.offset == 0:
                yield from _parameter(argument, main, paths)


def _parameter(value: ValueId, main: Function, paths: Paths) -> Iterator[Path]:
    """The parameter that a value is, or whose field."""
    fields: Path = ()
    while isinstance(op := paths.definitions.get(value), GetItem):
        value, fields = op.tuple, (op.item, *fields)
    if value in main.parameters:
        yield (main.parameters.index(value), *fields)
