"""What a body may use while it is made, and what its values may share memory with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random

from tools.hunt.operators.base import Values, tensors
from tools.hunt.program import Lambda, Pair, Statement, Tensor, Type

WRITTEN = ("float32", "float32", "float16", "int32", "int8")
"""The types of numbers that in-place calls are for."""

UNKNOWN = "?"
"""Stands for memory that is not this body's own."""


@dataclass
class Scope:
    """`memory`: what may share the memory of a name; `own` was made here; `only_returned`: no operator
    takes them.
    """

    random: Random
    names: Iterator[str]
    values: Values = field(default_factory=dict)
    memory: dict[str, set[str]] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)
    statements: list[Statement] = field(default_factory=list)
    only_returned: list[str] = field(default_factory=list)

    def inner(self) -> Scope:
        """The scope of a branch."""
        copied = {name: set(shared) for name, shared in self.memory.items()}
        return Scope(self.random, self.names, dict(self.values), copied)

    def parameter(self, name: str, kind: Type) -> None:
        """Something that comes from outside."""
        self.values[name] = kind
        self.memory[name] = {name}

    def add(self, statement: Statement, shares: bool) -> None:
        """Add a statement; `shares`: its result may share the memory of its operands, and a function that of
        what it captures.
        """
        name = statement.name
        self.statements.append(statement)
        self.own.add(name)
        group = {name}
        if shares:
            for operand in (*statement.operands, *(statement.used() if statement.closure else ())):
                group |= self.memory.get(operand, set())
        if "hunt.same" in statement.template:
            # What a packed function returns is presumed to be new: nothing is said of writes into it.
            group.add(UNKNOWN)
        for member in group:
            self.memory[member] = group
        if statement.consumes:
            for member in group - {name}:
                self.values.pop(member, None)
            self.only_returned = [member for member in self.only_returned if member not in group]
        self.values[name] = statement.type

    def on_device(self, device: str) -> Values:
        """The values on one device."""
        return {name: kind for name, kind in self.values.items() if is_on(kind, device)}

    def any_device(self) -> str:
        """The device of some value."""
        return self.random.choice(
            [kind.device for kind in self.values.values() if isinstance(kind, Tensor)] or [""]
        )

    def consumable(self, *, static: bool) -> list[str]:
        """Tensors of this body whose memory nothing shares that came from outside."""
        return tensors(
            {name: self.values[name] for name in self.values if self.memory[name] <= self.own},
            lambda kind: (
                kind.dtype in WRITTEN
                and len(kind.shape) > 0
                and all(isinstance(e, int) or (e.isidentifier() and not static) for e in kind.shape)
            ),
        )


def is_on(kind: Type, device: str) -> bool:
    """Whether a value is on a device."""
    if isinstance(kind, Pair):
        return all(is_on(one, device) for one in kind.fields)
    return isinstance(kind, Tensor) and kind.device == device


def placed(kind: Type, device: str) -> Type:
    """The type on a device."""
    if isinstance(kind, Tensor):
        return replace(kind, device=device)
    if isinstance(kind, Pair):
        return Pair(tuple(replace(one, device=device) for one in kind.fields))
    assert isinstance(kind, Lambda)
    return kind
