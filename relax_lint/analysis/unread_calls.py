"""Calls of which it is not known whether they run, or with what, as a part of the module was not read."""

from __future__ import annotations

from relax_lint.analysis.liveness import leaves, operands, users_of, values_given
from relax_lint.model.operations import Assert, Block, FunctionCall, If, KernelCall, MakeTuple, Op, ValueId
from relax_lint.model.program import Function
from relax_lint.vm.calls import UNREAD


def is_unread(op: Op) -> bool:
    """Whether an operation stands for what was not read."""
    return isinstance(op, KernelCall) and op.callee.startswith(UNREAD)


def doubtful_calls(function: Function) -> frozenset[int]:
    """The identities of the calls in a function that get something unread, or what is made of it, or that
    only run where that is true.
    """
    if not any(map(is_unread, function.body.of(KernelCall))):
        return frozenset()
    walk = _Walk(function)
    walk.block(function.body, doubtful=False)
    return frozenset(walk.found)


def given_to_unread(function: Function) -> frozenset[int]:
    """The indices of the operations that stand for what was not read, and of the tuples that nothing else
    gets.
    """
    unread = {op.place.index for op in function.body.of(KernelCall) if is_unread(op)}
    if unread and (tuples := function.body.of(MakeTuple)):
        users, given = users_of(function), values_given(function)
        # What is in a tuple was made before it.
        for op in reversed(tuples):
            using = {user.place.index for user in users.get(op.result, ())}
            if using <= unread and op.result not in given:
                unread.add(op.place.index)
    return frozenset(unread)


class _Walk:
    """One walk through a function; `unread` are the values that depend on what was not read."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._unread = set[ValueId]()
        self.found = set[int]()

    def block(self, block: Block, *, doubtful: bool) -> None:
        """Follow a block of which it is known whether it runs, or not."""
        for op in block.ops:
            depends = is_unread(op) or not self._unread.isdisjoint(operands(op, self._function))
            if isinstance(op, If):
                for branch in (op.then_block, op.else_block):
                    self.block(branch, doubtful=doubtful or depends)
                given = leaves((op.then_result, op.else_result), self._function)
                depends = depends or not self._unread.isdisjoint(given)
            if depends:
                self._unread.add(op.result)
            if isinstance(op, FunctionCall) and (doubtful or depends):
                self.found.add(id(op))
            # It may end the call.
            doubtful = doubtful or (depends and _asserts(op))


def _asserts(op: Op) -> bool:
    return isinstance(op, Assert) or (isinstance(op, KernelCall) and op.callee.endswith("assert_op"))
