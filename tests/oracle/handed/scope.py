"""What a random function may use at one point."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.oracle.handed.program import Function


@dataclass
class Scope:
    """What may be used in a function: tensors with the text of their extent (None: not known), storages, conditions
    of assertions, tuples with the extents of their fields, closures and inner functions with the number of their arguments.
    """

    tensors: dict[str, str | None]
    storages: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=lambda: ["c"])
    pairs: dict[str, tuple[str | None, ...]] = field(default_factory=dict)
    closures: dict[str, int] = field(default_factory=dict)
    bundles: dict[str, tuple[int, ...]] = field(default_factory=dict)
    inner: dict[str, Function] = field(default_factory=dict)
    extents: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    kept: bool = False
    is_inside: bool = False

    def copy(self) -> Scope:
        """The same, for a branch."""
        found = Scope(
            dict(self.tensors), [*self.storages], [*self.flags], dict(self.pairs), dict(self.closures)
        )
        found.inner, found.extents, found.used = dict(self.inner), [*self.extents], self.used
        return found
