"""Kernels with one body under several names, as the layers of a model give them: what is read once for all.

Names inside a body do not make two bodies different, but people see them: where something has to be told of
an access, or of what is inside a kernel, each body is read for itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

from relax_lint.model.kernel_access.accesses import KernelAccesses
from relax_lint.model.kernel_inside.findings import NOTHING, Inside
from relax_lint.model.kernels import Kernel
from relax_lint.vm import versions


class EqualKernels:
    """The kernels of a module that were read, by what their bodies do."""

    def __init__(self) -> None:
        self._read: dict[int, list[tuple[Any, tuple[str, ...], Kernel]]] = {}

    def like(self, function: Any, read: Callable[[], Kernel]) -> tuple[Kernel, bool]:
        """A kernel that was read and has the same body and the same names in its signature, and True; else
        what `read` reads, and False.
        """
        names, body = _signature(function), versions.without_name(function)
        known = self._read.setdefault(versions.structural_hash(body), [])
        for other, signature, kernel in known:
            # Why an argument is not followed may name what is inside.
            if not kernel.opaque and signature == names and versions.structural_equal(other, body):
                return kernel, True
        kernel = read()
        known.append((body, names, kernel))
        return kernel, False


def _signature(function: Any) -> tuple[str, ...]:
    """The names of parameters and of what stands alone in their shapes."""
    params = function.params[:]
    names = [str(var.name) for var in params]
    for var in params:
        for extent in getattr(var.ty, "shape", ())[:]:
            names.append(str(getattr(extent, "name", "")))
    return tuple(names)


def renamed(kernel: Kernel, name: str, own: Callable[[], Kernel]) -> Kernel:
    """A kernel under another name; `own` reads it for itself, where the names inside it matter."""
    own = cache(own)
    return replace(
        kernel, name=name, read=partial(_accesses, kernel, own), look=partial(_inside, kernel, own)
    )


def _accesses(kernel: Kernel, own: Callable[[], Kernel]) -> KernelAccesses:
    found = kernel.accesses
    return own().accesses if found.open or found.unread else found


def _inside(kernel: Kernel, own: Callable[[], Kernel]) -> Inside:
    return NOTHING if kernel.inside == NOTHING else own().inside
