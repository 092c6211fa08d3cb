"""Which of its tensors a value is that an `If` gives: of the first branch where the condition was true."""

from __future__ import annotations

from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.conditions import Branched, Literal
from relax_lint.analysis.paths import Paths
from relax_lint.model.operations import If, ValueId, View


class Choices:
    """The values that an `If` gives in one function, as far as the walk has got."""

    def __init__(self, aliases: Aliases, paths: Paths) -> None:
        self._aliases = aliases
        self._paths = paths
        self._found: dict[ValueId, dict[ValueId, tuple[Literal, ...]]] = {}

    def note(self, branched: Branched) -> None:
        """An `If` gives a value."""
        op = branched.op
        if not branched.then or len(self._aliases.roots_of(op.result)) < 2:
            return
        found: dict[ValueId, tuple[Literal, ...]] = {}
        for result, asked in ((op.then_result, branched.then), (op.else_result, branched.otherwise)):
            for root in self._aliases.roots_of(result):
                literals = (*asked[:1], *self.when(result, root))
                known = found.get(root, literals)
                found[root] = tuple(one for one in known if one in literals)
        self._found[op.result] = found

    def when(self, value: ValueId, root: ValueId) -> tuple[Literal, ...]:
        """What is so where a value is this one of its tensors."""
        return self._found[chosen].get(root, ()) if (chosen := self._chosen(value)) is not None else ()

    def exactly(self, value: ValueId, root: ValueId) -> Literal | None:
        """What is so where a value is this one of its tensors, and nowhere else."""
        chosen = self._chosen(value)
        op = None if chosen is None else self._paths.definitions[chosen]
        if not isinstance(op, If):
            return None
        literals = self._found[op.result].get(root, ())
        given = [self._aliases.roots_of(one) for one in (op.then_result, op.else_result)]
        is_one = [roots for roots in given if root in roots] == [{root}]
        return literals[0] if is_one and len(literals) == 1 else None

    def possible(
        self, value: ValueId, roots: frozenset[ValueId], known: tuple[Literal, ...]
    ) -> frozenset[ValueId]:
        """Those tensors that a value may be where something is known of conditions."""
        if len(roots) < 2 or not known or self._chosen(value) is None:
            return roots
        return frozenset(
            root for root in roots if not any(one.negated in known for one in self.when(value, root))
        )

    def _chosen(self, value: ValueId) -> ValueId | None:
        """The result of an `If` that a value is, or views."""
        if not self._found:
            return None
        name = self._aliases.identity(value)
        while isinstance(op := self._paths.definitions.get(name), View):
            name = self._aliases.identity(op.source)
        return name if isinstance(op, If) and name in self._found else None
