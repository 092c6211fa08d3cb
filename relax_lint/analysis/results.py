"""Where the result of a call may lie: in memory of its own, or in that of an argument."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from relax_lint.analysis.access_paths import AccessPath, Tree
from relax_lint.analysis.presumption import Presumption
from relax_lint.model.operations import FunctionCall, KernelCall
from relax_lint.vm.builtins import BUILTINS
from relax_lint.vm.calls import CallKind


@dataclass(frozen=True)
class New:
    """A tensor that a function makes: on memory of its own, or on one of the `storages` that come from
    outside of the function. It is only `presumed` not to lie in the memory of one of `perhaps`. Two fields of
    a result that are `made` at one place of the function are one tensor. A `constant` is new to the caller
    alone: every call returns the same one.
    """

    storages: frozenset[AccessPath] = frozenset()
    perhaps: frozenset[AccessPath] = frozenset()
    presumed: Presumption | None = None
    made: AccessPath | None = None
    constant: bool = False


Source: TypeAlias = AccessPath | New
"""What a result of a function is: something of its caller's, or something new."""

Result: TypeAlias = "Tree[Source] | None"
"""The result of a function; None where none of its paths is known yet."""


def returns_something_new(call: KernelCall | FunctionCall) -> Presumption | None:
    """What is assumed about the result of a call with unknown effects; None for a call of which
    it is known where its result lies.
    """
    unknown = (CallKind.PACKED, CallKind.BUILTIN)
    if isinstance(call, KernelCall) and (call.kind not in unknown or call.callee in BUILTINS):
        return None
    return Presumption(f"`{call.callee}` returns a new tensor, none that it was given or has kept")
