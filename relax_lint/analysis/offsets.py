"""At which byte a tensor starts, counted from its data pointer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from types import MappingProxyType
from typing import Protocol, TypeAlias

import sympy

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.model.operations import (
    Alias,
    AllocTensor,
    Block,
    FunctionCall,
    GetItem,
    If,
    KernelCall,
    MakeTuple,
    MatchCast,
    Op,
    ValueId,
    View,
)
from relax_lint.model.program import Function
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.vm.builtins import BUILTINS, MAKE_TUPLE, Returns, ViewKind
from relax_lint.vm.calls import CLOSURE_MAKERS, CallKind

_ZERO = sympy.Integer(0)
_OF_BRANCH = Unknown("the offset depends on the branch taken")
_BY_KERNEL = Unknown("the offset depends on what a call makes of its arguments")
_KEPT = Unknown("it may be a tensor that an earlier call was given, which starts elsewhere")

Starts: TypeAlias = "Size | tuple[Starts, ...]"
"""Where a value starts; of a tuple each field, or one for all of them."""
StartsAt: TypeAlias = Callable[[AccessPath], Starts]
"""Where a value of one function starts, or a field of it."""
Returned: TypeAlias = Callable[[FunctionCall, StartsAt, bool], Starts]
"""Where the result of a call starts, with what its caller knows."""


class Viewed(Protocol):
    """Says of which arguments TVM may make the result of a kernel a view."""

    def __call__(self, call: KernelCall, function: Function) -> tuple[ValueId, ...]:
        """Those arguments of a call in `function`."""


def nothing_moved(call: FunctionCall, starts_at: StartsAt, in_memory: bool) -> Starts:
    """The result of any call starts at its data pointer."""
    return _ZERO


def _no_view(call: KernelCall) -> tuple[ValueId, ...]:
    return ()


class Offsets:
    """The byte offsets of the tensors of one function.

    Tensors that come from outside are taken to start at their data pointer, those in `given` where that says.
    What an in-place call makes of an argument starts where that does. `returned` tells where the result of a
    call of a Relax function starts, `viewed` of which arguments TVM may make the result of a kernel a view.
    `kept`: somebody may have kept a tensor that does not start at its data pointer, and return it. `held` is
    what functions and closures hold, which are tuples of that.

    With `in_memory` bytes are counted from where the data pointer of a tensor was before
    `ensure_zero_offset` moved it: the start of the memory.
    """

    def __init__(
        self,
        function: Function,
        *,
        in_memory: bool = False,
        given: Mapping[ValueId, Starts] | None = None,
        returned: Returned = nothing_moved,
        viewed: Callable[[KernelCall], tuple[ValueId, ...]] = _no_view,
        kept: bool = False,
        held: Mapping[ValueId, tuple[ValueId, ...]] = MappingProxyType({}),
    ) -> None:
        self._function = function
        self._in_memory = in_memory
        self._given = given or {}
        self._returned = returned
        self._viewed = viewed
        self._kept = kept
        self._held = held

    def of(self, value: ValueId) -> Size:
        """The byte offset of a tensor; of a tuple 0 where that is so for all of its fields."""
        starts = self.starts(value)
        return joined_starts(*starts) if isinstance(starts, tuple) else starts

    def starts(self, value: ValueId) -> Starts:
        """Where a value, or each of its fields, starts."""
        return self._starts(value, self._known)

    def starts_at(self, path: AccessPath) -> Starts:
        """Where a value starts, or a field of it."""
        return self._starts_at(path, self._known)

    @cached_property
    def _known(self) -> dict[ValueId, Starts]:
        """The offsets that are not plainly 0."""
        known = dict(self._given)
        self._walk(self._function.body, known)
        return known

    def _starts(self, value: ValueId, known: Mapping[ValueId, Starts]) -> Starts:
        found = known.get(value)
        if found is not None or not known:
            return _ZERO if found is None else found
        fields = self._function.inline_tuples.get(value, self._held.get(value))
        return _ZERO if fields is None else _tuple([self._starts(field, known) for field in fields])

    def _starts_at(self, path: AccessPath, known: Mapping[ValueId, Starts]) -> Starts:
        starts = self._starts(path.value, known)
        for item in path.fields:
            starts = _field(starts, item)
        return starts

    def _walk(self, block: Block, known: dict[ValueId, Starts]) -> None:
        for op in block.ops:
            if not known and not self._kept and isinstance(op, KernelCall):
                continue
            if isinstance(op, If):
                self._walk(op.then_block, known)
                self._walk(op.else_block, known)
            starts = self._result(op, known)
            if starts is not _ZERO:
                known[op.result] = starts

    def _result(self, op: Op, known: Mapping[ValueId, Starts]) -> Starts:
        if isinstance(op, AllocTensor):
            return op.offset
        if isinstance(op, FunctionCall):
            return self._returned(op, partial(self._starts_at, known=known), self._in_memory)
        if op.result in self._held:
            return _tuple([self._starts(value, known) for value in self._held[op.result]])
        if isinstance(op, View):
            return self._view(op, known)
        if isinstance(op, KernelCall):
            return self._kernel(op, known)
        if not known:
            return _ZERO
        if isinstance(op, Alias | MatchCast):
            return self._starts(op.source, known)
        if isinstance(op, MakeTuple):
            return _tuple([self._starts(item, known) for item in op.items])
        if isinstance(op, GetItem):
            return _field(self._starts(op.tuple, known), op.item)
        if isinstance(op, If):
            return either(self._starts(op.then_result, known), self._starts(op.else_result, known))
        return _ZERO

    def _kernel(self, op: KernelCall, known: Mapping[ValueId, Starts]) -> Starts:
        if op.inplace:
            # A tensor of its own starts at its data pointer.
            outputs = [self._starts(op.arguments[i], known) if i >= 0 else _ZERO for i in op.inplace]
            return outputs[0] if len(outputs) == 1 else _tuple(outputs)
        viewed = op.arguments if op.callee in CLOSURE_MAKERS else self._viewed(op)
        if any(not is_zero(self._starts(value, known)) for value in viewed):
            return _BY_KERNEL
        if op.kind not in (CallKind.PACKED, CallKind.BUILTIN):
            return _ZERO
        builtin = BUILTINS.get(op.callee)
        if builtin is None:
            given = tuple(self._starts(argument, known) for argument in op.arguments)
            return unless_given(given, kept=self._kept)
        if not op.arguments:
            return _ZERO
        if builtin.name == MAKE_TUPLE:
            return _tuple([self._starts(argument, known) for argument in op.arguments])
        first = self._starts(op.arguments[0], known)
        if builtin.returns is Returns.UNKNOWN:
            # Which field of a tuple it is, and whether it is the argument, is not asked.
            return _ZERO if is_zero(first) else _BY_KERNEL
        return first if builtin.returns is Returns.ARGUMENT else _ZERO

    def _view(self, op: View, known: Mapping[ValueId, Starts]) -> Starts:
        if op.kind is ViewKind.ZERO_OFFSET and not self._in_memory:
            return _ZERO
        base = self._starts(op.source, known)
        if isinstance(base, tuple):
            base = joined_starts(*base)
        if isinstance(base, Unknown) or isinstance(op.offset, Unknown):
            return base if isinstance(base, Unknown) else op.offset
        return base + op.offset


def unless_given(given: tuple[Starts, ...], *, kept: bool) -> Starts:
    """Where the result of a call starts that may return what it is given, or (`kept`) what was kept: who
    takes it for something new lists that, and has to ask where it starts if it is not.
    """
    if not all(map(is_zero, given)):
        return _BY_KERNEL
    return _KEPT if kept else _ZERO


def known_elsewhere(starts: Starts, otherwise: Size) -> Starts:
    """What another function knows of it: the symbols of a function mean nothing there."""
    if isinstance(starts, tuple):
        return tuple(known_elsewhere(one, otherwise) for one in starts)
    return otherwise if not isinstance(starts, Unknown) and starts.free_symbols else starts


def is_zero(starts: Starts) -> bool:
    """Whether a value, with all of its fields, starts at its data pointer."""
    return all(map(is_zero, starts)) if isinstance(starts, tuple) else starts == 0


def joined_starts(*several: Starts) -> Size:
    """Where any of several values starts, with all of their fields."""
    found: list[Size] = []
    for one in several:
        found.append(joined_starts(*one) if isinstance(one, tuple) else one)
    return found[0] if found and all(one == found[0] for one in found) else _OF_BRANCH if found else _ZERO


def _field(starts: Starts, item: int) -> Starts:
    if not isinstance(starts, tuple):
        return starts
    return starts[item] if item < len(starts) else joined_starts(*starts)


def _tuple(fields: list[Starts]) -> Starts:
    return _ZERO if all(map(is_zero, fields)) else tuple(fields)


def either(one: Starts, other: Starts) -> Starts:
    """Where a value starts that is one of two."""
    if one == other:
        return one
    if not isinstance(one, tuple):
        one, other = other, one
    if not isinstance(one, tuple):
        return _OF_BRANCH
    fields = other if isinstance(other, tuple) else (other,) * len(one)
    if len(one) != len(fields):
        return _OF_BRANCH
    return _tuple([either(*pair) for pair in zip(one, fields, strict=True)])
