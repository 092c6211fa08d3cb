"""The positions of the statements of a module in a text: the seam between sources and the model."""

from __future__ import annotations

from typing import Any, Protocol

from relax_lint.results.location import Location


class Positions(Protocol):
    """The positions of the statements of a module in the text that it was parsed from."""

    def binding(self, var: Any, value: Any) -> Location | None:
        """The statement (its value expression) that made a binding, by the variable's identity."""
        ...

    def argument(self, var: Any, value: Any, index: int) -> Location | None:
        """Argument `index` of the call that a binding's value is; None where it is not known."""
        ...

    def function(self, name: str) -> Location | None:
        """The line of the `def` of a function."""
        ...

    def parameter(self, name: str, index: int) -> Location | None:
        """Parameter `index` of a function, with its annotation."""
        ...

    def attributes(self, name: str) -> Location | None:
        """The `R.func_attr` call of a function."""
        ...


class NoPositions:
    """Positions of a module that was not parsed from text."""

    def binding(self, var: Any, value: Any) -> Location | None:
        """None."""

    def argument(self, var: Any, value: Any, index: int) -> Location | None:
        """None."""

    def function(self, name: str) -> Location | None:
        """None."""

    def parameter(self, name: str, index: int) -> Location | None:
        """None."""

    def attributes(self, name: str) -> Location | None:
        """None."""
