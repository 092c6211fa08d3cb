"""Kernels with one body under several names, as the layers of a model give them: what is read once for all.
And those that outlast the module in which they were read, as one model is compiled again and again.

Names inside a body do not make two bodies different, but people see them: where something has to be told of
an access, or of what is inside a kernel, each body is read for itself.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property, partial
from types import MappingProxyType
from typing import Any, TypeAlias

from relax_lint.model.kernel_access.accesses import KernelAccesses
from relax_lint.model.kernel_inside.findings import NOTHING, Inside
from relax_lint.model.kernels import Kernel
from relax_lint.support.lazy_dataclass import record
from relax_lint.vm import comparing

MAX_LASTING = 256
"""Kernels that outlast their module, with the nodes that they are read from: about 50 MiB. A llama of mlc-llm
has 41, and 175 with those of the versions in which the origin of findings is searched for.
"""

Functions: TypeAlias = "Mapping[str, Any]"
Key: TypeAlias = "tuple[int, tuple[str, ...]]"
"""The hash of a body, and the names in the signature."""


@record(frozen=True, eq=False)
class ReadKernel:
    """A body, and the kernel that it is."""

    body: Any
    kernel: Kernel

    @cached_property
    def spelling(self) -> str:
        """The body with all names in it."""
        return comparing.saved(self.body)

    def has_names_of(self, body: Any) -> bool:
        """Whether an equal body has the same names inside, too."""
        return self.body.same_as(body) or self.spelling == comparing.saved(body)


class LastingKernels:
    """The kernels that were read in this process and call no others, by what their bodies do. Of more than
    `most` those are forgotten that nobody has asked for longest.
    """

    def __init__(self, most: int = MAX_LASTING) -> None:
        self._most = most
        self._known: OrderedDict[Key, ReadKernel] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def find(self, key: Key, body: Any) -> ReadKernel | None:
        """The kernel with this body."""
        found = self._known.get(key)
        if found is None or not comparing.structural_equal(found.body, body):
            return None
        self._known.move_to_end(key)
        return found

    def add(self, key: Key, read: ReadKernel) -> None:
        """Keep a kernel."""
        self._known[key] = read
        if len(self._known) > self._most:
            self._known.popitem(last=False)


class _OfThread(threading.local):
    """What is found out about a kernel when it is asked for is not made for several threads."""

    def __init__(self) -> None:
        self.kernels = LastingKernels()


_OF_THREAD = _OfThread()


def lasting_kernels() -> LastingKernels:
    """Those of this thread."""
    return _OF_THREAD.kernels


class _Others(Mapping[str, Any]):
    """The functions that a kernel may call, until it was read: whether it asked for any decides whether it is
    the same in another module.
    """

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self.asked = False

    def __getitem__(self, name: str) -> Any:
        self.asked = True
        return self._functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def let_go(self) -> None:
        """Nothing is asked for any more: of the module nothing else is held."""
        self._functions = MappingProxyType({})


class EqualKernels:
    """The kernels of a module that were read, by what their bodies do, and the `lasting` ones of others."""

    def __init__(self, lasting: LastingKernels | None = None) -> None:
        self._read: dict[Key, list[ReadKernel]] = {}
        self._lasting = lasting

    def named(
        self, name: str, function: Any, read: Callable[[Functions], Kernel], functions: Functions
    ) -> Kernel:
        """The kernel that a PrimFunc is, under its name: one that was read already, where one has the same
        body and the same names in its signature; else what `read` reads, given the `functions` of the module.
        """
        body = comparing.without_name(function)
        key = comparing.structural_hash(body), _signature(function)
        known = self._read.setdefault(key, [])
        found = next((one for one in known if comparing.structural_equal(one.body, body)), None)
        if found is None and self._lasting is not None:
            found = self._lasting.find(key, body)
        if found is not None:
            return renamed(found, name, body, partial(read, functions))
        kernel = self._first(key, body, read, functions)
        known.append(ReadKernel(body, kernel))
        return kernel

    def _first(
        self, key: Key, body: Any, read: Callable[[Functions], Kernel], functions: Functions
    ) -> Kernel:
        """What `read` reads, which is kept once all of it was read, if it is the same in other modules."""
        if self._lasting is None:
            return read(functions)
        lasting, others = self._lasting, _Others(functions)
        kernel = read(others)

        def accesses() -> KernelAccesses:
            found = kernel.accesses
            if not others.asked:
                others.let_go()
                lasting.add(key, ReadKernel(body, kernel))
            return found

        return replace(
            kernel,
            read=accesses,
            look=lambda: kernel.inside,
            reshapes=lambda: kernel.is_reshape,
            sure=lambda: kernel.sure_reads,
        )


def _signature(function: Any) -> tuple[str, ...]:
    """The names of parameters and of what stands alone in their shapes."""
    params = function.params[:]
    names = [str(var.name) for var in params]
    for var in params:
        for extent in getattr(var.ty, "shape", ())[:]:
            names.append(str(getattr(extent, "name", "")))
    return tuple(names)


def renamed(read: ReadKernel, name: str, body: Any, own: Callable[[], Kernel]) -> Kernel:
    """A kernel under another name, of an equal `body`; `own` reads that for itself, where the names inside
    matter and are others.
    """
    kernel = read.kernel
    with_its_names = cache(lambda: kernel if read.has_names_of(body) else own())
    return replace(
        kernel,
        name=name,
        read=partial(_accesses, kernel, with_its_names),
        look=partial(_inside, kernel, with_its_names),
        reshapes=lambda: kernel.is_reshape,
        sure=lambda: kernel.sure_reads,
    )


def _accesses(kernel: Kernel, own: Callable[[], Kernel]) -> KernelAccesses:
    found = kernel.accesses
    return own().accesses if found.open or found.unread else found


def _inside(kernel: Kernel, own: Callable[[], Kernel]) -> Inside:
    return NOTHING if kernel.inside == NOTHING else own().inside
