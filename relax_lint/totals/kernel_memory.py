"""The buffers that the kernels of a module make themselves, in the terms of each call."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import sympy

from relax_lint.analysis.kernel_operands import operand_types
from relax_lint.model.kernel_buffers import KernelBuffer, KernelBuffers
from relax_lint.model.kernels import BufferParameter, ScalarParameter
from relax_lint.model.operations import KernelCall
from relax_lint.model.types import PrimType, TensorType, ValueType
from relax_lint.sources.kernel_lowering import (
    KernelLoweringError,
    is_cpu,
    shared_memory_limit,
    target_of,
)
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.totals.formula import maximum
from relax_lint.totals.lowered_kernels import lowered_buffers
from relax_lint.totals.packed_formulas import sort_bytes
from relax_lint.totals.quantities import Indeterminate, Quantity, Scope
from relax_lint.totals.walk import CallPoint
from relax_lint.vm import versions


@record(frozen=True)
class OnChip:
    """The bytes that a kernel keeps on the chip or the stack, by scope, and the limit of its target."""

    kernel: str
    scope: str
    size: Size
    limit: int | None


@record(frozen=True)
class CallWorkspaces:
    """The requests of one call to the workspace pool in bytes, and their order; those that are `threaded`
    come from each thread of a parallel loop.
    """

    point: CallPoint
    sizes: tuple[Quantity, ...]
    events: tuple[int, ...]
    threaded: frozenset[int] = frozenset()

    def of_a_worker(self) -> CallWorkspaces:
        """What one thread requests that only helps with parallel loops."""
        events = tuple(event for event in self.events if abs(event) - 1 in self.threaded)
        return CallWorkspaces(self.point, self.sizes, events, self.threaded)


class KernelMemory:
    """The kernels of one module by name; each is lowered when it is first called."""

    def __init__(self, module: Any, target: str) -> None:
        self._functions = dict(versions.prim_functions(module))
        self._target = target
        self._read: dict[str, KernelBuffers | Unknown] = {}
        self._sizes: dict[tuple[Hashable, ...], tuple[Scope, list[ValueType], tuple[Quantity, ...]]] = {}

    def of(self, name: str) -> KernelBuffers | Unknown:
        """The buffers of a kernel; Unknown where TVM's passes refuse it."""
        if name not in self._read:
            self._read[name] = lowered_buffers(name, self._functions[name], self._target)
        return self._read[name]

    def call(self, point: CallPoint, positive: frozenset[sympy.Symbol]) -> CallWorkspaces:
        """What one call requests; the symbols in `positive` are not negative. Raises Indeterminate."""
        found = self.of(point.op.callee)
        if isinstance(found, Unknown):
            raise Indeterminate(found.reason)
        if not found.workspaces:
            return CallWorkspaces(point, (), ())
        if found.uncertain is not None:
            raise Indeterminate(f"`{point.op.callee}`: {found.uncertain}")
        assert isinstance(point.op, KernelCall)
        types = operand_types(point.op, point.function)
        # The layers of a model repeat each other. What the key names by its identity is kept with the sizes.
        key = point.op.callee, id(point.scope), positive, tuple(map(id, types))
        known = self._sizes.get(key)
        if known is None:
            scope = _arguments(found, types, point.scope)
            sizes = tuple([_without_maxima(scope.quantity(b.size), positive) for b in found.workspaces])
            known = self._sizes[key] = (point.scope, types, sizes)
        return CallWorkspaces(point, known[2], found.events, found.threaded)

    def requests_nothing(self, name: str) -> bool:
        """Whether no call of a kernel asks the workspace pool for anything."""
        found = self.of(name)
        return not isinstance(found, Unknown) and not found.workspaces

    def scratch(self, point: CallPoint) -> dict[str, Quantity]:
        """The most bytes of the heap that each function takes which a kernel calls. Raises Indeterminate."""
        found = self.of(point.op.callee)
        if isinstance(found, Unknown) or not found.calls:
            return {}
        assert isinstance(point.op, KernelCall)
        types = operand_types(point.op, point.function)
        scope = _arguments(found, types, point.scope)
        taken: dict[str, Quantity] = {}
        for call in found.calls:
            size = sort_bytes(call, scope)
            if size is not None:
                taken[call.name] = size
        return taken

    def uncounted_calls(self, name: str) -> tuple[str, ...]:
        """The functions outside of the module that a kernel calls."""
        found = self.of(name)
        return () if isinstance(found, Unknown) else tuple(call.name for call in found.calls)

    @property
    def target_name(self) -> str:
        """`cpu`, `cuda` or another kind of device."""
        try:
            target = target_of(None, self._target)
        except KernelLoweringError:
            return ""
        return "cpu" if is_cpu(target) else str(target.kind.name)

    def on_chip(self, name: str) -> tuple[OnChip, ...]:
        """What a kernel keeps where no memory is obtained for it, by scope."""
        found = self.of(name)
        if isinstance(found, Unknown) or not (found.stack or found.on_chip):
            return ()
        limit = shared_memory_limit(target_of(self._functions[name], self._target))
        stack = [OnChip(name, "stack", _sum(found.stack), None)] if found.stack else []
        scopes = dict.fromkeys(buffer.scope for buffer in found.on_chip)
        return (
            *stack,
            *(
                OnChip(
                    name,
                    scope,
                    _sum([buffer for buffer in found.on_chip if buffer.scope == scope]),
                    limit if scope.startswith("shared") else None,
                )
                for scope in scopes
            ),
        )

    def runs(self, name: str) -> bool:
        """Whether the module has a kernel of that name."""
        return name in self._functions


def _without_maxima(size: Quantity, positive: frozenset[sympy.Symbol]) -> Quantity:
    """The size with the greatest part of each maximum in its place, where that is known."""
    if isinstance(size, int) or size.is_Integer:
        return size
    return size.replace(sympy.Max, lambda *parts: maximum(parts, positive))


def _sum(buffers: Sequence[KernelBuffer]) -> Size:
    sizes = [buffer.size for buffer in buffers]
    unknown = next((size for size in sizes if isinstance(size, Unknown)), None)
    return unknown or sympy.Add(*sizes)


def _arguments(kernel: KernelBuffers, types: Sequence[ValueType], scope: Scope) -> Scope:
    """The values of the kernel's symbols in one call, as far as the types of its arguments tell them."""
    found: dict[sympy.Symbol, Quantity] = {}

    def learn(symbol: Any, given: Size) -> None:
        if isinstance(symbol, sympy.Symbol) and symbol not in found:
            try:
                found[symbol] = scope.quantity(given)
            except Indeterminate:
                return

    pairs = list(zip(kernel.parameters, types, strict=False))
    for parameter, type_ in pairs:
        if isinstance(parameter, ScalarParameter) and isinstance(type_, PrimType) and type_.value is not None:
            learn(parameter.symbol, type_.value)
    for parameter, type_ in pairs:
        if isinstance(parameter, BufferParameter) and isinstance(type_, TensorType):
            extents = () if isinstance(parameter.shape, Unknown) else parameter.shape
            for extent, given in zip(extents, type_.shape or (), strict=False):
                learn(extent, given)
    return Scope(found)
