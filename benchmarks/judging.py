"""The virtual machine as a judge: runs of whole modules in processes of their own, under the guard."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import tvm
from tvm import relax

from benchmarks.victims import Victim
from relax_lint.replay.guard import Guard, GuardUnavailableError, environment, fault_in

TIME_LIMIT = 60
FILLS = (0x7F, 0x00)
"""What new memory is filled with: an answer that differs between two fills was never written."""


@dataclass(frozen=True)
class Judged:
    """What one run did: an error in words, or the numbers for each set of inputs."""

    error: str = ""
    outputs: tuple[Any, ...] = ()

    def same_as(self, other: Judged) -> bool:
        """The same numbers."""
        pairs = zip(self.outputs, other.outputs, strict=True)
        return all(a.shape == b.shape and np.array_equal(a, b, equal_nan=True) for a, b in pairs)


def run_guarded() -> None:
    """Start this program again under the guard if it is not, and end with it; goes on where there is none."""
    try:
        Guard()
    except GuardUnavailableError:
        try:
            added = environment()
        except GuardUnavailableError as reason:
            print(f"without the guard: {reason}", file=sys.stderr)
            return
        command = [sys.executable, *sys.orig_argv[1:]]
        raise SystemExit(
            subprocess.run(command, env={**os.environ, **added}, check=False).returncode
        ) from None


def run_apart(module: Any, victim: Victim, allocator: str, fill: int | None = None) -> Judged:
    """Build and run in a child process, with `fill` under the guard."""
    receiving, sending = multiprocessing.Pipe(duplex=False)
    log = os.memfd_create("log")

    def work() -> None:
        os.dup2(log, 2)
        sending.send(_judged(module, victim, allocator, fill))
        sending.close()
        os._exit(0)

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    sending.close()
    try:
        judged: Judged = receiving.recv() if receiving.poll(TIME_LIMIT) else Judged("time limit")
    except EOFError:
        damage = fault_in(os.pread(log, 1 << 20, 0).decode("utf-8", "replace"))
        judged = Judged("died" if damage is None else f"died: {damage}")
    process.kill()
    process.join()
    os.close(log)
    return judged


def _judged(module: Any, victim: Victim, allocator: str, fill: int | None) -> Judged:
    guard = None if fill is None else Guard()
    try:
        executable = relax.build(module, target="llvm")
        machine = relax.VirtualMachine(executable, tvm.cpu(), memory_cfg=allocator)
        outputs: list[Any] = []
        for inputs in victim.inputs:
            with nullcontext() if guard is None or fill is None else guard.guarding(fill):
                result = machine[victim.entry](*map(tvm.runtime.tensor, inputs))
                outputs += _arrays(result)
                del result
            if guard is not None and guard.damage is not None:
                return Judged(f"{guard.damage}")
    except BaseException as error:
        return Judged(f"{type(error).__name__}: {str(error).strip()[:70]}".replace("\n", " "))
    return Judged(outputs=tuple(outputs))


def _arrays(value: Any) -> Iterable[Any]:
    if isinstance(value, tvm.runtime.Tensor):
        return [value.numpy()]
    if isinstance(value, int | float | bool):
        return [np.array(value)]
    return [array for item in value for array in _arrays(item)]


def fault(right: Judged, module: Any, victim: Victim) -> str:
    """What is wrong with the module at run time; empty where nothing is.

    Runs it with the naive allocator, under the guard with two fills where there is one, and with the
    pooled allocator.
    """
    try:
        Guard()
        runs = [("naive", FILLS[0]), ("naive", FILLS[1]), ("pooled", None)]
    except GuardUnavailableError:
        runs = [("naive", None), ("pooled", None)]
    for allocator, fill in runs:
        judged = run_apart(module, victim, allocator, fill)
        where = allocator if fill is None else f"{allocator}, filled with {fill:#x}"
        if judged.error:
            return f"{where}: {judged.error}"
        if not judged.same_as(right):
            return f"{where}: other numbers"
    return ""
