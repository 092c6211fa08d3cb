"""Programs as plain data, and their TVMScript.

`main(x: float32[n], y: float32[4], c: bool)` places tensors on storages, at any byte, and hands them on: to functions of the
module, inner functions that capture them, closures, tuples, branches, recursions and packed functions. An extent is a text,
or None where the program does not say how many elements a tensor has. `repr` of a program is Python that makes it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from textwrap import indent
from typing import TypeAlias

from tests.oracle.handed.kernels import ABOVE, KERNELS, kernel

FIRST = "relax_lint.oracle.handed.first"
"""A packed function that returns its first argument."""
KEEP, KEPT, FILL_KEPT = (f"relax_lint.oracle.handed.{name}" for name in ("keep", "kept", "fill_kept"))
"""Packed functions that keep what they are given and return it, that return what was kept last, and that write it."""
TWINS = "relax_lint.oracle.handed.twins"
"""One with two outputs of four elements (`R.call_dps_packed`): its argument, and as many times 8."""

VECTOR, FOUR, FLAG = 'R.Tensor("float32", ndim=1)', 'R.Tensor((4,), "float32")', 'R.Tensor((), "bool")'


@dataclass(frozen=True)
class Store:
    """A storage of so many bytes."""

    name: str
    size: str


@dataclass(frozen=True)
class Place:
    """A tensor on a storage; `flag`: a bool without axes."""

    name: str
    storage: str
    offset: int
    extent: str
    flag: bool = False


@dataclass(frozen=True)
class Kernel:
    """A call of a PrimFunc with all of its buffers."""

    name: str
    kernel: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Output:
    """`R.call_tir`: the last buffer is a new tensor."""

    name: str
    kernel: str
    arguments: tuple[str, ...]
    extent: str


@dataclass(frozen=True)
class InPlace:
    """`R.call_tir_inplace`, which declares to overwrite its first argument."""

    name: str
    kernel: str
    arguments: tuple[str, ...]
    extent: str


@dataclass(frozen=True)
class Rename:
    """Another name; `view`: what `R.memory.view` makes of all of it, with the extent `extent`."""

    name: str
    source: str
    view: str | None = None


@dataclass(frozen=True)
class Pair:
    """A tuple of values, closures included; `made`: by the VM, so that the extents of its tensors are not known."""

    name: str
    items: tuple[str, ...]
    made: bool = False


@dataclass(frozen=True)
class Field:
    """A field of a tuple."""

    name: str
    tuple: str
    index: int


@dataclass(frozen=True)
class Call:
    """A call of a function of the module, or (`inner`) of one inside of this one."""

    name: str
    function: str
    arguments: tuple[str, ...]
    inner: bool = False


@dataclass(frozen=True)
class Closure:
    """`R.make_closure` of a function of the module; what it holds comes behind what it is called with."""

    name: str
    function: str
    held: tuple[str, ...]


@dataclass(frozen=True)
class Invoke:
    """`R.invoke_closure`."""

    name: str
    closure: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Packed:
    """A call of an unknown packed function, `FIRST` say, with a declared extent."""

    name: str
    function: str
    arguments: tuple[str, ...]
    extent: str | None = None


@dataclass(frozen=True)
class Cast:
    """`R.match_cast` to a shape of one extent: a new symbol, or a number."""

    name: str
    source: str
    extent: str


@dataclass(frozen=True)
class Kill:
    """`R.memory.kill_tensor`."""

    name: str
    target: str


@dataclass(frozen=True)
class Assert:
    """`R.assert_op` of a tensor, which shows others."""

    name: str
    condition: str
    shown: tuple[str, ...]


@dataclass(frozen=True)
class Branch:
    """`if c:`; each branch gives a value."""

    name: str
    then: tuple[Step, ...]
    then_result: str
    other: tuple[Step, ...]
    other_result: str


@dataclass(frozen=True)
class Function:
    """A function of the module, or one inside of `main`. `types` are those of the parameters: `4`, `own` (a symbol of its
    own), `any`, or `closure` of one parameter. `recursive`: where `c` holds it does nothing but call itself where `c` does
    not hold. One of the module gets `c` behind its parameters, and may be `private`.
    """

    name: str
    parameters: tuple[str, ...]
    types: tuple[str, ...]
    steps: tuple[Step, ...]
    result: str
    recursive: bool = False
    private: bool = False


Step: TypeAlias = (
    Store | Place | Kernel | Output | InPlace | Rename | Pair | Field | Call | Closure | Invoke | Packed
    | Cast | Kill | Assert | Branch | Function
)  # fmt: skip


@dataclass(frozen=True)
class Program:
    """Functions of the module, and the steps and results of `main`."""

    functions: tuple[Function, ...]
    steps: tuple[Step, ...]
    result: tuple[str, ...]

    @property
    def text(self) -> str:
        """The module as TVMScript."""
        return text(self)


def walk(steps: Sequence[Step]) -> Iterator[Step]:
    """Every step, those of branches and inner functions included."""
    for step in steps:
        yield step
        if isinstance(step, Branch):
            yield from walk((*step.then, *step.other))
        elif isinstance(step, Function):
            yield from walk(step.steps)


def all_steps(program: Program) -> Iterator[Step]:
    """Every step of every function."""
    yield from walk((*program.functions, *program.steps))


def smaller(program: Program) -> Iterator[Program]:
    """Programs without a step, a function or a result, some of which make no sense."""
    for steps in _without_one(program.steps):
        yield replace(program, steps=steps)
    for functions in _without_one(program.functions):
        yield replace(program, functions=tuple(f for f in functions if isinstance(f, Function)))
    for at in range(len(program.result) if len(program.result) > 1 else 0):
        yield replace(program, result=program.result[:at] + program.result[at + 1 :])


def _without_one(steps: Sequence[Step]) -> Iterator[tuple[Step, ...]]:
    for at, step in enumerate(steps):
        before, after = tuple(steps[:at]), tuple(steps[at + 1 :])
        yield (*before, *after)
        if isinstance(step, Branch):
            for then in _without_one(step.then):
                yield (*before, replace(step, then=then), *after)
            for other in _without_one(step.other):
                yield (*before, replace(step, other=other), *after)
            for side in (step.then, step.other):
                yield (*before, *side, *after)
        elif isinstance(step, Function):
            if step.recursive:
                yield (*before, replace(step, recursive=False), *after)
            for inside in _without_one(step.steps):
                yield (*before, replace(step, steps=inside), *after)
        elif isinstance(step, Assert) and step.shown:
            yield (*before, replace(step, shown=()), *after)


# -- text -------------------------------------------------------------------------------------


def text(program: Program) -> str:
    """The program as TVMScript."""
    called = {step.kernel for step in all_steps(program) if isinstance(step, Kernel | Output | InPlace)}
    parts = [kernel(name) for name in KERNELS if name in called]
    parts += [ABOVE] if "above" in called else []
    parts += [_function(function) for function in program.functions]
    result = program.result[0] if len(program.result) == 1 else f"({', '.join(program.result)})"
    head = f'\n@R.function(pure=False)\ndef main(x: R.Tensor(("n",), "float32"), y: {FOUR}, c: {FLAG}):\n    n = T.int64()\n'
    parts.append(head + _block(program.steps) + f"    return {result}\n")
    return "@I.ir_module\nclass Module:\n" + indent("".join(parts), "    ")


def _function(function: Function, *, inner: bool = False) -> str:
    kinds = {"4": FOUR, "any": VECTOR, "closure": "R.Object"}
    typed = [
        f"{name}: " + kinds.get(kind, f'R.Tensor(("{symbol(name)}",), "float32")')
        for name, kind in zip(function.parameters, function.types, strict=True)
    ]
    typed += [] if inner else [f"c: {FLAG}"]
    symbols = [
        symbol(name) for name, kind in zip(function.parameters, function.types, strict=True) if kind == "own"
    ]
    lines = "".join(f"    {name} = T.int64()\n" for name in symbols)
    body, result = _block(function.steps), function.result
    if function.recursive:
        arguments = ", ".join((*function.parameters, f"{function.name}_no"))
        again = f'{function.name}_no = R.const(False, "bool")\n{function.name}_v = Module.{function.name}({arguments})\n'
        then = indent(again + f"{function.name}_r = {function.name}_v\n", " " * 8)
        other = indent(body, "    ") + f"        {function.name}_r = {function.result}\n"
        body, result = f"    if c:\n{then}    else:\n{other}", f"{function.name}_r"
    private = "private=True, " * function.private
    head = f"\n@R.function({private}pure=False)\ndef {function.name}({', '.join(typed)}) -> {VECTOR}:\n"
    return f"{head}{lines}{body}    return {result}\n"


def symbol(parameter: str) -> str:
    """The extent of a parameter with a symbol of its own."""
    return f"e_{parameter}"


def _block(steps: Sequence[Step]) -> str:
    lines: list[str] = []
    for step in steps:
        if isinstance(step, Branch):
            for head, body, result in (
                ("if c:", step.then, step.then_result),
                ("else:", step.other, step.other_result),
            ):
                lines += [head, indent(_block(body), "") + f"    {step.name} = {result}"]
        elif isinstance(step, Function):
            lines.append(_function(step, inner=True).strip("\n"))
        else:
            lines += _lines(step)
    return indent("\n".join(lines), "    ") + "\n" if lines else ""


def _lines(step: Step) -> list[str]:
    if isinstance(step, Cast) and not step.extent.isdigit():
        return [f"{step.extent} = T.int64()", f"{step.name} = {_value(step)}"]
    typed = f": {VECTOR}" if isinstance(step, Call) and step.inner else ""
    return [f"{step.name}{typed} = {_value(step)}"]


def _tensor(extent: str | None) -> str:
    return VECTOR if extent is None else f'R.Tensor(({extent},), "float32")'


def _value(step: Step) -> str:
    found = {field.name: getattr(step, field.name) for field in fields(step)}
    given = ", ".join(found.get("arguments", found.get("items", ())))
    match step:
        case Store():
            return f'R.memory.alloc_storage(R.shape([{step.size}]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'
        case Place():
            shape, dtype = ("", "bool") if step.flag else (step.extent, "float32")
            return f'R.memory.alloc_tensor({step.storage}, R.prim_value({step.offset}), R.shape([{shape}]), R.dtype("{dtype}"))'
        case Kernel():
            return f"Module.{step.kernel}({given})"
        case Output():
            return f"R.call_tir(Module.{step.kernel}, ({given},), {_tensor(step.extent)})"
        case InPlace():
            return f"R.call_tir_inplace(Module.{step.kernel}, ({given},), [0], {_tensor(step.extent)})"
        case Rename():
            return (
                step.source if step.view is None else f"R.memory.view({step.source}, R.shape([{step.view}]))"
            )
        case Pair():
            types = ", ".join([VECTOR] * len(step.items))
            if step.made:
                return f'R.call_packed("vm.builtin.make_tuple", {given}, ty_args=R.Tuple({types}))'
            return f"({given})"
        case Field():
            return f"{step.tuple}[{step.index}]"
        case Call():
            return f"{step.function}({given})" if step.inner else f"Module.{step.function}({given}, c)"
        case Closure():
            held = ", ".join((*step.held, "c"))
            return f"R.make_closure(Module.{step.function}, ({held},))"
        case Invoke():
            given += "," * bool(given)
            return f"R.invoke_closure({step.closure}, ({given}), ty_args={VECTOR})"
        case Packed():
            if step.function == TWINS:
                return f'R.call_dps_packed("{TWINS}", ({given},), [{FOUR}, {FOUR}])'
            given += ", " * bool(given)
            return f'R.call_packed("{step.function}", {given}ty_args={_tensor(step.extent)})'
        case Cast():
            return f"R.match_cast({step.source}, {_tensor(step.extent)})"
        case Kill():
            return f"R.memory.kill_tensor({step.target})"
        case Assert():
            shown, form = ", ".join(step.shown), "{} " * len(step.shown)
            return f'R.assert_op({step.condition}, [{shown}], format="{form}")'
    raise TypeError(step)
