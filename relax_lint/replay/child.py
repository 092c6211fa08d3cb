"""The subprocess of a replay: builds a module once and runs its functions on request.

One JSON object per line comes in on standard input, one goes out on the original standard output;
whatever TVM or a kernel prints goes to standard error. The process may die at any time: that is
what it is for.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import numpy as np
import tvm
from tvm import relax

from relax_lint.replay.guard import Guard
from relax_lint.replay.modules import load_module
from relax_lint.replay.reference import COPY

MAX_VALUES = 64
"""Tensors with more elements are summarised by their shape alone."""
_MAX_READ_ELEMENTS = 1 << 28

_M_PERTURB = -6
_C_LIBRARY = ctypes.CDLL(None)


class BuiltMachines:
    """The modules, executables and virtual machines of one process, each made on first use."""

    def __init__(self) -> None:
        self._modules: dict[str, tuple[str, str]] = {}
        self._executables: dict[tuple[str, str], Any] = {}
        self._machines: dict[tuple[str, str, str], Any] = {}

    def take(self, request: dict[str, Any]) -> None:
        """Keep the module that a request brings along."""
        if "text" in request:
            self._modules[request["key"]] = request["text"], request["format"]

    def get(self, request: dict[str, Any]) -> Any:
        """The machine for a request's module, allocator and execution mode."""
        code = request["key"], request["exec_mode"]
        key = (*code, request["allocator"])
        if key not in self._machines:
            if code not in self._executables:
                module = load_module(*self._modules[request["key"]])
                self._executables[code] = relax.build(module, target="llvm", exec_mode=request["exec_mode"])
            self._machines[key] = relax.VirtualMachine(
                _runnable(self._executables[code]), tvm.cpu(), memory_cfg=request["allocator"]
            )
        return self._machines[key]


def _runnable(executable: Any) -> Any:
    """What a machine is made of. To a module without kernels TVM adds an empty C source, and would start a
    compiler for it, which is refused here.
    """
    return executable.mod if all(map(_is_linked, _with_imports(executable.mod))) else executable


def _is_linked(module: Any) -> bool:
    if module.kind == "c":
        return not module.inspect_source().strip(" ;\n")
    return bool(module.kind != "static_library")


def _with_imports(module: Any) -> Iterator[Any]:
    yield module
    for imported in module.imports:
        yield from _with_imports(imported)


def answer(machines: BuiltMachines, request: dict[str, Any]) -> dict[str, Any]:
    """Build and run; an exception becomes data."""
    stage = "build"
    try:
        machines.take(request)
        machine = machines.get(request)
        stage = "run"
        if request["guarded"]:
            return _guarded_call(machine, request)
        with _filled(request["fill"]):
            return _call(machine, request)
    except BaseException as error:  # TVM's parser raises SystemExit, and each message is a result
        return _failure(error, stage)


def _call(machine: Any, request: dict[str, Any], results: list[Any] | None = None) -> dict[str, Any]:
    """Call the function and describe what it returns, which is also added to `results`."""
    try:
        inputs = [_to_tvm(value) for value in request["inputs"]]
    except Exception as error:
        return _failure(error, "inputs")
    returned = _flatten(machine[request["function"]](*inputs))
    if results is not None:
        results += returned
    return {
        "stage": "run",
        "outputs": [_summary(value) for value in returned],
        # What a call leaves in its arguments is a result as well.
        "digest": _digest([*returned, *_flatten(inputs)]),
    }


def _guarded_call(machine: Any, request: dict[str, Any]) -> dict[str, Any]:
    guard = Guard()
    results: list[Any] = []
    with guard.guarding(request["fill"]):
        try:
            reply = _call(machine, request, results)
        except Exception as error:
            reply = _failure(error, "run")
        _invert(results)
    # The guard has looked at what was written; what is returned may be a constant of the module.
    _invert(results)
    damage = guard.damage
    return {**reply, "damage": None if damage is None else asdict(damage), "left_out": guard.left_out}


def _invert(values: list[Any]) -> None:
    """Write every byte of the tensors among the values; twice leaves them as they were."""
    seen = set()
    for value in values:
        if isinstance(value, tvm.runtime.Tensor) and min(value.shape, default=0) >= 0:
            array = np.from_dlpack(value)
            where = array.ctypes.data, array.nbytes
            if where not in seen:
                seen.add(where)
                bytes_ = np.ctypeslib.as_array(
                    (ctypes.c_uint8 * array.nbytes).from_address(array.ctypes.data)
                )
                np.bitwise_not(bytes_, out=bytes_)


def _failure(error: BaseException, stage: str) -> dict[str, Any]:
    return {"stage": stage, "error_type": type(error).__name__, "message": str(error)}


@contextmanager
def _filled(byte: int | None) -> Iterator[None]:
    """New memory holds this byte, where the C library is glibc."""
    if byte is None or not hasattr(_C_LIBRARY, "mallopt"):
        yield
        return
    try:
        # glibc fills with the complement of what it is told; 0 stands for no filling.
        _C_LIBRARY.mallopt(_M_PERTURB, ~byte & 0xFF)
        yield
    finally:
        _C_LIBRARY.mallopt(_M_PERTURB, 0)


def _copy(tensor: Any) -> Any:
    copy = tvm.runtime.empty(tensor.shape, tensor.dtype, tensor.device)
    return copy.copyfrom(tensor)


def _to_tvm(value: dict[str, Any]) -> Any:
    if value["kind"] == "scalar":
        return value["value"]
    if value["kind"] == "shape":
        return tvm.runtime.ShapeTuple(value["extents"])
    if value["kind"] == "tuple":
        return tuple(_to_tvm(field) for field in value["fields"])
    if value["fill"] is None:
        count = int(np.prod(value["extents"], dtype="int64"))
        contents = (np.arange(count) % MAX_VALUES).reshape(value["extents"])
    else:
        contents = np.full(value["extents"], value["fill"])
    return tvm.runtime.tensor(contents.astype(value["dtype"]))


def _flatten(value: Any) -> list[Any]:
    # A shape value is a tuple of integers as well.
    if isinstance(value, list | tuple | tvm.ir.Array) and not isinstance(value, tvm.runtime.ShapeTuple):
        return [leaf for item in value for leaf in _flatten(item)]
    return [value]


def _summary(value: Any) -> dict[str, Any]:
    if isinstance(value, (bool, int, float)):
        return {"text": str(value).lower(), "values": [value]}
    if isinstance(value, tvm.runtime.ShapeTuple):
        return {"text": f"shape({', '.join(map(str, value))})"}
    if not isinstance(value, tvm.runtime.Tensor):
        return {"text": "none" if value is None else type(value).__name__}
    extents = tuple(map(int, value.shape))
    summary: dict[str, Any] = {"text": f"{value.dtype}[{', '.join(map(str, extents))}]"}
    count = 1
    for extent in extents:
        count *= extent
    if 0 <= count <= MAX_VALUES and min(extents, default=0) >= 0:
        summary["values"] = value.numpy().ravel().tolist()
    return summary


def _digest(values: list[Any]) -> str:
    """A hash of the values with all elements of tensors; empty where a tensor cannot be read."""
    digest = hashlib.sha256()
    for value in values:
        if isinstance(value, tvm.runtime.Tensor):
            if not _is_readable(value):
                return ""
            digest.update(f"{value.dtype}{tuple(map(int, value.shape))}".encode())
            digest.update(value.numpy().tobytes())
        else:
            digest.update(_summary(value)["text"].encode())
    return digest.hexdigest()


def _is_readable(tensor: Any) -> bool:
    """Whether a tensor can have the elements that it says it has."""
    extents = [int(extent) for extent in tensor.shape]
    return min(extents, default=0) >= 0 and math.prod(extents) <= _MAX_READ_ELEMENTS


def main() -> None:
    """Answer requests until standard input ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    tvm.register_global_func(COPY, _copy)
    machines = BuiltMachines()
    for line in sys.stdin:
        print(json.dumps(answer(machines, json.loads(line))), file=replies, flush=True)
