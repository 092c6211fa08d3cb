"""What the walks need that find out what functions show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from relax_lint.analysis.access_paths import AccessPath, everything, with_fields
from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.effects import Effect, EffectTable
from relax_lint.analysis.overlaps import TensorMemory
from relax_lint.analysis.shown import Before, Sinks
from relax_lint.analysis.summaries import Summary
from relax_lint.analysis.untaken import Untaken
from relax_lint.model.operations import FunctionCall, KernelCall, ValueId
from relax_lint.model.program import Function
from relax_lint.support.lazy_dataclass import record


class Flow(Protocol):
    """The data flow of one function, as far as its walk needs it."""

    function: Function

    @property
    def aliases(self) -> Aliases:
        """Which values share a register, or bytes."""

    @property
    def memory(self) -> TensorMemory:
        """Where the bytes of the tensors are."""

    @property
    def captured(self) -> frozenset[ValueId]:
        """The values of outer functions that an inner function may use."""

    @property
    def untaken(self) -> Untaken:
        """What no run reaches."""

    @property
    def effects(self) -> EffectTable:
        """What kernels do to the contents of their arguments."""

    def effect_of(self, call: KernelCall) -> Effect:
        """What a call does to the contents of its arguments."""

    def summary_of(self, call: FunctionCall) -> Summary | None:
        """What a call of a Relax function does; None where it is not known which function that is."""

    def callees_of(self, call: FunctionCall) -> tuple[Function, ...]:
        """The functions one of which a call is of; none where that is not known."""


@record(frozen=True)
class Parts:
    """What the walks over one function need. `passed` tells what a call gives each value of a function that
    comes from outside, `outside_of` what these values are, and `before` what such a function shows of them
    as they come in where its caller shows some of what it gives back.
    """

    flow: Flow
    passed: Callable[[FunctionCall, Function], Mapping[ValueId, AccessPath]]
    outside_of: Callable[[Function], tuple[AccessPath, ...]]
    before: Callable[[Function, Sinks], Before]

    @property
    def paths(self) -> tuple[AccessPath, ...]:
        """What comes from outside, each field of a tuple apart."""
        roots, outside = self.flow.aliases.roots, self.flow.captured.union(self.flow.function.parameters)
        found = (root for value in outside for root in everything(roots.tree(value)))
        return tuple(sorted({roots.path(root) for root in found}))

    @property
    def everything(self) -> Sinks:
        """All that callers can look at when the function returns."""
        fields = (
            fields for fields, _ in with_fields(self.flow.aliases.roots.tree(self.flow.function.result))
        )
        return Sinks(frozenset(fields), frozenset(self.paths))
