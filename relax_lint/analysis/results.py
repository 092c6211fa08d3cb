"""Where the result of a call may lie: in memory of its own, or in that of an argument."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from relax_lint.analysis.access_paths import AccessPath, Tree
from relax_lint.analysis.presumption import Presumption
from relax_lint.model.kernels import Kernel
from relax_lint.model.operations import FunctionCall, KernelCall
from relax_lint.vm.builtins import BUILTINS
from relax_lint.vm.calls import CallKind

_RESHAPES = frozenset({"relax.flatten", "relax.expand_dims", "relax.squeeze"})
"""Operators that become kernels which only give their argument another shape."""


@dataclass(frozen=True)
class New:
    """A tensor that a function makes: on memory of its own, or on one of the `storages` that come from
    outside of the function. It is only `presumed` not to lie in the memory of one of `perhaps`.
    A `constant` is new to the caller alone: every call returns the same one.
    """

    storages: frozenset[AccessPath] = frozenset()
    perhaps: frozenset[AccessPath] = frozenset()
    presumed: Presumption | None = None
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


def may_become_a_view(call: KernelCall, kernels: Mapping[str, Kernel]) -> bool:
    """Whether TVM may make a view of what a call returns: in a dataflow block it replaces (in
    `RewriteDataflowReshape`) kernels that only reshape by what shares the bytes of their argument.
    """
    if not call.place.dataflow or not call.arguments:
        return False
    if call.kind is CallKind.OPERATOR:
        return call.callee in _RESHAPES
    kernel = kernels.get(call.callee) if call.kind is CallKind.CALL_TIR else None
    return kernel is not None and kernel.copies == {(0, 1)} and len(kernel.parameters) == 2
