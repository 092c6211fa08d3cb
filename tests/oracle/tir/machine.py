"""Runs a PrimFunc at concrete sizes."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from tests.oracle.tir.allocations import MAX_ELEMENTS
from tests.oracle.tir.expressions import AssumptionBroken, Declined, Frame, key, value
from tests.oracle.tir.memory import Access, Held, Memory, Report, View, compact_strides
from tests.oracle.tir.numbers import Overflow, Undefined, bits_of
from tests.oracle.tir.statements import Action, ReturnError, statement

MAX_STEPS = 200_000


@dataclass(frozen=True)
class Outcome:
    """What a run did: the report, and the final contents of each buffer parameter by its position."""

    report: Report
    contents: Mapping[int, list[Any]]


class Machine:
    """One PrimFunc, ready to run. Raises `Declined` for what it does not know."""

    def __init__(self, prim_func: Any, functions: Mapping[str, Any] = MappingProxyType({})) -> None:
        self._callees = {
            name: (list(function.params), statement(function.body)) for name, function in functions.items()
        }
        self._function = prim_func
        self._body: Action = statement(prim_func.body)
        self._symbols = [(key(var), str(var.name)) for var in _symbols(prim_func)]
        self._extents = {
            position: [value(extent) for extent in var.shape]
            for position, var in enumerate(prim_func.params)
            if _is_buffer(var)
        }

    def shapes(self, sizes: Mapping[str, int]) -> dict[int, tuple[int, ...]] | None:
        """The shapes of the buffer parameters where the symbols have these values, by position; None where
        an extent is negative.
        """
        frame = self._frame(Report(), sizes)
        found = {
            position: tuple(extent(frame) for extent in extents)
            for position, extents in self._extents.items()
        }
        if any(extent < 0 for shape in found.values() for extent in shape):
            return None
        return found

    def run(
        self,
        sizes: Mapping[str, int],
        contents: Mapping[int, Sequence[Any]],
        unwritten: Held = 0,
        overflow: Overflow = Overflow.UNDEFINED,
    ) -> Outcome:
        """One call: `sizes` are the values of symbols and scalar parameters by name, `unwritten` what is loaded
        where nothing was stored, `overflow` what an integer is that is too large.
        """
        report = Report(unwritten=unwritten, overflow=overflow)
        frame = self._frame(report, sizes)
        shapes = self.shapes(sizes)
        if shapes is None:
            raise Declined("a negative extent")
        views: dict[int, View] = {}
        for position, shape in shapes.items():
            view = self._parameter(frame, self._function.params[position], shape)
            view.memory.cells.update(
                (at * view.width, number) for at, number in enumerate(contents[position][: math.prod(shape)])
            )
            views[position] = frame.buffers[key(self._function.params[position])] = view
        try:
            for _ in self._body(frame):
                pass
        except Undefined as error:
            report.undefined = str(error)
        except ReturnError:
            report.failed_assert = True
        except AssumptionBroken:
            report.broken_assumption = True
        return Outcome(report, {position: view.contents() for position, view in views.items()})

    def _frame(self, report: Report, sizes: Mapping[str, int]) -> Frame:
        frame = Frame(Access(report), [MAX_STEPS], self._callees)
        for var, name in self._symbols:
            if name in sizes:
                frame.values[var] = sizes[name]
        return frame

    def _parameter(self, frame: Frame, var: Any, shape: tuple[int, ...]) -> View:
        strides = compact_strides(shape)
        for stride, have in zip(var.strides, strides, strict=False):
            if type(stride).__name__ == "Var":
                frame.values[key(stride)] = have
            elif value(stride)(frame) != have:
                # The caller gives compact tensors only; the kernel refuses them.
                raise Declined("strides")
        if type(var.elem_offset).__name__ == "Var":
            frame.values[key(var.elem_offset)] = 0
        count = math.prod(shape)
        if count > MAX_ELEMENTS:
            raise Declined("the size of a parameter")
        probe = View(str(var.name), Memory(0, False, True), str(var.dtype), shape, strides)
        return View(
            probe.name,
            Memory(count * probe.width, watched=False, races=True, dtype=probe.dtype),
            probe.dtype,
            shape,
            strides,
        )


def _is_buffer(var: Any) -> bool:
    return type(var.ty).__name__ == "BufferType"


def _symbols(prim_func: Any) -> list[Any]:
    """The variables that a call gives a value: scalar parameters and those of extents."""
    found: list[Any] = []
    for var in prim_func.params:
        if not _is_buffer(var):
            found.append(var)
            continue
        pending = list(var.shape)
        while pending:
            one = pending.pop()
            if type(one).__name__ == "Var":
                found.append(one)
            pending += [getattr(one, part) for part in ("a", "b", "value") if hasattr(one, part)]
    return list(dict.fromkeys(found))


def wild_contents(prim_func: Any, shapes: Mapping[int, tuple[int, ...]], seed: int) -> dict[int, list[Any]]:
    """Integers of any size, the ends of each dtype among them; what else there is as `random_contents` has it."""
    chance = random.Random(seed)
    found = random_contents(prim_func, shapes, seed)
    for position, numbers in found.items():
        dtype = str(prim_func.params[position].dtype)
        if dtype.startswith(("int", "uint")):
            high = 2 ** (bits_of(dtype) - dtype.startswith("int")) - 1
            low = -high - 1 if dtype.startswith("int") else 0
            some = (low, high, low, high, 0, -1 if low else 1, 8, 46341)
            found[position] = [max(low, min(high, chance.choice(some))) for _ in numbers]
    return found


def symbol_names(prim_func: Any) -> list[str]:
    """Their names."""
    return sorted({str(var.name) for var in _symbols(prim_func)})


def random_contents(prim_func: Any, shapes: Mapping[int, tuple[int, ...]], seed: int) -> dict[int, list[Any]]:
    """Small numbers of each parameter's dtype."""
    chance = random.Random(seed)
    found: dict[int, list[Any]] = {}
    for position, shape in shapes.items():
        dtype = str(prim_func.params[position].dtype)
        count = min(math.prod(shape), MAX_ELEMENTS)
        if "float" in dtype:
            found[position] = [float(chance.randint(-9, 9)) for _ in range(count)]
        elif dtype == "bool":
            found[position] = [chance.randint(0, 1) for _ in range(count)]
        else:
            found[position] = [chance.randint(0, 3) for _ in range(count)]
    return found
