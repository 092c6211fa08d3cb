"""The memory behind each value of a function: allocations, parameters, constants and results of calls, each
field of a tuple apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from relax_lint.analysis import copies
from relax_lint.analysis.access_paths import AccessPath, Tree, at, everything, joined, mapped, with_each
from relax_lint.analysis.newness import Newness, Presumed
from relax_lint.analysis.offsets import Offsets
from relax_lint.analysis.presumption import Presumption, together
from relax_lint.analysis.results import New, Result, Source, returns_something_new, shared_inside
from relax_lint.model.operations import (
    Alias,
    AllocTensor,
    Block,
    FunctionCall,
    GetItem,
    If,
    KernelCall,
    Kill,
    MakeTuple,
    MatchCast,
    Op,
    ValueId,
    View,
)
from relax_lint.model.program import Function
from relax_lint.model.types import OpaqueType, PrimType, TupleType, ValueType, may_hold_memory
from relax_lint.vm.builtins import BUILTINS, GET_ITEM, MAKE_TUPLE, Returns, ViewKind
from relax_lint.vm.calls import CLOSURE_MAKERS, CallKind

_FIRST_PART = 1 << 40
"""Fields of tuples that nothing in the function names get ids from here on."""
_Seen: TypeAlias = dict[AccessPath, tuple[frozenset[AccessPath], frozenset[ValueId]]]
"""By field of a result: where in the callee it was made, and its roots."""
_CONSTANTS = -(1 << 40)
"""The field that stands for constants; those of storages of a callee are -1, -2 and so on."""


class Roots:
    """The roots of the values of one function. `result_of` gives the result of a call of a Relax function,
    `keeps` says whether somebody may keep what such a call is given, or (None) what this function is given.
    Functions and closures have what they hold as fields: `held` says what that is, `holds` how many values a
    parameter, or a field of it, holds.
    Where a device `moves_pointers`, a tensor at an offset on its storage starts at its data pointer.
    """

    def __init__(
        self,
        function: Function,
        offsets: Offsets,
        result_of: Callable[[FunctionCall], Result],
        is_known: Callable[[FunctionCall], bool],
        viewed: Callable[[KernelCall], tuple[ValueId, ...]],
        keeps: Callable[[FunctionCall | None], bool],
        held: Mapping[ValueId, tuple[ValueId, ...]],
        holds: Callable[[AccessPath], int],
        *,
        moves_pointers: bool,
    ) -> None:
        self._function = function
        self._offsets = offsets
        self._result_of = result_of
        self._is_known = is_known
        self._viewed = viewed
        self._keeps = keeps
        self._held = held
        self._holds = holds
        self._moves_pointers = moves_pointers
        self._parts: dict[AccessPath, ValueId] = {}
        self._paths: dict[ValueId, AccessPath] = {}
        self.storages: dict[ValueId, frozenset[ValueId]] = {}
        """By root: the storages that a tensor is on, here or because a callee put it there."""
        self.elsewhere: set[ValueId] = set()
        """The roots of which a callee chose the offset."""
        self.constants: set[ValueId] = set(function.constants)
        """The roots that are constants of the module, those that a callee always returns included."""
        self._newness = Newness()
        self.trees: dict[ValueId, Tree[ValueId]] = {}
        self._in_tuples: dict[AccessPath, frozenset[ValueId]] = {}
        """The roots of all fields of tuples."""
        for value in (*function.parameters, *function.constants):
            self.trees[value] = self._own(AccessPath(value), function.type_of(value))
        if keeps(None):
            self._newness.keep(self._memory_of(function.parameters))
        self._block(function.body)

    def tree(self, value: ValueId) -> Tree[ValueId]:
        """The roots of a value, those of each field apart."""
        known = self.trees.get(value)
        if known is not None:
            return known
        fields = self._function.inline_tuples.get(value, self._held.get(value))
        if fields is not None:
            return tuple(self.tree(field) for field in fields)
        type_ = self._function.values[value].type if value in self._function.values else OpaqueType("")
        self.trees[value] = self._own(AccessPath(value), type_)
        return self.trees[value]

    def of(self, path: AccessPath) -> frozenset[ValueId]:
        """The roots of a value or of a field of it."""
        tree = at(self.tree(path.value), path.fields)
        if isinstance(tree, frozenset) or path.value not in self.trees:
            return everything(tree)
        known = self._in_tuples.get(path)
        if known is None:
            known = self._in_tuples[path] = everything(tree)
        return known

    def path(self, root: ValueId) -> AccessPath:
        """The value that a root is, or the value of which it is a field."""
        known = self._paths.get(root)
        return AccessPath(root) if known is None else known

    def value_of(self, root: ValueId) -> ValueId:
        """The value of `path`: most roots are one themselves."""
        known = self._paths.get(root)
        return root if known is None else known.value

    @property
    def has_perhaps(self) -> bool:
        """Whether any root is only presumed not to be another one."""
        return self._newness.is_used

    def perhaps_of(self, root: ValueId) -> Iterator[tuple[ValueId, Presumption]]:
        """The roots that a root is only presumed not to be, and why."""
        return self._newness.apart(root) if self._newness.is_used else iter(())

    def presumed_new(self, root: ValueId) -> Presumed | None:
        """What is presumed of a root; None where it is known to be nothing else."""
        return self._newness.of(root)

    def is_kept(self, root: ValueId) -> bool:
        """Whether somebody who is not known may have kept a root."""
        return self._newness.is_kept(root)

    def presumed_apart(self, one: ValueId, other: ValueId) -> Presumption | None:
        """What is assumed where two values are treated as two tensors."""
        if not self.has_perhaps:
            return None
        theirs = everything(self.tree(other))
        for root in sorted(everything(self.tree(one))):
            for found, presumed in self.perhaps_of(root):
                if found in theirs:
                    return presumed
        return None

    def _part(self, path: AccessPath) -> ValueId:
        if not path.fields:
            return path.value
        known = self._parts.get(path)
        if known is None:
            known = self._parts[path] = _FIRST_PART + len(self._parts)
            self._paths[known] = path
        return known

    def _own(self, path: AccessPath, type_: ValueType) -> Tree[ValueId]:
        """A root for each field of a value that is nothing else's."""
        if isinstance(type_, TupleType) and type_.fields:
            fields = enumerate(type_.fields)
            return tuple(self._own(AccessPath(path.value, (*path.fields, i)), field) for i, field in fields)
        held = self._holds(path)
        if held:
            return tuple(
                frozenset((self._part(AccessPath(path.value, (*path.fields, i))),)) for i in range(held)
            )
        return frozenset((self._part(path),))

    # -- the walk ------------------------------------------------------------------------------

    def _block(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, If):
                self._block(op.then_block)
                self._block(op.else_block)
            if not isinstance(op, Kill):
                self.trees[op.result] = self._made(op)

    def _made(self, op: Op) -> Tree[ValueId]:
        if isinstance(op, MakeTuple):
            # Before its own fields are made: a tuple of tuples has twice as many at each level.
            return tuple(self.tree(item) for item in op.items)
        if isinstance(op, AllocTensor):
            if op.storage is not None:
                self.storages[op.result] = self.of(AccessPath(op.storage))
            return frozenset((op.result,))
        if op.result in self._held:
            return tuple(self.tree(value) for value in self._held[op.result])
        type_ = self._function.type_of(op.result)
        # Most values are no tuples.
        is_tuple = isinstance(type_, TupleType)
        own = self._own(AccessPath(op.result), type_) if is_tuple else frozenset((op.result,))
        if isinstance(op, If):
            return joined(self.tree(op.then_result), self.tree(op.else_result))
        if isinstance(op, View):
            return self._view(op, own)
        if isinstance(op, Alias | MatchCast):
            return self.tree(op.source)
        if isinstance(op, GetItem):
            return at(self.tree(op.tuple), (op.item,))
        if isinstance(op, FunctionCall):
            return self._called(op, own)
        if isinstance(op, KernelCall):
            return self._in_place(op, own) if op.kind.in_place else self._kernel(op, own)
        return own

    def _view(self, op: View, own: Tree[ValueId]) -> Tree[ValueId]:
        source, offset = self.tree(op.source), self._offsets.of(op.source)
        if op.kind is ViewKind.ZERO_OFFSET and offset != 0:
            if copies.is_certain(offset) and not self._moves_pointers:
                return own
        elif not op.may_be_copied:
            return source
        return with_each(own, everything(source))

    def _in_place(self, op: KernelCall, own: Tree[ValueId]) -> Tree[ValueId]:
        outputs = [self.tree(op.arguments[i]) if i >= 0 else None for i in op.inplace]
        if len(outputs) == 1:
            return outputs[0] or own
        if isinstance(own, tuple) and len(own) == len(outputs):
            return tuple(output or fresh for output, fresh in zip(outputs, own, strict=True))
        given = [everything(output) for output in outputs if output is not None]
        return frozenset().union(*given, *([everything(own)] if None in outputs or not outputs else []))

    def _kernel(self, op: KernelCall, own: Tree[ValueId]) -> Tree[ValueId]:
        viewed = op.arguments if op.callee in CLOSURE_MAKERS else self._viewed(op)
        if viewed:
            return with_each(own, self._memory_of(viewed))
        self._presume(op, own)
        builtin = BUILTINS.get(op.callee)
        if builtin is None or op.kind not in (CallKind.PACKED, CallKind.BUILTIN) or not op.arguments:
            return own
        if builtin.name == MAKE_TUPLE:
            return tuple(self.tree(argument) for argument in op.arguments)
        first = self.tree(op.arguments[0])
        if builtin.name == GET_ITEM:
            return (
                at(first, (item,))
                if (item := self._number(op.arguments[-1])) is not None
                else everything(first)
            )
        if builtin.returns is Returns.ARGUMENT:
            return first
        return with_each(own, everything(first)) if builtin.returns is Returns.UNKNOWN else own

    def _number(self, value: ValueId) -> int | None:
        type_ = self._function.type_of(value)
        number = type_.value if isinstance(type_, PrimType) else None
        return int(number) if number is not None and number.is_Integer and number >= 0 else None

    # -- results of calls ----------------------------------------------------------------------

    def _called(self, op: FunctionCall, own: Tree[ValueId]) -> Tree[ValueId]:
        if not self._is_known(op):
            self._presume(op, own)
            return own
        result = self._result_of(op)
        if result is None:
            return frozenset()
        made: _Seen = {}
        inside = shared_inside(result, op.result)
        kept = self._memory_of(op.arguments) if self._keeps(op) else None
        if kept is not None:
            self._newness.keep(kept)
        found = mapped(
            result, lambda sources, fields: self._taken(sources, AccessPath(op.result, fields), made, inside)
        )
        if kept is not None:
            self._newness.keep(everything(found))
        return found

    def _taken(
        self,
        sources: frozenset[Source],
        path: AccessPath,
        seen: _Seen,
        inside: Mapping[AccessPath, frozenset[AccessPath]],
    ) -> frozenset[ValueId]:
        """The roots of one field of what a function returns; `sources` as the caller knows them. `seen` are
        the fields before it, `inside` what stands for storages of the callee.
        """
        news = [source for source in sources if isinstance(source, New)]
        made = frozenset(one.made for one in news if one.made is not None)
        shared = {field: roots for field, (places, roots) in seen.items() if not made.isdisjoint(places)}
        twice = [field for field in shared if len(made) == 1 and seen[field][0] == made]
        if twice:
            # One tensor, twice in the result.
            found = shared[twice[0]]
        else:
            found = self._new(news, path, inside).union(*shared.values())
            seen[path] = made, found
        return found.union(*(self.of(source) for source in sources if isinstance(source, AccessPath)))

    def _new(
        self, news: list[New], path: AccessPath, inside: Mapping[AccessPath, frozenset[AccessPath]]
    ) -> frozenset[ValueId]:
        """The roots of what is new in a field: one for the constants of the module, one for the rest."""
        fresh = [one for one in news if not one.constant]
        found: frozenset[ValueId] = frozenset()
        if len(fresh) < len(news):
            root = self._part(AccessPath(path.value, (*path.fields, _CONSTANTS)) if fresh else path)
            self.constants.add(root)
            found |= {root}
        if not fresh:
            return found
        root = self._part(path)
        on = frozenset[AccessPath]().union(*(one.inside for one in fresh))
        fields = (field for storage in sorted(on & inside.keys()) for field in sorted(inside[storage]))
        storages = frozenset(map(self._part, fields))
        storages = storages.union(*(self.of(storage) for one in fresh for storage in one.storages))
        if storages:
            self.storages[root] = storages
            self.elsewhere.add(root)
        presumed = together(one.presumed.text for one in fresh if one.presumed is not None)
        if presumed is not None:
            given = frozenset[ValueId]().union(*(self.of(other) for one in fresh for other in one.perhaps))
            self._newness.presume(root, given, presumed)
        return found | {root}

    def _presume(self, op: KernelCall | FunctionCall, own: Tree[ValueId]) -> None:
        presumed = returns_something_new(op)
        if presumed is None:
            return
        given = self._memory_of(op.arguments)
        if isinstance(op, FunctionCall):
            given |= self._memory_of(() if op.value is None else (op.value,))
        if isinstance(op, FunctionCall) or not op.pure:
            self._newness.keep(given)
        if may_hold_memory(self._function.type_of(op.result)):
            for root in sorted(everything(own)):
                self._newness.presume(root, given, presumed)

    def _memory_of(self, values: Iterable[ValueId]) -> frozenset[ValueId]:
        """The roots of those values that are or may hold memory."""
        found = (
            self.of(AccessPath(value)) for value in values if may_hold_memory(self._function.type_of(value))
        )
        return frozenset[ValueId]().union(*found)


def as_sources(roots: Roots, tree: Tree[ValueId], outside: frozenset[ValueId]) -> Tree[Source]:
    """What a function returns as its callers know it; `outside` are its parameters and what it captures."""

    def paths(found: frozenset[ValueId]) -> frozenset[AccessPath]:
        known = (roots.path(root) for root in found)
        return frozenset(path for path in known if path.value in outside)

    def source(root: ValueId) -> Source:
        path = roots.path(root)
        if path.value in outside:
            return path
        new = roots.presumed_new(root)
        # What somebody may have kept before is a parameter as well, which the caller has another name for.
        given = paths(frozenset(other for other, _ in roots.perhaps_of(root)))
        presumed = None if new is None else new.presumed
        storages = roots.storages.get(root, frozenset())
        inside = frozenset(map(roots.path, storages)) - paths(storages)
        return New(paths(storages), given, presumed, path, root in roots.constants, inside)

    return mapped(tree, lambda found, _: frozenset(source(root) for root in found))
