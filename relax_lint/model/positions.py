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

    def access(self, kernel: str, buffer: str, *, writes: bool, number: int, of: int) -> Location | None:
        """In a kernel the access with a number of the loads from, or the stores to, a buffer of this name, of
        which there are so many.
        """
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

    def access(self, kernel: str, buffer: str, *, writes: bool, number: int, of: int) -> Location | None:
        """None."""
