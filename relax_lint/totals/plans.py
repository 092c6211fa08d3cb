"""What is known of each function of a program before it is walked."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any
from weakref import proxy

from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.dominance import uses_of_outer
from relax_lint.analysis.effects import EffectTable
from relax_lint.analysis.liveness import Releases, inserted_kills, last_uses
from relax_lint.analysis.roots import Roots
from relax_lint.model.operations import FunctionCall, KernelCall, ValueId
from relax_lint.model.program import Function, Program
from relax_lint.totals.places import Known, Memory, Outside
from relax_lint.totals.quantities import Indeterminate
from relax_lint.totals.roots import ProgramRoots
from relax_lint.totals.walk import Inventory, Walk
from relax_lint.vm.calls import CLOSURE_BUILTINS


class Plans:
    """The functions of a program by name, with their aliases and releases.

    `activations` is for the walker: what calls do that are alike.
    """

    @classmethod
    def of(cls, program: Program) -> Plans:
        """Those of a program, the same for all its functions."""
        if cls not in program.kept:
            program.kept[cls] = cls(program)
        found: Plans = program.kept[cls]
        return found

    def __init__(self, program: Program) -> None:
        self.activations: dict[tuple[Hashable, ...], Any] = {}
        self.walks: dict[tuple[Hashable, ...], list[Walk]] = {}
        """For the walker: the walks without a binding, which several totals are made of."""
        self.host_device = program.devices - 1
        # It keeps these plans: a reference back would keep both until the collector comes.
        self._program: Program = proxy(program)
        self._effects = EffectTable(program)
        self._roots = ProgramRoots(self._program)
        self._functions = program.by_name
        self._aliases: dict[int, tuple[Function, Aliases]] = {}
        """By the identity of a function, which lives as long."""
        self._calls_none: dict[int, tuple[Function, bool]] = {}
        self._captures: dict[str, bool] = {}
        self._releases: dict[tuple[int, bool], Releases] = {}

    def callee(self, call: FunctionCall) -> Function:
        """The function that a call is of. Raises Indeterminate."""
        found = None if call.target is None else self._functions.get(call.target)
        if found is None:
            raise Indeterminate(f"it calls `{call.callee}`, which is not a function of the module")
        if found.name not in self._captures:
            self._captures[found.name] = uses_of_outer(self._program, found)
        if self._captures[found.name]:
            raise Indeterminate(f"it calls the closure `{call.callee}`, and what that holds is not known")
        return found

    def calls_none(self, function: Function) -> bool:
        """Whether a function calls no function of Relax."""
        if id(function) not in self._calls_none:
            none = not function.body.of(FunctionCall)
            self._calls_none[id(function)] = function, none
        return self._calls_none[id(function)][1]

    def check_closures(self, function: Function, call: KernelCall) -> None:
        """Raises Indeterminate where a call makes or calls a closure, or may call a function that it gets."""
        if call.callee in CLOSURE_BUILTINS:
            raise Indeterminate("the memory that a closure holds and allocates is not known")
        named = function.function_values
        if not named:
            return
        passed = [value for value in call.arguments if value in named]
        if passed:
            name = named[passed[0]]
            raise Indeterminate(f"`{call.callee}` gets the function `{name}` and may call it")

    def written(self, call: KernelCall) -> tuple[ValueId, ...]:
        """The arguments that a call may write."""
        writes = self._effects.effect_of(call).writes
        positions = {*writes, *(index for index in call.inplace if index >= 0)}
        return tuple(call.arguments[index] for index in sorted(positions) if index < len(call.arguments))

    def written_elsewhere(self, call: FunctionCall) -> Memory:
        """What a function may write that it is not given."""
        kept = (Known(None, True),) if self._roots.may_meet_kept(call) else ()
        return Memory(frozenset((Outside.CONSTANTS,)), known=frozenset(kept))

    def copied(self, call: KernelCall, written: ValueId) -> Iterator[ValueId]:
        """The arguments that a call copies to one that it writes. Where both are one, it stays as it is."""
        effect, arguments = self._effects.effect_of(call), call.arguments
        ends = [end for end, value in enumerate(arguments) if value == written and end in effect.writes]
        for begin, value in enumerate(arguments):
            if ends and all((begin, end) in effect.copies for end in ends):
                yield value

    def roots(self, function: Function) -> Roots:
        """The memory behind the values of a function."""
        return self._roots.of(function)

    def aliases(self, function: Function) -> Aliases:
        """Which values of a function share a register."""
        known = self._aliases.get(id(function))
        if known is None:
            known = self._aliases[id(function)] = (
                function,
                Aliases(function, moves_pointers=self._program.moves_pointers),
            )
        return known[1]

    def releases(self, function: Function, inventory: Inventory) -> Releases:
        """When a function lets go of its values."""
        held_by_registers = inventory is Inventory.STORAGES
        key, aliases = (id(function), held_by_registers), self.aliases(function)
        known = self._releases.get(key)
        if known is None:
            known = inserted_kills(function, aliases) if held_by_registers else last_uses(function)
            self._releases[key] = known
        return known
