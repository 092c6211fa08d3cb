"""What a function writes and what it gives back on one path: a caller may have passed one tensor as both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from relax_lint.analysis.aliases import Aliases
from relax_lint.model.operations import Alias, If, MatchCast, Op, ValueId
from relax_lint.model.program import Function


class GivenBack:
    """Pairs of what is written and of something else that is then returned, as roots of `outside`; `writes`
    are the operations that write, by index, with what they write.
    """

    def __init__(
        self,
        function: Function,
        aliases: Aliases,
        writes: Sequence[tuple[int, ValueId]],
        outside: frozenset[ValueId],
    ) -> None:
        self._aliases = aliases
        self._writes = writes
        self._outside = outside
        self._made: dict[ValueId, Op] = {op.result: op for op in function.body.walk()} if writes else {}
        found = self._of(function.result, frozenset()) if writes else ()
        self.pairs: frozenset[tuple[ValueId, ValueId]] = frozenset(found)

    def _of(self, result: ValueId, left_out: frozenset[int]) -> Iterator[tuple[ValueId, ValueId]]:
        """The pairs of one result; `left_out` are the operations that are not on the path to it."""
        for leaf in self._aliases.leaves(result):
            op = self._made.get(leaf)
            if isinstance(op, Alias | MatchCast):
                yield from self._of(op.source, left_out)
            elif isinstance(op, If):
                then, other = (
                    frozenset(inner.place.index for inner in block.walk())
                    for block in (op.then_block, op.else_block)
                )
                yield from self._of(op.then_result, left_out | other)
                yield from self._of(op.else_result, left_out | then)
            else:
                yield from self._pairs(leaf, left_out)

    def _pairs(self, leaf: ValueId, left_out: frozenset[int]) -> Iterator[tuple[ValueId, ValueId]]:
        roots = self._aliases.roots
        given = [root for root in self._aliases.roots_of(leaf) if roots.path(root).value in self._outside]
        for index, written in self._writes if given else ():
            if index not in left_out:
                yield from ((written, root) for root in given if root != written)
