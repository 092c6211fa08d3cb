"""One activation of a function on paper, and what was decided in it about conditions."""

from __future__ import annotations

from typing import TypeAlias

import sympy

from relax_lint.analysis import copies
from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.liveness import Releases
from relax_lint.model.operations import If, ValueId
from relax_lint.model.program import Function
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.evaluation import compile_condition
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.quantities import Indeterminate, Scope

Reference: TypeAlias = "int | tuple[Reference, ...] | None"
"""What an object keeps alive: one allocation (its number), those of its fields, or nothing."""

Register: TypeAlias = "tuple[Frame, ValueId]"
Memory: TypeAlias = "frozenset[int | Register]"
"""Where the bytes of a value are: allocations by number, and values that are memory of their own."""


class Frame:
    """One activation of a function: its registers and its symbols."""

    def __init__(self, function: Function, scope: Scope, aliases: Aliases, releases: Releases) -> None:
        self.function = function
        self.scope = scope
        self.aliases = aliases
        self.registers = aliases.registers
        self.tuples = function.inline_tuples
        self.releases = releases
        self.held: dict[ValueId, Reference] = {}
        self.arguments: dict[ValueId, Register] = {}

    def origin(self, value: ValueId) -> Register:
        """The register of a value, in the outermost frame that handed it down as an argument."""
        register = self.aliases.register(value)
        if register in self.arguments:
            frame, argument = self.arguments[register]
            return frame.origin(argument)
        return self, register

    def memory(self, value: ValueId, reference: Reference) -> Memory:
        """Where the bytes of a value are."""
        found: set[int | Register] = set(_numbers(reference))
        for root in self.aliases.roots_of(value):
            found |= self._owned(root)
            for storage in self.aliases.roots.storages.get(root, ()):
                found |= self._owned(storage)
        return frozenset(found)

    def is_moved(self, value: ValueId) -> bool:
        """Whether a tensor is certain to start where `ensure_zero_offset` copies it."""
        offset = self.aliases.offsets.of(value)
        if isinstance(offset, Unknown) or self.aliases.moves_pointers:
            return False
        try:
            found = self.scope.quantity(offset)
        except Indeterminate:
            return False
        return copies.is_certain(sympy.Integer(found) if isinstance(found, int) else found)

    def _owned(self, root: ValueId) -> Memory:
        if root in self.arguments:
            frame, argument = self.arguments[root]
            return frame.memory(argument, None)
        return frozenset(((self, root),))


def _numbers(reference: Reference) -> set[int]:
    found: set[int] = set()
    pending, seen = [reference], set[int]()
    while pending:
        one = pending.pop()
        if isinstance(one, int):
            found.add(one)
        elif one is not None and id(one) not in seen:
            # The same tuple may be in many others.
            seen.add(id(one))
            pending += one
    return found


@record(frozen=True)
class _Decision:
    taken: bool
    memory: Memory


class Decisions:
    """The branches that were taken, by the condition that chose them, until it is overwritten."""

    def __init__(self) -> None:
        self.made: dict[Register, _Decision] = {}
        """Empty where no branch was taken yet."""

    def __bool__(self) -> bool:
        return bool(self.made)

    def of(self, condition: Register) -> bool | None:
        """What was decided about a condition that still holds the same value."""
        known = self.made.get(condition)
        return None if known is None else known.taken

    def note(self, condition: Register, memory: Memory, taken: bool) -> None:
        """From here on the condition is decided."""
        self.made[condition] = _Decision(taken, memory)

    def overwritten(self, memory: Memory) -> None:
        """Something else may now lie in this memory."""
        kept = {c: made for c, made in self.made.items() if made.memory.isdisjoint(memory)}
        self.made = kept


def decided_by_symbols(op: If, scope: Scope) -> bool | None:
    """The branch that the values of the symbols choose, where they do."""
    condition = sympy.And(*(fact.condition for fact in op.facts))
    symbols = tuple(sorted(condition.free_symbols, key=str))
    if not op.facts or not all(scope.knows(symbol) for symbol in symbols):
        return None
    values = [scope.quantity(symbol) for symbol in symbols]
    if not all(isinstance(value, int) for value in values):
        return None
    return compile_condition(condition, symbols)(*values)
