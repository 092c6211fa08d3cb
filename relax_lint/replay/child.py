"""The subprocess of a replay: builds a module once per allocator and runs its functions on request.

One JSON object per line comes in on standard input, one goes out on the original standard output;
whatever TVM or a kernel prints goes to standard error. The process may die at any time: that is
what it is for.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from dataclasses import asdict
from typing import Any

import numpy as np
import tvm
from tvm import relax

from relax_lint.replay.guard import Guard
from relax_lint.replay.modules import load_module

MAX_VALUES = 64
"""Tensors with more elements are summarised by their shape alone."""


class BuiltMachines:
    """The virtual machines of one process, built on first use."""

    def __init__(self) -> None:
        self._machines: dict[tuple[str, ...], Any] = {}

    def get(self, request: dict[str, Any]) -> Any:
        """The machine for a request's module, allocator and execution mode."""
        keys = ("format", "module", "allocator", "exec_mode")
        key = tuple(request[name] for name in keys)
        if key not in self._machines:
            module = load_module(request["module"], request["format"])
            executable = relax.build(module, target="llvm", exec_mode=request["exec_mode"])
            self._machines[key] = relax.VirtualMachine(executable, tvm.cpu(), memory_cfg=request["allocator"])
        return self._machines[key]


def answer(machines: BuiltMachines, request: dict[str, Any]) -> dict[str, Any]:
    """Build and run; an exception becomes data."""
    stage = "build"
    try:
        machine = machines.get(request)
        stage = "run"
        if request["fill"] is None:
            return _call(machine, request)
        return _guarded_call(machine, request)
    except BaseException as error:  # TVM's parser raises SystemExit, and each message is a result
        return _failure(error, stage)


def _call(machine: Any, request: dict[str, Any]) -> dict[str, Any]:
    result = machine[request["function"]](*map(_to_tvm, request["inputs"]))
    return {"stage": "run", "outputs": [_summary(value) for value in _flatten(result)]}


def _guarded_call(machine: Any, request: dict[str, Any]) -> dict[str, Any]:
    guard = Guard()
    with guard.guarding(request["fill"]):
        try:
            reply = _call(machine, request)
        except Exception as error:
            reply = _failure(error, "run")
    damage = guard.damage
    return {**reply, "damage": None if damage is None else asdict(damage), "left_out": guard.left_out}


def _failure(error: BaseException, stage: str) -> dict[str, Any]:
    return {"stage": stage, "error_type": type(error).__name__, "message": str(error)}


def _to_tvm(value: dict[str, Any]) -> Any:
    if value["kind"] == "scalar":
        return value["value"]
    if value["kind"] == "shape":
        return tvm.runtime.ShapeTuple(value["extents"])
    count = int(np.prod(value["extents"], dtype="int64"))
    contents = (np.arange(count) % MAX_VALUES).reshape(value["extents"])
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


def main() -> None:
    """Answer requests until standard input ends."""
    memory_limit = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (memory_limit, memory_limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    machines = BuiltMachines()
    for line in sys.stdin:
        print(json.dumps(answer(machines, json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    main()
