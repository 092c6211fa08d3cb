"""Everything that the facts of one function need to know about its whole program, computed once."""

from __future__ import annotations

from functools import cached_property

from relax_lint.analysis.effects import EffectTable
from relax_lint.analysis.storages import StorageResolver
from relax_lint.analysis.summaries import Summaries
from relax_lint.facts.lifetimes import summaries_of
from relax_lint.model.program import Program


class ProgramFacts:
    """The facts that all functions of one program share."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @cached_property
    def storages(self) -> StorageResolver:
        """Which storages a value of any function may be."""
        return StorageResolver(self.program)

    @cached_property
    def effects(self) -> EffectTable:
        """What kernels do to the contents of their arguments."""
        return EffectTable(self.program)

    @cached_property
    def summaries(self) -> Summaries:
        """What the functions of the program do to the tensors that they are given."""
        return summaries_of(self.program, self.effects.effect_of)
