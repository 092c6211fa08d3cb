"""How many accesses of kernels were judged, and what is not known of the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from relax_lint.support.lazy_dataclass import dataclass


@dataclass(frozen=True)
class FunctionAccesses:
    """The accesses of the kernels that one function calls, counted once for each call.

    `depends` counts those that are inside for some inputs, by the symbols that decide; `reasons` those that
    are undecided, by the reason. `assumptions` is what the assumed ones rely on. `unread` says of kernels
    that could not be read as a whole why not.
    """

    path: str
    module: str | None
    function: str
    proved: int
    wrong: int = 0
    assumed: int = 0
    undecided: int = 0
    depends: Mapping[str, int] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()
    reasons: Mapping[str, int] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """All accesses."""
        return self.proved + self.wrong + self.assumed + self.undecided + sum(self.depends.values())

    @property
    def all_proved(self) -> bool:
        """Whether nothing is left to be said."""
        return self.proved == self.total and not self.unread
