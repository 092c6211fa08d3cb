"""Calls of a compiled program on the virtual machine. Importing this module imports TVM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tools.hunt.program import Program, Tensor

_ALLOCATED: dict[int, Any] = {}
"""What the emulated graphs of the current machine have allocated, by their numbers."""


def register() -> None:
    """The packed functions that programs call, and graphs of calls for a machine without a GPU."""

    def increment(values: Any) -> Any:
        values.copyfrom(values.numpy() + 1)
        return values

    def into(values: Any, out: Any) -> None:
        out.copyfrom(values.numpy() * 3)

    packed = {
        "hunt.increment": increment,
        "hunt.twice": lambda values: tvm.runtime.tensor(values.numpy() * 2),
        "hunt.same": lambda values: values,
        "hunt.into": into,
        "vm.builtin.cuda_graph.run_or_capture": _captured,
        "vm.builtin.cuda_graph.get_cached_alloc": _cached,
    }
    for name, function in packed.items():
        tvm.register_global_func(name, function, override=True)


def _captured(machine: Any, function: Any, arguments: Any, _number: int, _shape: Any = None) -> Any:
    """What a captured graph does at each call: the same work on the same storages."""
    return _invoked(machine, function, *arguments)


def _cached(machine: Any, function: Any, number: int) -> Any:
    """The storages of graphs are allocated once."""
    if number not in _ALLOCATED:
        _ALLOCATED[number] = _invoked(machine, function)
    return _ALLOCATED[number]


def _invoked(machine: Any, function: Any, *arguments: Any) -> Any:
    return tvm.get_global_func("vm.builtin.invoke_closure")(machine, function, *arguments)


def arguments(program: Program, extent: int) -> Iterator[list[Any]]:
    """The arguments of the calls for one extent, as arrays."""
    for condition in (True, False):
        numbers = np.random.default_rng(7)
        values = []
        for _, kind in program.main.parameters:
            assert isinstance(kind, Tensor)
            shape = tuple(extent if isinstance(e, str) else e for e in kind.shape)
            if kind.dtype == "bool":
                values.append(np.array(condition))
            else:
                values.append(numbers.standard_normal(shape).astype(kind.dtype))
        yield values


def results(module: Any, program: Program) -> dict[int, list[Any]]:
    """For each extent, what two calls with each of the arguments return, and what became of the arguments."""
    return {extent: results_for(module, program, extent) for extent in program.extents}


def results_for(module: Any, program: Program, extent: int) -> list[Any]:
    """The same for one extent."""
    _ALLOCATED.clear()
    devices = [tvm.cpu(0), tvm.cpu(1)] if program.has_devices else tvm.cpu()
    machine = relax.VirtualMachine(module, devices)
    found: list[Any] = []
    for values in arguments(program, extent):
        for _ in range(2):
            given = [tvm.runtime.tensor(value) for value in values]
            found += _flat(machine["main"](*given))
            found += [tensor.numpy() for tensor in given]
    return found


def _flat(value: Any) -> list[Any]:
    if isinstance(value, tvm.runtime.Tensor):
        return [value.numpy().copy()]
    return [array for item in value for array in _flat(item)]


def agree(one: list[Any], other: list[Any], tolerance: float) -> bool:
    """Whether two lists of arrays are the same numbers, as far as another order of operations allows."""
    return len(one) == len(other) and all(
        a.shape == b.shape and a.dtype == b.dtype and _close(a, b, tolerance)
        for a, b in zip(one, other, strict=True)
    )


def _close(one: Any, other: Any, tolerance: float) -> bool:
    if str(one.dtype) in ("float16", "bfloat16"):
        tolerance = max(tolerance, 2e-2)
    a, b = one.astype("float64"), other.astype("float64")
    return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True))
