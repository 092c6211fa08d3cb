"""When a value is needed for the last time, and when the VM lets go of it.

These are two questions. What a program still needs is a matter of its uses alone. What the VM holds is a
matter of its registers: each keeps its object, and the object its storage, until a kill clears it or the
function returns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from operator import attrgetter
from typing import Any

from relax_lint.analysis.aliases import Aliases
from relax_lint.model.operations import (
    Alias,
    AllocTensor,
    Assert,
    Block,
    Constant,
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
from relax_lint.model.types import OpaqueType, PrimType, ShapeType, TensorType
from relax_lint.support.lazy_dataclass import record
from relax_lint.vm.builtins import SHAPE_HEAP, KillKind

ENTRY = -1
"""The place before the first operation, in `Releases.after`."""


@record(frozen=True)
class Releases:
    """Values that are let go: `after` the operation of an index, or `on_entry` of a branch of the
    `If` of an index (True: the then-branch).
    """

    after: dict[int, tuple[ValueId, ...]] = field(default_factory=dict)
    on_entry: dict[tuple[int, bool], tuple[ValueId, ...]] = field(default_factory=dict)


def leaves(values: tuple[ValueId, ...], function: Function) -> tuple[ValueId, ...]:
    """The values, but in the place of each tuple that is written in place its fields, however deep."""
    tuples = function.inline_tuples
    if tuples.keys().isdisjoint(values):
        return values
    return tuple(field for value in values for field in leaves(tuples.get(value, (value,)), function))


def operands(op: Op, function: Function) -> tuple[ValueId, ...]:
    """The values that an operation itself reads; fields of tuples written in place count, kills do not."""
    read = _READS.get(type(op))
    if read is None:
        return ()
    return leaves(read(op), function) if function.inline_tuples else read(op)


def registers_read(op: Op, function: Function) -> tuple[ValueId, ...]:
    """The same, and the tensors that an operation only looks at, without their bytes."""
    read = _LOOKS_AT.get(type(op))
    if read is None:
        return ()
    return leaves(read(op), function) if function.inline_tuples else read(op)


def users_of(function: Function) -> dict[ValueId, list[Op]]:
    """The operations that read each value, in program order."""
    users: dict[ValueId, list[Op]] = {}
    for op in function.body.walk():
        for value in dict.fromkeys(operands(op, function)):
            users.setdefault(value, []).append(op)
    return users


_READS: dict[type[Op], Callable[[Any], tuple[ValueId, ...]]] = {
    # A function of C's is called in half the time: most operations are of these kinds.
    KernelCall: attrgetter("arguments"),
    # A function that is known is no value that is read, but a name.
    FunctionCall: lambda op: op.arguments if op.value is None or op.target else (*op.arguments, op.value),
    View: lambda op: (op.source,),
    Alias: lambda op: (op.source,),
    MatchCast: lambda op: (op.source,),
    AllocTensor: lambda op: () if op.storage is None else (op.storage,),
    MakeTuple: attrgetter("items"),
    GetItem: lambda op: (op.tuple,),
    Assert: lambda op: op.operands if op.condition is None else (op.condition, *op.operands),
    If: lambda op: (op.condition,),
}


_LOOKS_AT: dict[type[Op], Callable[[Any], tuple[ValueId, ...]]] = {
    **_READS,
    Constant: lambda op: () if op.of is None else (op.of,),
}


def values_given(function: Function) -> frozenset[ValueId]:
    """The values that are what a function or one of its branches gives, or a field of that, however deep."""
    branches = (result for op in function.body.of(If) for result in (op.then_result, op.else_result))
    return frozenset(leaves((function.result, *branches), function))


def values_read(function: Function) -> frozenset[ValueId]:
    """The values that operations of a function read, and those that it or one of its branches gives."""
    return values_given(function).union(*(operands(op, function) for op in function.body.walk()))


# -- what the program needs -------------------------------------------------------------------


def last_uses(function: Function) -> Releases:
    """When each value is needed for the last time: one walk backwards.

    A value that nothing reads is let go where it is made, a parameter that nothing reads at `ENTRY`.
    """
    releases = Releases()
    needed = set(leaves((function.result,), function))
    _walk_back(function.body, needed, function, releases)
    releases.after[ENTRY] = tuple(value for value in function.parameters if value not in needed)
    return releases


def _walk_back(block: Block, needed: set[ValueId], function: Function, releases: Releases) -> None:
    """Turns `needed` from what is needed after the block into what is needed before it."""
    for op in reversed(block.ops):
        made = op.result
        if isinstance(op, Kill):
            # It reads nothing, and nobody holds what it gives.
            needed.discard(made)
            continue
        read = operands(op, function)
        if isinstance(op, If):
            results = leaves((op.then_result, op.else_result), function)
            unneeded = [value for value in (op.result, *results) if value not in needed]
            needed.discard(op.result)
            before = _walk_branches(op, needed, function, releases)
            needed |= before
        else:
            unneeded = [value for value in (made, *read) if value not in needed]
            needed.discard(made)
        if unneeded:
            releases.after[op.place.index] = tuple(dict.fromkeys(unneeded))
        needed.update(read)


def _walk_branches(op: If, needed: set[ValueId], function: Function, releases: Releases) -> set[ValueId]:
    before: dict[bool, set[ValueId]] = {}
    for taken, block, result in (
        (True, op.then_block, op.then_result),
        (False, op.else_block, op.else_result),
    ):
        before[taken] = needed | set(leaves((result,), function))
        _walk_back(block, before[taken], function, releases)
    condition = set(operands(op, function)) - needed
    for taken in (True, False):
        dead = (before[not taken] | condition) - before[taken]
        if dead:
            releases.on_entry[op.place.index, taken] = tuple(sorted(dead))
    return before[True] | before[False]


# -- what the VM holds ------------------------------------------------------------------------


def inserted_kills(function: Function, aliases: Aliases) -> Releases:
    """The kills that TVM's KillAfterLastUse adds to those that are written: registers, by the operation
    after which each is cleared. Every default build runs that pass before it lowers to `R.vm`; a function
    with a shape heap or an `R.vm.kill_object` has been through it and gets none.

    It clears what its own block made, after the last use, unless that use is inside a branch. It adds no
    kill to a block from the first `If` on, and none for a value that nothing uses: a tuple of which only the
    fields are used (the result of `R.split`) keeps them to the end of the function.
    """
    releases = Releases()
    kills = function.body.of(Kill)
    if any(op.kind is KillKind.OBJECT for op in kills) or _has_shape_heap(function):
        return releases
    written = {aliases.register(op.target) for op in kills}
    _complete(function.body, function.result, function, aliases, written, releases)
    return releases


def _complete(
    block: Block,
    result: ValueId,
    function: Function,
    aliases: Aliases,
    written: set[ValueId],
    releases: Releases,
) -> set[ValueId]:
    """Adds the kills of a block; returns the registers that it uses and did not make. The uses count that are
    left when trivial bindings are gone.
    """
    last: dict[ValueId, int | None] = {}
    reach: int | None = None
    registers = aliases.registers
    for op in block.ops:
        if isinstance(op, If):
            reach = op.place.index if reach is None else reach
            for inner, value in ((op.then_block, op.then_result), (op.else_block, op.else_result)):
                used = _complete(inner, value, function, aliases, written, releases)
                last.update(dict.fromkeys(used, op.place.index))
        if op.result in registers and aliases.is_trivial(op):
            continue
        for read in registers_read(op, function):
            last[registers.get(read, read)] = op.place.index
    for read in leaves((result,), function):
        last[aliases.register(read)] = None
    # Nothing reads what a kill gives, which half of the operations are.
    own = [op.result for op in block.ops if op.result in last and _is_killable(op, function)]
    for value in own:
        index = last[value]
        if index is not None and value not in written and (reach is None or index < reach):
            releases.after[index] = (*releases.after.get(index, ()), value)
    return last.keys() - set(own)


def _has_shape_heap(function: Function) -> bool:
    return any(op.callee == SHAPE_HEAP for op in function.body.of(KernelCall))


def _is_killable(op: Op, function: Function) -> bool:
    type_ = function.type_of(op.result)
    if isinstance(op, Constant) and isinstance(type_, TensorType):
        return False
    if isinstance(type_, OpaqueType):
        return type_.text != "Function"
    return not isinstance(type_, (ShapeType, PrimType))
