"""Which of their tensors two values are at once, where `If`s give them: the conditions of these may be the
same, or the negation of each other.
"""

from __future__ import annotations

from functools import cached_property

from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.choices import Choices
from relax_lint.analysis.conditions import Literal
from relax_lint.analysis.paths import Paths
from relax_lint.analysis.untaken import Untaken
from relax_lint.model.operations import Assert, Block, If, Op, ValueId, View
from relax_lint.model.program import Function


class Together:
    """The pairs of tensors that two values of one function may be."""

    def __init__(self, function: Function, aliases: Aliases, paths: Paths, untaken: Untaken) -> None:
        self._function = function
        self._aliases = aliases
        self._paths = paths
        self._untaken = untaken
        self._known: dict[int, tuple[Literal, ...]] = {}

    def pairs(self, one: ValueId, other: ValueId, at: Op) -> list[tuple[ValueId, ValueId]]:
        """The pairs that are possible where an operation is."""
        roots, roots_2 = sorted(self._aliases.roots_of(one)), sorted(self._aliases.roots_of(other))
        pairs = [(root, root_2) for root in roots for root_2 in roots_2]
        if len(pairs) < 2:
            return pairs
        if self._seen(one) == self._seen(other):
            # They are whatever the one value is.
            return [(root, root) for root in roots]
        choices, known = self._choices, self._known.get(at.place.index, ())
        when = {root: choices.when(one, root) for root in roots}
        when_2 = {root: choices.when(other, root) for root in roots_2}
        return [
            (root, root_2) for root, root_2 in pairs if _is_possible((*when[root], *when_2[root_2], *known))
        ]

    def _seen(self, value: ValueId) -> ValueId:
        """What a value is a view of, by any number of views."""
        name = self._aliases.identity(value)
        while isinstance(op := self._paths.definitions.get(name), View):
            name = self._aliases.identity(op.source)
        return name

    @cached_property
    def _choices(self) -> Choices:
        choices = Choices(self._aliases, self._paths)
        self._walk(self._function.body, (), choices)
        return choices

    def _walk(self, block: Block, known: tuple[Literal, ...], choices: Choices) -> None:
        """Note what the `If`s give, inner ones first, and what is known where each operation is."""
        for op in block.ops:
            self._known[op.place.index] = known
            if isinstance(op, Assert):
                known = (*known, *self._untaken.asserted(op))
            elif isinstance(op, If):
                branched = self._untaken.branched(op)
                self._walk(op.then_block, (*known, *branched.then), choices)
                self._walk(op.else_block, (*known, *branched.otherwise), choices)
                choices.note(branched)


def _is_possible(literals: tuple[Literal, ...]) -> bool:
    found = set(literals)
    return not any(one.negated in found for one in found)
