"""One activation of a function on paper, and what was decided in it about conditions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from typing import TypeAlias

import sympy

from relax_lint.analysis import copies
from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.liveness import Releases
from relax_lint.analysis.roots import Roots
from relax_lint.model.operations import If, ValueId
from relax_lint.model.program import Function
from relax_lint.model.types import OpaqueType, TensorType, TupleType, ValueType
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.evaluation import compile_condition
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.places import Given, Known, Memory, Outside, Place, Register, together
from relax_lint.totals.quantities import Indeterminate, Scope

Reference: TypeAlias = "int | tuple[Reference, ...] | None"
"""What an object keeps alive: one allocation (its number), those of its fields, or nothing."""


class Frame:
    """One activation of a function: its registers and its symbols. `roots_of` tells what memory is behind the
    values of a function.
    """

    def __init__(
        self,
        function: Function,
        scope: Scope,
        aliases: Aliases,
        releases: Releases,
        roots_of: Callable[[Function], Roots],
    ) -> None:
        self.function = function
        self.scope = scope
        self.aliases = aliases
        self.registers = aliases.registers
        self.tuples = function.inline_tuples
        self.releases = releases
        self.held: dict[ValueId, Reference] = {}
        self.arguments: dict[ValueId, Register] = {}
        self.is_outermost = False
        """Whether nothing is known of who calls."""
        self._roots_of = roots_of
        self._behind: dict[AccessPath, Memory] = {}

    def origin(self, value: ValueId) -> Register:
        """The register of a value, in the outermost frame that handed it down as an argument."""
        register = self.aliases.register(value)
        if register in self.arguments:
            frame, argument = self.arguments[register]
            return frame.origin(argument)
        return self, register

    def memory(self, value: ValueId, reference: Reference) -> Memory:
        """Where the bytes of a value are."""
        numbers = frozenset[Place](_numbers(reference))
        return together((self.memory_of(AccessPath(value)), Memory(numbers)))

    def memory_of(self, path: AccessPath) -> Memory:
        """Where the bytes of a value, or of a field of it, are by what it is made of."""
        known = self._behind.get(path)
        if known is None:
            known = self._behind[path] = together(self._found(path))
        return known

    def _found(self, path: AccessPath) -> Iterator[Memory]:
        roots = self._roots
        behind = _with_storages(roots.of(path), roots)
        yield from map(self._owned, behind)
        perhaps = frozenset(other for root in behind for other, _ in roots.perhaps_of(root))
        for root in _with_storages(perhaps, roots):
            yield self._owned(root).only_perhaps()

    def parameter(self, root: ValueId) -> AccessPath | None:
        """The parameter, or the field of one, that a root is."""
        path = self._roots.path(root)
        return path if path.value in self.function.parameters else None

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

    @cached_property
    def _roots(self) -> Roots:
        return self._roots_of(self.function)

    def _owned(self, root: ValueId) -> Memory:
        path, roots = self.parameter(root), self._roots
        if path is not None and path.value in self.arguments:
            frame, argument = self.arguments[path.value]
            return frame.memory_of(AccessPath(argument, path.fields))
        if path is not None and not self.is_outermost:
            # Who calls knows what it is.
            return Memory(frozenset(((self, root),)))
        found: set[Place] = {Outside.CONSTANTS} if root in roots.constants else {(self, root)}
        if path is not None:
            found |= self._given(path)
        returned = roots.presumed_new(root) is not None
        is_known = returned or roots.is_kept(root)
        return Memory(frozenset(found), known=frozenset((Known(self, returned),) if is_known else ()))

    def _given(self, path: AccessPath) -> frozenset[Place]:
        """Where a tensor may be that is given from outside: in the same memory as others."""
        type_ = self.function.type_of(path.value)
        for item in path.fields:
            # What a function or a closure holds is a field without a type.
            type_ = type_.fields[item] if isinstance(type_, TupleType) else OpaqueType()
        kind = _kind(type_)
        kinds = (kind,) if kind is not None else (None, *self._kinds)
        return frozenset(map(Given, kinds))

    @cached_property
    def _kinds(self) -> frozenset[tuple[str, int]]:
        """The dtypes and ranks of the tensors that are given from outside."""
        pending = [self.function.type_of(parameter) for parameter in self.function.parameters]
        found = set[tuple[str, int]]()
        while pending:
            type_ = pending.pop()
            if isinstance(type_, TupleType):
                pending += type_.fields
            elif (kind := _kind(type_)) is not None:
                found.add(kind)
        return frozenset(found)


def _with_storages(found: frozenset[ValueId], roots: Roots) -> frozenset[ValueId]:
    return found.union(*(roots.storages.get(root, ()) for root in found))


def _kind(type_: ValueType) -> tuple[str, int] | None:
    """What two tensors have in common that may be one; None where any other may be this one."""
    if not isinstance(type_, TensorType) or type_.dtype is None or type_.ndim < 0:
        return None
    return type_.dtype.name, type_.ndim


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

    def overwritten(self, memory: Memory, copied: Collection[Register] = ()) -> None:
        """Something else may now lie in this memory; where that is one of those `copied` to it, the same."""
        kept = {c: made for c, made in self.made.items() if c in copied or not made.memory.meets(memory)}
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
