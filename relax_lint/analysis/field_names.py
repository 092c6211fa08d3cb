"""The names of the fields of tuples, those of tuples that are joined behind an `If` too."""

from __future__ import annotations

from relax_lint.analysis.access_paths import Tree, everything
from relax_lint.analysis.aliases import Aliases
from relax_lint.model.operations import Alias, GetItem, MatchCast, Op, ValueId


class FieldNames:
    """The fields of the tuples of one function by name. A field of a tuple that an `If` gives has no name in
    the program and gets one here, a number below zero.
    """

    def __init__(self, aliases: Aliases) -> None:
        self._aliases = aliases
        self._fields: dict[ValueId, tuple[ValueId, ...]] = {}
        self._roots: list[frozenset[ValueId]] = []

    def of(self, value: ValueId, item: int) -> ValueId | None:
        """The name of a field; None where that is not known."""
        fields = self._all(value)
        return fields[item] if item < len(fields) else None

    def roots_of(self, name: ValueId) -> frozenset[ValueId]:
        """The memory behind a value or a field."""
        return self._roots[-1 - name] if name < 0 else self._aliases.roots_of(name)

    def follow(self, op: Op) -> None:
        """Another name for a tuple has the fields of that tuple."""
        source: ValueId | None = None
        if isinstance(op, Alias | MatchCast):
            source = op.source
        elif isinstance(op, GetItem):
            source = self.of(op.tuple, op.item)
        if source is not None and (fields := self._all(source)):
            self._fields[op.result] = fields

    def name(self, value: ValueId, tree: tuple[Tree[ValueId], ...]) -> tuple[ValueId, ...]:
        """Name the fields of a value that has none for them."""
        for field in tree:
            self._roots.append(everything(field))
        last = -len(self._roots)
        self._fields[value] = tuple(last + len(tree) - 1 - item for item in range(len(tree)))
        return self._fields[value]

    def _all(self, value: ValueId) -> tuple[ValueId, ...]:
        return self._fields.get(value) or self._aliases.fields.get(value, ())
