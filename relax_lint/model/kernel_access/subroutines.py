"""Calls of PrimFuncs by kernels: the accesses of what is called are accesses of the kernel."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from relax_lint.model.kernel_access.accesses import Region
from relax_lint.model.kernel_access.conditions import Condition
from relax_lint.model.kernel_access.layouts import MemoryPointer, memory_of, position_of
from relax_lint.model.kernel_access.polynomials import ZERO, TooLarge
from relax_lint.model.kernel_access.survey import Survey
from relax_lint.model.kernel_access.warps import Warps
from relax_lint.vm import nodes

MAX_DEPTH = 4
MAX_FOLLOWED = 32
"""Calls that are followed in one kernel, one within the other and altogether."""


class Subroutines(Warps):
    """Follows calls of PrimFuncs that are given pointers and numbers."""

    def __init__(self, survey: Survey, callees: Mapping[str, Any]) -> None:
        super().__init__(survey)
        self._callees = callees
        self._inside: tuple[str, ...] = ()
        self._followed = 0

    def statement(self, node: Any) -> None:
        """Read a statement."""
        raise NotImplementedError

    def scope(self, *facts: Condition, other: Region | None = None) -> AbstractContextManager[Region]:
        """Where some facts hold."""
        raise NotImplementedError

    def pointed(self, data: Any) -> MemoryPointer | None:
        """Where an expression points to."""
        source = nodes.data_of_buffer(data)
        if source is not None:
            return MemoryPointer(self.buffer(source), ZERO)
        element = nodes.addressed(data)
        if element is None:
            return self.pointers.get(data.__chandle__())
        buffer = self.buffer(nodes.loaded_buffer(element))
        indices = [index for index in self.indices(element.indices) if index is not None]
        is_known = len(indices) == len(buffer.shape) and memory_of(buffer).is_compact
        try:
            return MemoryPointer(buffer, position_of(buffer, indices) if is_known else None)
        except TooLarge:
            return MemoryPointer(buffer, None)

    def subroutine(self, node: Any) -> bool:
        """Read the body of a PrimFunc that is called, if all that it is given is known."""
        name = str(node.op.name_hint)
        callee = self._callees.get(name)
        if callee is None or name in self._inside or len(self._inside) >= MAX_DEPTH:
            return False
        pairs = list(zip(callee.params, node.args, strict=False))
        self._followed += 1
        if len(pairs) != len(callee.params) or self._followed > MAX_FOLLOWED:
            return False
        given = [(var, arg) for var, arg in pairs if not _is_number(var)]
        if not all(self._is_pointer(arg) for _, arg in given) or any(
            type(var.ty).__name__ == "BufferType" for var in callee.params
        ):
            # A pointer is no tensor: the shape of such a parameter says nothing of the memory.
            return False
        pointers = {var.__chandle__(): self.pointed(arg) for var, arg in given}
        values = [(var, self.settled(arg)) for var, arg in pairs if _is_number(var)]
        for var, value in values:
            self.bind(var, value)
        self._read_body(
            name, callee, {at: pointer for at, pointer in pointers.items() if pointer is not None}
        )
        return True

    def _is_pointer(self, node: Any) -> bool:
        return (
            nodes.data_of_buffer(node) is not None
            or nodes.addressed(node) is not None
            or node.__chandle__() in self.pointers
        )

    def _read_body(self, name: str, callee: Any, given: Mapping[int, MemoryPointer]) -> None:
        self.pointers.update(given)
        before, self._inside = self._inside, (*self._inside, name)
        known = len(self.facts)
        with self.scope():
            self.statement(callee.body)
            checked = self.facts[known:]
        if not self.survey.of(callee.body)[1]:
            # Who comes back has passed what it asserts.
            self.facts = (*self.facts, *checked)
        self._inside = before
        for pointer in given.values():
            # A loop around the call does not show what the call stores.
            self.handed.add(pointer.buffer.ref.root)


def _is_number(var: Any) -> bool:
    return type(var.ty).__name__ == "PrimType" and not str(var.ty.dtype).startswith("handle")
