"""What TVM takes for a reshape: `RewriteDataflowReshape` gives its result the bytes of its argument.
Imports TVM.
"""

from __future__ import annotations

import warnings
from typing import Any

import tvm
from tvm import relax

from relax_lint.vm import versions


def is_reshape(prim_func: Any) -> bool:
    """Whether TVM finds that a PrimFunc only gives its first buffer another shape."""
    try:
        return bool(relax.analysis.has_reshape_pattern(prim_func))
    except Exception:
        # RewriteDataflowReshape fails in the same way: nothing comes of the module.
        return False


def becomes_reshape(call: Any) -> bool:
    """Whether the kernel that `LegalizeOps` makes of a call of an operator is taken for a reshape, such as
    that of a multiplication by one; true as well where that cannot be tried.
    """
    try:
        module = alone(call)
        with warnings.catch_warnings(), tvm.transform.PassContext():
            warnings.simplefilter("ignore")
            module = relax.transform.LegalizeOps()(module)
    except Exception:
        return True
    return any(is_reshape(function) for _, function in versions.prim_functions(module))


def variables(call: Any) -> list[int]:
    """The identities of the variables that `alone` makes parameters of, in their order."""
    return [versions.identity(one) for one in relax.analysis.free_vars(call)]


def alone(call: Any) -> Any:
    """A module with a call of an operator and nothing else: its variables are the parameters. Raises
    whatever TVM raises where it cannot be cut out.
    """
    found = list(relax.analysis.free_vars(call))
    fresh = [relax.Var(f"x{number}", versions.type_of(one)) for number, one in enumerate(found)]
    by_old = dict(zip(map(versions.identity, found), fresh, strict=True))

    def replaced(value: Any) -> Any:
        if versions.kind(value) == "Tuple":
            return relax.Tuple([replaced(field) for field in value.fields])
        return by_old.get(versions.identity(value), value)

    arguments = [replaced(argument) for argument in call.args]
    copy = relax.Call(call.op, arguments, call.attrs, list(getattr(call, "ty_args", None) or ()))
    builder = relax.BlockBuilder()
    with builder.function("main", fresh):
        builder.emit_func_output(builder.emit(copy))
    return builder.get()
