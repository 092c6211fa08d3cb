"""The data flow of a program and of its functions, each part computed when it is first asked for."""

from __future__ import annotations

from functools import cached_property

from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.contents import Contents
from relax_lint.analysis.dominance import UndominatedUse, captured_values, undominated_uses
from relax_lint.analysis.effects import Effect, EffectTable
from relax_lint.analysis.kills import Kills
from relax_lint.analysis.overlaps import TensorMemory
from relax_lint.analysis.paths import Paths
from relax_lint.analysis.storages import StorageResolver, Storages
from relax_lint.analysis.summaries import Summaries, Summary
from relax_lint.model.operations import FunctionCall, KernelCall, Op, ValueId
from relax_lint.model.program import Function, Program


class ProgramFlow:
    """What all functions of one program share."""

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
        return Summaries(self.program, lambda function: FunctionFlow(self, function).summary)


class FunctionFlow:
    """The data flow of one function."""

    def __init__(self, shared: ProgramFlow, function: Function) -> None:
        self.program = shared.program
        self.function = function
        self._shared = shared

    @cached_property
    def operations(self) -> tuple[Op, ...]:
        """Every operation in program order, branches included."""
        return tuple(self.function.body.walk())

    @cached_property
    def calls(self) -> tuple[KernelCall, ...]:
        """Every call of a kernel, a packed function or an operator."""
        return tuple(op for op in self.operations if isinstance(op, KernelCall))

    @cached_property
    def effects(self) -> EffectTable:
        """What kernels do to the contents of their arguments."""
        return self._shared.effects

    def effect_of(self, call: KernelCall) -> Effect:
        """What a call does to the contents of its arguments."""
        return self.effects.effect_of(call)

    def storages_of(self, value: ValueId) -> Storages:
        """The storages that a value may be."""
        return self._shared.storages.storages_of(self.function, value)

    @cached_property
    def aliases(self) -> Aliases:
        """Which values share a register, or bytes."""

        def returned(call: FunctionCall) -> tuple[ValueId, ...]:
            summary = self._summary_of(call)
            return (call.result,) if summary is None else summary.returned(call)

        return Aliases(self.function, returned)

    @cached_property
    def paths(self) -> Paths:
        """The branches around each operation, and what defines each value."""
        return Paths(self.function)

    @cached_property
    def captured(self) -> frozenset[ValueId]:
        """The values of outer functions that an inner function may use."""
        return captured_values(self.program, self.function)

    @cached_property
    def kills(self) -> Kills:
        """What is used or killed after a kill."""
        return Kills(self.function, self.aliases)

    @cached_property
    def undominated_uses(self) -> tuple[UndominatedUse, ...]:
        """What is used where it is not defined on every path."""
        return tuple(undominated_uses(self.program, self.function, self.paths, self.captured))

    @cached_property
    def contents(self) -> Contents:
        """What tensors hold when they are read."""
        return Contents(
            self.function, self.aliases, self.paths, self.effect_of, self._summary_of, self.captured
        )

    @cached_property
    def memory(self) -> TensorMemory:
        """Where the bytes of the tensors are."""
        return TensorMemory(self.function, self.aliases, self.paths.definitions)

    @cached_property
    def returned(self) -> frozenset[ValueId]:
        """The values whose bytes the result may share."""
        leaves = self.aliases.leaves(self.function.result)
        return frozenset(root for leaf in leaves for root in self.aliases.roots_of(leaf))

    @property
    def summary(self) -> Summary:
        """What the function does to the tensors that it is given."""
        contents, outside = self.contents, self.captured.union(self.function.parameters)
        return Summary(
            self.function.parameters,
            frozenset(contents.reads),
            frozenset(contents.writes),
            frozenset(contents.passed),
            self.returned & outside,
            bool(self.returned - outside),
            contents.returns_unwritten,
        )

    def _summary_of(self, call: FunctionCall) -> Summary | None:
        return self._shared.summaries.of(call, self.function)
