"""A random program as plain data: what the generator makes, the reducer shrinks and `text` writes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

Extent: TypeAlias = "int | str"
"""A number, or the name of a symbol."""


@dataclass(frozen=True)
class Tensor:
    """The type of a tensor."""

    shape: tuple[Extent, ...]
    dtype: str = "float32"

    def __str__(self) -> str:
        extents = "".join(f"{extent}, " for extent in self.shape)
        return f'R.Tensor(({extents}), "{self.dtype}")'

    @property
    def in_signature(self) -> str:
        """The type as a signature writes it, where symbols are texts."""
        extents = "".join(f'"{e}", ' if isinstance(e, str) else f"{e}, " for e in self.shape)
        return f'R.Tensor(({extents}), "{self.dtype}")'


@dataclass(frozen=True)
class Pair:
    """The type of a tuple of tensors."""

    fields: tuple[Tensor, ...]

    def __str__(self) -> str:
        return f"R.Tuple({', '.join(map(str, self.fields))})"

    @property
    def in_signature(self) -> str:
        """The type as a signature writes it."""
        return f"R.Tuple({', '.join(field.in_signature for field in self.fields)})"


Type: TypeAlias = "Tensor | Pair"


@dataclass(frozen=True)
class Branches:
    """The two bodies of an If; each ends with the value that is its result."""

    condition: str
    bodies: tuple[tuple[Statement, ...], tuple[Statement, ...]]
    results: tuple[str, str]


@dataclass(frozen=True)
class Statement:
    """`name = template`, with `{0}`, `{1}`, ... for the operands. `flow`: it may stand in a dataflow block.
    `consumes` are operands that are overwritten: nothing may use them, or what shares their memory, later.
    """

    name: str
    type: Type
    template: str
    operands: tuple[str, ...] = ()
    flow: bool = True
    consumes: bool = False
    branches: Branches | None = None
    symbols: tuple[str, ...] = ()

    def used(self) -> Iterator[str]:
        """Every value that the statement needs."""
        yield from self.operands
        if self.branches is not None:
            yield self.branches.condition
            for body, result in zip(self.branches.bodies, self.branches.results, strict=True):
                yield result
                for statement in body:
                    yield from statement.used()

    def renamed(self, names: dict[str, str]) -> Statement:
        """The statement with other operands."""
        branches = self.branches
        if branches is not None:
            one, other = (tuple(s.renamed(names) for s in body) for body in branches.bodies)
            results = tuple(names.get(result, result) for result in branches.results)
            condition = names.get(branches.condition, branches.condition)
            branches = Branches(condition, (one, other), (results[0], results[1]))
        return replace(
            self, operands=tuple(names.get(name, name) for name in self.operands), branches=branches
        )


@dataclass(frozen=True)
class Function:
    """A Relax function; a private one returns the last of its values."""

    name: str
    parameters: tuple[tuple[str, Type], ...]
    statements: tuple[Statement, ...]
    results: tuple[str, ...]
    result_type: Type | None = None
    private: bool = False
    dataflow: bool = True
    bound: int | None = None


@dataclass(frozen=True)
class Program:
    """A module; `main` comes last. `extents` are the values of its symbol `n` in the calls."""

    functions: tuple[Function, ...]
    extents: tuple[int, ...] = (3,)

    @property
    def main(self) -> Function:
        """The function that is called."""
        return self.functions[-1]


def text(program: Program) -> str:
    """The program as TVMScript."""
    lines = [
        "from tvm.script import ir as I",
        "from tvm.script import relax as R",
        "from tvm.script import tirx as T",
        "",
        "",
        "@I.ir_module",
        "class Module:",
        *_kernels(program),
    ]
    for function in program.functions:
        lines += [f"    {line}".rstrip() for line in _function(function)]
    return "\n".join(lines) + "\n"


def without_unused(program: Program) -> Program:
    """The program without statements that no result depends on: what a pass does to those is not seen."""
    return replace(program, functions=tuple(_needed(function) for function in program.functions))


def _needed(function: Function) -> Function:
    needed = set(function.results)
    kept: list[Statement] = []
    for statement in reversed(function.statements):
        if statement.name in needed:
            kept.append(statement)
            needed.update(statement.used())
    return replace(function, statements=tuple(reversed(kept)))


def kernel_name(tensor: Tensor) -> str:
    """The name of the in-place kernel for tensors of this type."""
    return "_".join(("increment", *map(str, tensor.shape)))


def _kernels(program: Program) -> Iterator[str]:
    types = {
        kernel_name(s.type): s.type
        for function in program.functions
        for s in _all(function.statements)
        if s.consumes and "cls." in s.template and isinstance(s.type, Tensor)
    }
    for name, tensor in sorted(types.items()):
        axes = [f"i{axis}" for axis in range(len(tensor.shape))]
        kinds = "S" * len(axes)
        extents = ", ".join(f"T.int64({extent})" for extent in tensor.shape)
        loops = f"T.grid({extents})" if len(axes) > 1 else f"range({extents})"
        blocked = ", ".join(f"v{axis}" for axis in axes)
        yield "    @T.prim_func(private=True, s_tir=True)"
        yield f'    def {name}(values: T.Buffer(({extents},), "float32")):'
        yield f"        for {', '.join(axes)} in {loops}:"
        yield '            with T.sblock("increment"):'
        yield f'                {blocked} = T.axis.remap("{kinds}", [{", ".join(axes)}])'
        yield f"                values[{blocked}] = values[{blocked}] + T.float32(1)"
        yield ""


def _all(statements: tuple[Statement, ...]) -> Iterator[Statement]:
    for statement in statements:
        yield statement
        if statement.branches is not None:
            for body in statement.branches.bodies:
                yield from _all(body)


def _function(function: Function) -> Iterator[str]:
    pure = all(
        s.flow or s.branches is not None or "inplace_packed" not in s.template
        for s in _all(function.statements)
    )
    options = [*(["private=True"] if function.private else []), *([] if pure else ["pure=False"])]
    yield f"@R.function({', '.join(options)})" if options else "@R.function"
    parameters = ", ".join(f"{name}: {kind.in_signature}" for name, kind in function.parameters)
    result = f" -> {function.result_type.in_signature}" if function.result_type is not None else ""
    yield f"def {function.name}({parameters}){result}:"
    if function.bound is not None:
        yield f'    R.func_attr({{"tir_var_upper_bound": {{"n": {function.bound}}}}})'
    if any('"n"' in kind.in_signature for _, kind in function.parameters):
        yield "    n = T.int64()"
    for statement in _all(function.statements):
        for symbol in statement.symbols:
            yield f"    {symbol} = T.int64()"
    if any("cls." in statement.template for statement in _all(function.statements)):
        yield "    cls = Module"
    yield from _body(function)
    results = function.results
    yield f"    return {results[0]}" if len(results) == 1 else f"    return ({', '.join(results)})"
    yield ""


def _body(function: Function) -> Iterator[str]:
    waiting = list(function.statements)
    while waiting:
        if not function.dataflow or not waiting[0].flow:
            yield from (f"    {line}" for line in _statement(waiting.pop(0)))
            continue
        block = []
        while waiting and waiting[0].flow:
            block.append(waiting.pop(0))
        needed = {name for statement in waiting for name in statement.used()}.union(function.results)
        outputs = [s.name for s in block if s.name in needed] or [block[-1].name]
        yield "    with R.dataflow():"
        for statement in block:
            yield from (f"        {line}" for line in _statement(statement))
        yield f"        R.output({', '.join(outputs)})"


def _statement(statement: Statement) -> Iterator[str]:
    if statement.branches is None:
        yield f"{statement.name} = {statement.template.format(*statement.operands)}"
        return
    branches = statement.branches
    for head, body, result in zip(
        (f"if {branches.condition}:", "else:"), branches.bodies, branches.results, strict=True
    ):
        yield head
        for inner in body:
            yield from (f"    {line}" for line in _statement(inner))
        yield f"    {statement.name} = {result}"
