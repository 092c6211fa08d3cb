"""What the walks need that find out what functions show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from relax_lint.analysis.access_paths import AccessPath, everything, with_fields
from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.effects import Effect, EffectTable
from relax_lint.analysis.lowered_operators import Lowered
from relax_lint.analysis.overlaps import TensorMemory
from relax_lint.analysis.shown import Before, Sinks
from relax_lint.analysis.summaries import Summary
from relax_lint.analysis.untaken import Untaken
from relax_lint.model.operations import FunctionCall, KernelCall, ValueId
from relax_lint.model.program import Function
from relax_lint.model.types import TupleType, ValueType
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

    def lowered(self, call: KernelCall) -> Lowered:
        """What becomes of the call of an operator."""

    def summary_of(self, call: FunctionCall) -> Summary | None:
        """What a call of a Relax function does; None where it is not known which function that is."""

    def callees_of(self, call: FunctionCall) -> tuple[Function, ...]:
        """The functions one of which a call is of; none where that is not known."""

    def entered(self, call: FunctionCall) -> Entered | None:
        """The function that a call is of; None where that is not known, or it is one of several."""


@record(frozen=True)
class Entered:
    """The data flow of a function that is called, and what the call gives each value of it that comes from
    outside.
    """

    flow: Flow
    passed: Mapping[ValueId, AccessPath]


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
        return Sinks(frozenset(self.fields_of(self.flow.function.result)), frozenset(self.paths))

    def fields_of(self, value: ValueId) -> list[tuple[int, ...]]:
        """The paths of the fields of a value that have none themselves."""
        found = [fields for fields, _ in with_fields(self.flow.aliases.roots.tree(value))]
        # Of what a function without a declared result returns nothing is known but the type.
        return list(_of_type(self.flow.function.type_of(value))) if found == [()] else found


def _of_type(type_: ValueType, above: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    if not isinstance(type_, TupleType):
        yield above
        return
    for number, field in enumerate(type_.fields):
        yield from _of_type(field, (*above, number))
