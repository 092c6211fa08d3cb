"""What is known of each function of a program before it is walked."""

from __future__ import annotations

from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.liveness import Releases, inserted_kills, last_uses
from relax_lint.model.operations import FunctionCall
from relax_lint.model.program import Function, Program
from relax_lint.totals.quantities import Indeterminate
from relax_lint.totals.walk import Inventory


class Plans:
    """The functions of a program by name, with their aliases and releases."""

    def __init__(self, program: Program) -> None:
        self.host_device = program.devices - 1
        self._functions = {function.name: function for function in program.functions}
        self._aliases: dict[str, Aliases] = {}
        self._releases: dict[tuple[str, bool], Releases] = {}

    def callee(self, call: FunctionCall) -> Function:
        """The function that a call is of. Raises Indeterminate."""
        found = None if call.target is None else self._functions.get(call.target)
        if found is None:
            raise Indeterminate(f"it calls `{call.callee}`, which is not a function of the module")
        return found

    def aliases(self, function: Function) -> Aliases:
        """Which values of a function share a register."""
        if function.name not in self._aliases:
            self._aliases[function.name] = Aliases(function)
        return self._aliases[function.name]

    def releases(self, function: Function, inventory: Inventory) -> Releases:
        """When a function lets go of its values."""
        held_by_registers = inventory is Inventory.STORAGES
        key = (function.name, held_by_registers)
        if key not in self._releases:
            aliases = self.aliases(function)
            self._releases[key] = (
                inserted_kills(function, aliases) if held_by_registers else last_uses(function)
            )
        return self._releases[key]
