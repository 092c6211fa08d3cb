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
    device: str = ""

    def __str__(self) -> str:
        return self._written([str(extent) for extent in self.shape])

    @property
    def in_signature(self) -> str:
        """The type as a signature writes it, where symbols are texts."""
        return self._written([f'"{e}"' if isinstance(e, str) else str(e) for e in self.shape])

    @property
    def erased(self) -> str:
        """The type without its extents."""
        return f'R.Tensor(ndim={len(self.shape)}, dtype="{self.dtype}")'

    @property
    def is_static(self) -> bool:
        """Whether every extent is a number."""
        return all(isinstance(extent, int) for extent in self.shape)

    @property
    def extents(self) -> str:
        """The shape as a tuple."""
        return "(" + "".join(f"{extent}, " for extent in self.shape) + ")"

    def _written(self, extents: list[str]) -> str:
        shape = "".join(f"{extent}, " for extent in extents)
        device = f', "{self.device}"' if self.device else ""
        return f'R.Tensor(({shape}), "{self.dtype}"{device})'


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


@dataclass(frozen=True)
class Lambda:
    """The type of a function that is a value; `captures`: it uses what is outside of it, `erased`: its type
    says no extents.
    """

    parameters: tuple[Tensor, ...]
    result: Tensor
    captures: bool = False
    erased: bool = False

    def __str__(self) -> str:
        parameters = "".join(f"{parameter}, " for parameter in self.parameters)
        return f"R.Callable(({parameters}), {self.result}, True)"

    @property
    def in_signature(self) -> str:
        """The type as a signature writes it; its shapes are numbers."""
        return str(self)


Type: TypeAlias = "Tensor | Pair | Lambda"


@dataclass(frozen=True)
class Closure:
    """The body of a function inside a function. `erased` is its result, if its type says no extents."""

    parameters: tuple[tuple[str, Tensor], ...]
    statements: tuple[Statement, ...]
    result: str
    erased: Tensor | None = None


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
    closure: Closure | None = None

    def used(self) -> Iterator[str]:
        """Every value that the statement needs."""
        yield from self.operands
        if self.branches is not None:
            yield self.branches.condition
            for body, result in zip(self.branches.bodies, self.branches.results, strict=True):
                yield result
                for statement in body:
                    yield from statement.used()
        if self.closure is not None:
            yield self.closure.result
            for statement in self.closure.statements:
                yield from statement.used()

    def renamed(self, names: dict[str, str]) -> Statement:
        """The statement with other operands."""
        branches = self.branches
        if branches is not None:
            one, other = (tuple(s.renamed(names) for s in body) for body in branches.bodies)
            results = tuple(names.get(result, result) for result in branches.results)
            condition = names.get(branches.condition, branches.condition)
            branches = Branches(condition, (one, other), (results[0], results[1]))
        closure = self.closure
        if closure is not None:
            closure = replace(
                closure,
                statements=tuple(s.renamed(names) for s in closure.statements),
                result=names.get(closure.result, closure.result),
            )
        operands = tuple(names.get(name, name) for name in self.operands)
        return replace(self, operands=operands, branches=branches, closure=closure)


@dataclass(frozen=True)
class Function:
    """A Relax function; a private one returns the last of its values. `erased`: its type says no extents, its
    callers do.
    """

    name: str
    parameters: tuple[tuple[str, Type], ...]
    statements: tuple[Statement, ...]
    results: tuple[str, ...]
    result_type: Type | None = None
    private: bool = False
    dataflow: bool = True
    bound: int | None = None
    plans_output: bool = False
    erased: bool = False

    @property
    def declared_result(self) -> str:
        """The type of the result as the signature writes it."""
        assert self.result_type is not None
        if self.erased and isinstance(self.result_type, Tensor):
            return self.result_type.erased
        return self.result_type.in_signature


@dataclass(frozen=True)
class Program:
    """A module; `main` comes last. `extents` are the values of its symbol `n` in the calls."""

    functions: tuple[Function, ...]
    extents: tuple[int, ...] = (3,)

    @property
    def main(self) -> Function:
        """The function that is called."""
        return self.functions[-1]

    @property
    def symbol_value(self) -> int | None:
        """The first value of `n`; None where there is no `n`."""
        is_symbolic = any('"n"' in kind.in_signature for _, kind in self.main.parameters)
        return self.extents[0] if is_symbolic else None

    @property
    def has_closures(self) -> bool:
        """Whether a function is inside another one."""
        return any(statement.closure is not None for statement in self.statements)

    @property
    def has_devices(self) -> bool:
        """Whether a tensor is on a device that is named."""
        return any("llvm:" in f"{statement.type}{statement.template}" for statement in self.statements)

    @property
    def has_packed_aliases(self) -> bool:
        """Whether a packed function returns its argument, which then lives on."""
        return any("hunt.increment" in s.template or "hunt.same" in s.template for s in self.statements)

    @property
    def statements(self) -> list[Statement]:
        """Every statement."""
        return [s for function in self.functions for s in all_statements(function.statements)]


def without_unused(program: Program) -> Program:
    """The program without functions that nothing calls and statements that no result depends on: what a pass
    does to those is not seen.
    """
    functions = tuple(_needed(function) for function in program.functions)
    called = " ".join(s.template for function in functions for s in all_statements(function.statements))
    kept = (f for f in functions[:-1] if f"cls.{f.name}(" in called)
    return replace(program, functions=(*kept, functions[-1]))


def _needed(function: Function) -> Function:
    needed = set(function.results)
    kept: list[Statement] = []
    for statement in reversed(function.statements):
        if statement.name in needed:
            kept.append(statement)
            needed.update(statement.used())
    return replace(function, statements=tuple(reversed(kept)))


def all_statements(statements: tuple[Statement, ...]) -> Iterator[Statement]:
    """Statements and those inside them."""
    for statement in statements:
        yield statement
        if statement.branches is not None:
            for body in statement.branches.bodies:
                yield from all_statements(body)
        if statement.closure is not None:
            yield from all_statements(statement.closure.statements)
