"""How a call passes its arguments and gets its result: one row per calling convention of Relax."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cached_property

from relax_lint.support.lazy_dataclass import dataclass


class CallKind(Enum):
    """The calling convention of a kernel or packed call; what is asked of each is kept, as to hash a member
    takes longer.
    """

    CALL_TIR = "R.call_tir"
    CALL_TIR_INPLACE = "R.call_tir_inplace"
    CALL_DPS_PACKED = "R.call_dps_packed"
    CALL_INPLACE_PACKED = "R.call_inplace_packed"
    PRIM_FUNC = "PrimFunc"
    CALL_TIR_DYN = "R.vm.call_tir_dyn"
    PACKED = "R.call_packed"
    BUILTIN = "R.call_builtin_with_ctx"
    OPERATOR = "operator"

    @cached_property
    def runs_kernel(self) -> bool:
        """Whether the callee may be a PrimFunc of the module."""
        return self in _KERNELS

    @cached_property
    def allocates_result(self) -> bool:
        """Whether every tensor of the result is one that the call allocates."""
        return self in _FRESH

    @cached_property
    def in_place(self) -> bool:
        """Whether the call declares which of its arguments it overwrites."""
        return self in _IN_PLACE

    @cached_property
    def passes_outputs(self) -> bool:
        """Whether the outputs are among the arguments, and only the callee says which they are."""
        return self in _BY_POSITION


_KERNELS = frozenset(
    {CallKind.CALL_TIR, CallKind.CALL_TIR_INPLACE, CallKind.CALL_TIR_DYN, CallKind.PRIM_FUNC}
)
_FRESH = frozenset({CallKind.CALL_TIR, CallKind.CALL_DPS_PACKED, CallKind.OPERATOR})
_IN_PLACE = (CallKind.CALL_TIR_INPLACE, CallKind.CALL_INPLACE_PACKED)
_BY_POSITION = frozenset({CallKind.PRIM_FUNC, CallKind.CALL_TIR_DYN})


@dataclass(frozen=True)
class Convention:
    """An operator whose first argument names the callee.

    `in_tuple` says that the callee's arguments are one tuple. A `pure` call claims to write none of them.
    `believed` is a result type that nothing makes true: the VM allocates every other result with that type.
    """

    kind: CallKind
    in_tuple: bool = False
    pure: bool = False
    believed: bool = False


CLOSURE_CALLS = frozenset({"relax.invoke_closure", "relax.invoke_pure_closure"})
"""The operators that call a closure, which is their first argument."""
MAKE_CLOSURE = "relax.make_closure"
"""The operator that makes a closure: what this holds is a tuple."""
CLOSURE_MAKERS = frozenset({MAKE_CLOSURE, "vm.builtin.make_closure"})
"""The callees that make a closure, which holds their arguments."""
INVOKE_CLOSURE = "vm.builtin.invoke_closure"
"""The builtin that these operators become: with its context, it calls a closure in the same way."""
CLOSURE_BUILTINS = CLOSURE_MAKERS | {INVOKE_CLOSURE}
"""The callees that make a closure or, in lowered functions, call one."""
UNREAD = "not read: "
"""Begins the name of a packed function that stands for a part of a text that was not read."""

CONVENTIONS: Mapping[str, Convention] = {
    "relax.call_tir": Convention(CallKind.CALL_TIR, in_tuple=True),
    "relax.call_tir_with_grad": Convention(CallKind.CALL_TIR, in_tuple=True),
    "relax.call_tir_inplace": Convention(CallKind.CALL_TIR_INPLACE, in_tuple=True),
    "relax.call_dps_packed": Convention(CallKind.CALL_DPS_PACKED, in_tuple=True),
    "relax.call_inplace_packed": Convention(CallKind.CALL_INPLACE_PACKED, believed=True),
    "relax.call_pure_packed": Convention(CallKind.PACKED, pure=True, believed=True),
    # A Python function of the module gets the tensors themselves and may return one of them.
    "relax.call_py_func": Convention(CallKind.PACKED, in_tuple=True, believed=True),
    "relax.call_builtin_with_ctx": Convention(CallKind.BUILTIN, in_tuple=True, believed=True),
    "relax.vm.call_tir_dyn": Convention(CallKind.CALL_TIR_DYN, in_tuple=True),
}
