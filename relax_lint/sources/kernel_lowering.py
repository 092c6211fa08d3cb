"""TVM's passes over one kernel, up to where it would be packed for the code generator. Imports TVM.

They tell which buffers of a kernel are left, and how large. Nothing is compiled or run.
"""

from __future__ import annotations

import warnings
from typing import Any

import tvm

from relax_lint.sources.kernel_vectors import ends_vectorizing
from relax_lint.sources.reasons import reason
from relax_lint.support.errors import UserError

_PACKING = "tirx.MakePackedAPI"
_VECTORIZING = "tirx.VectorizeLoop"
_CPU = 1
"""`kDLCPU`."""


class KernelLoweringError(UserError):
    """TVM's passes refuse a kernel; the message is their reason."""


def lowered_kernel(name: str, prim_func: Any, target: str) -> tuple[Any, ...]:
    """The PrimFuncs that TVM makes of one: that of the host first, then those of the device. A target that
    the PrimFunc names itself wins. Raises KernelLoweringError and MemoryError.
    """
    variable = tvm.ir.GlobalVar(name)
    try:
        with warnings.catch_warnings(), tvm.transform.PassContext(instruments=[_BeforePacking()]):
            warnings.simplefilter("ignore")
            device = tvm.target.Target(target)
            host = device if is_cpu(device) else tvm.target.Target("llvm")
            bind = tvm.tirx.transform.BindTarget(device.with_host(host))
            passes, *_ = tvm.tirx.get_tir_pipeline("default")
            # As when it is built: the passes treat kernels that only kernels call otherwise.
            named = prim_func.with_attr("global_symbol", name)
            functions = passes(bind(tvm.IRModule({variable: named}))).functions
    except MemoryError:
        raise
    except Exception as error:
        raise KernelLoweringError(reason(str(error) or type(error).__name__)) from None
    host_first = sorted(functions.items(), key=lambda item: str(item[0].name_hint) != name)
    return tuple(function for _, function in host_first)


def target_of(prim_func: Any, otherwise: str) -> Any:
    """The target that a PrimFunc (None: none in particular) names, else that of the text. Raises
    KernelLoweringError.
    """
    named = prim_func.attrs.get("target") if prim_func is not None and prim_func.attrs else None
    if named is not None:
        return named
    try:
        return tvm.target.Target(otherwise)
    except Exception as error:
        raise KernelLoweringError(reason(str(error) or type(error).__name__)) from None


def is_cpu(target: Any) -> bool:
    """Whether kernels of a target run on the host."""
    return int(target.get_target_device_type()) == _CPU


def shared_memory_limit(target: Any) -> int | None:
    """Bytes of shared memory that a target declares for a block; None where it declares none."""
    limit = target.attrs.get("max_shared_memory_per_block")
    return None if limit is None else int(limit)


@tvm.ir.instrument.pass_instrument
class _BeforePacking:
    """Leaves out the packing of arguments, which hides symbols, and every pass after it. Refuses what would
    end the process.
    """

    def __init__(self) -> None:
        self._packing = False

    def should_run(self, module: Any, info: Any) -> bool:
        """Whether a pass is run."""
        if info.name == _VECTORIZING and any(map(ends_vectorizing, module.functions.values())):
            raise KernelLoweringError("a vector of indices in a vectorised loop begins at more than its step")
        self._packing = self._packing or info.name == _PACKING
        return not self._packing
