"""Lowered functions that go on with one of several shape heaps, as plain data, and their TVMScript.

`main` and the signature of its arguments are those of `program`. The other functions get heaps and tuples of them
before these arguments, and return one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from .program import PUT, SLOTS, Allocate, Compute, Match, kernel, lines_of

Kind: TypeAlias = "str | tuple[Kind, ...]"
"""What a value is: `HEAP`, `TENSOR`, or a tuple of such."""
HEAP, TENSOR = "heap", "tensor"
ALIASES = ("alias", "cast", "copy", "reshape", "folded")
"""How a heap gets another name; `folded`: by way of two axes."""


@dataclass(frozen=True)
class New:
    """A heap."""

    name: str
    slots: int


@dataclass(frozen=True)
class On:
    """Something that uses one heap."""

    heap: str
    step: Match | Compute | Allocate


@dataclass(frozen=True)
class Again:
    """Another name of a value, in one of `ALIASES`; tuples get the first."""

    name: str
    source: str
    way: str


@dataclass(frozen=True)
class Pack:
    """A tuple."""

    name: str
    items: tuple[str, ...]


@dataclass(frozen=True)
class Unpack:
    """A field of a tuple."""

    name: str
    source: str
    index: int


@dataclass(frozen=True)
class Put:
    """A call of `PUT`, which writes one slot of every heap that it is given."""

    name: str
    value: str
    slot: int


@dataclass(frozen=True)
class Body:
    """Some steps, and the value that they give."""

    steps: tuple[Step, ...]
    result: str


@dataclass(frozen=True)
class Choose:
    """`if c:`, which gives the value of one of two branches."""

    name: str
    then: Body
    other: Body


@dataclass(frozen=True)
class Call:
    """A call of a function of the module."""

    name: str
    function: str
    arguments: tuple[str, ...]


Step: TypeAlias = New | On | Again | Pack | Unpack | Put | Choose | Call


@dataclass(frozen=True)
class Function:
    """A function of the module, which calls only those before it."""

    name: str
    parameters: tuple[tuple[str, Kind], ...]
    body: Body
    kind: Kind
    """That of its result."""
    private: bool


@dataclass(frozen=True)
class Several:
    """A program."""

    functions: tuple[Function, ...]
    steps: tuple[Step, ...]


def walk(program: Several) -> Iterator[Step]:
    """Every step, those of branches and functions included."""
    pending = [*program.steps, *(step for function in program.functions for step in function.body.steps)]
    while pending:
        step = pending.pop()
        yield step
        if isinstance(step, Choose):
            pending += (*step.then.steps, *step.other.steps)


def smaller(program: Several) -> Iterator[Several]:
    """The program without one function, or one step. Some of these use what is not there."""
    for at, function in enumerate(program.functions):
        before, behind = program.functions[:at], program.functions[at + 1 :]
        yield replace(program, functions=(*before, *behind))
        for steps in _fewer(function.body.steps):
            less = replace(function, body=replace(function.body, steps=steps))
            yield replace(program, functions=(*before, less, *behind))
    for steps in _fewer(program.steps):
        yield replace(program, steps=steps)


def _fewer(steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    for at, step in enumerate(steps):
        yield (*steps[:at], *steps[at + 1 :])
        if isinstance(step, Choose):
            for then in _fewer(step.then.steps):
                less = replace(step, then=replace(step.then, steps=then))
                yield (*steps[:at], less, *steps[at + 1 :])
            for other in _fewer(step.other.steps):
                less = replace(step, other=replace(step.other, steps=other))
                yield (*steps[:at], less, *steps[at + 1 :])


# -- text -------------------------------------------------------------------------------------

_ARGUMENTS = (
    'x: R.Tensor("float32", ndim=1), z: R.Tensor("float32", ndim=1), s: R.Shape(["k"]),'
    ' c: R.Tensor((), "bool")'
)


def text(program: Several) -> str:
    """The program as a TVMScript file."""
    used = [step.step for step in walk(program) if isinstance(step, On)]
    lines = [
        "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:",
        *(kernel(step) for step in used if isinstance(step, Compute)),
    ]
    for function in program.functions:
        given = "".join(f"{name}: {_type(kind)}, " for name, kind in function.parameters)
        lines += [
            f"    @R.function(pure=False{', private=True' if function.private else ''})",
            f"    def {function.name}({given}{_ARGUMENTS}) -> {_type(function.kind)}:",
            "        k = T.int64()",
            *_block(function.body.steps, "        "),
            f"        return {function.body.result}\n",
        ]
    lines += [
        "    @R.function(pure=False)",
        f"    def main({_ARGUMENTS}) -> R.Shape(ndim=1):",
        "        k = T.int64()",
        *_block(program.steps, "        "),
        "        return s",
    ]
    return "\n".join(lines) + "\n"


def _type(kind: Kind) -> str:
    if isinstance(kind, tuple):
        return f"R.Tuple({', '.join(map(_type, kind))})"
    return 'R.Tensor("int64", ndim=1)' if kind == HEAP else 'R.Tensor("float32", ndim=1)'


def _block(steps: tuple[Step, ...], margin: str) -> list[str]:
    lines: list[str] = []
    for step in steps:
        if isinstance(step, Choose):
            for head, body in (("if c:", step.then), ("else:", step.other)):
                lines += [margin + head, *_block(body.steps, margin + "    ")]
                lines.append(f"{margin}    {step.name} = {body.result}")
        else:
            lines += [margin + line for line in _lines(step)]
    return lines


def _lines(step: New | On | Again | Pack | Unpack | Put | Call) -> list[str]:
    if isinstance(step, On):
        return lines_of(step.step, step.heap)
    if isinstance(step, Again):
        return _again(step)
    return [f"{step.name} = {_value(step)}"]


def _value(step: New | Pack | Unpack | Put | Call) -> str:
    if isinstance(step, New):
        given = f"(R.prim_value({step.slots}),), ty_args=[{_type(HEAP)}]"
        return f'R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", {given})'
    if isinstance(step, Pack):
        return f"({', '.join(step.items)},)"
    if isinstance(step, Unpack):
        return f"{step.source}[{step.index}]"
    if isinstance(step, Put):
        return f'R.call_packed("{PUT}", {step.value}, R.prim_value({step.slot}), ty_args=[R.Tuple])'
    return f"Module.{step.function}({', '.join((*step.arguments, 'x', 'z', 's', 'c'))})"


def _again(step: Again) -> list[str]:
    name, source = step.name, step.source
    if step.way == "alias":
        return [f"{name} = {source}"]
    if step.way == "cast":
        return [f'{name} = R.match_cast({source}, R.Tensor(({SLOTS},), "int64"))']
    if step.way == "copy":
        return [f'{name} = R.call_packed("vm.builtin.copy", {source}, ty_args=[{_type(HEAP)}])']
    if step.way == "reshape":
        return [f"{name} = {_reshaped(source, str(SLOTS))}"]
    return [
        f"{name}_r = {_reshaped(source, f'2, {SLOTS // 2}')}",
        f"{name} = {_reshaped(f'{name}_r', str(SLOTS))}",
    ]


def _reshaped(source: str, axes: str) -> str:
    made = f'ty_args=[R.Tensor(({axes},), dtype="int64")]'
    return f'R.call_packed("vm.builtin.reshape", {source}, R.shape([{axes}]), {made})'
