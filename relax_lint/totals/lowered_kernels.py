"""The buffers that TVM's passes leave in a kernel. To lower one costs more than all else that is asked about
it, and the versions of a module share most of their kernels: what was lowered last is kept.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from relax_lint.model.kernel_buffers import KernelBuffers, has_buffers, read_buffers
from relax_lint.sources.kernel_lowering import KernelLoweringError, is_cpu, lowered_kernel, target_of
from relax_lint.symbolic.quantity import Unknown
from relax_lint.vm import versions

_KEPT = 128

_known: OrderedDict[tuple[int, str, str], tuple[Any, KernelBuffers | Unknown]] = OrderedDict()
"""By the identity of a PrimFunc, its name and the target. The PrimFunc is kept too: it is never changed, and
its identity stays its own as long as it lives.
"""


def lowered_buffers(name: str, prim_func: Any, target: str) -> KernelBuffers | Unknown:
    """The buffers of a kernel on a target; Unknown where TVM's passes refuse it."""
    key = versions.identity(prim_func), name, target
    if key not in _known:
        _known[key] = prim_func, _read(name, prim_func, target)
        if len(_known) > _KEPT:
            _known.popitem(last=False)
    _known.move_to_end(key)
    return _known[key][1]


def _read(name: str, prim_func: Any, target: str) -> KernelBuffers | Unknown:
    if not has_buffers(prim_func):
        return KernelBuffers()
    try:
        on_cpu = is_cpu(target_of(prim_func, target))
        host, *others = lowered_kernel(name, prim_func, target)
    except KernelLoweringError as error:
        return Unknown(f"TVM cannot lower the kernel `{name}`: {error}")
    found = read_buffers(host, target_is_cpu=on_cpu)
    inside = [read_buffers(other, target_is_cpu=on_cpu) for other in others]
    return KernelBuffers(
        found.parameters,
        found.workspaces,
        found.events,
        found.stack,
        (*found.on_chip, *(buffer for each in inside for buffer in each.on_chip)),
        found.calls,
        found.threaded,
        found.uncertain,
    )
