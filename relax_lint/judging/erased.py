"""What TVM's passes erase: where nothing of it is there, a module need not be judged before they run."""

from __future__ import annotations

from typing import Any

from relax_lint.model.prim_funcs import Kernels
from relax_lint.vm import versions

_CALL = "call_tir"
_DECLARING = ("call_tir", "call_inplace_packed")
"""How the names of the calls begin of which CallTIRRewrite makes plain ones."""


def says_who_works_in_place(module: Any, kernels: Kernels) -> bool:
    """Whether a call of a module is meant to overwrite an argument, or runs a kernel that writes to what
    `R.call_tir` gives it to read. After CallTIRRewrite nothing tells that from any other call.
    """
    return any(_says(call, kernels) for call in versions.bound_values(module))


def _says(call: Any, kernels: Kernels) -> bool:
    name = versions.operator_name(call)
    if name != _CALL:
        return name.startswith(_DECLARING)
    given = call.args[1]
    kernel = kernels.get(str(getattr(call.args[0], "name_hint", "")))
    if kernel is None or type(given).__name__ != "Tuple":
        return True
    return any(position < len(given.fields) for position in kernel.writes)
