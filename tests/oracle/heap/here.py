"""Calls in this process, where a packed function of Python writes into the shape heaps that it is given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import tvm
from tvm import relax

from relax_lint.replay.child import _runnable
from relax_lint.replay.modules import load_module

from .program import PUT, PUTS


def _heaps(given: Any) -> Iterator[Any]:
    if isinstance(given, tvm.runtime.Tensor):
        if str(given.dtype) == "int64":
            yield given
    else:
        for field in given:
            yield from _heaps(field)


def _put(given: Any, slot: int) -> None:
    for heap in _heaps(given):
        slots = heap.numpy().copy()
        slots[slot] = PUTS
        heap.copyfrom(slots)


@lru_cache(maxsize=1)
def _machine(text: str) -> Any:
    tvm.register_global_func(PUT, _put, override=True)
    executable = relax.build(load_module(text, "script"), target="llvm")
    return relax.VirtualMachine(_runnable(executable), tvm.cpu(), memory_cfg="naive")


def ended(text: str, extents: Sequence[int], number: int, condition: bool) -> str | None:
    """The type of the exception that ends `main` of tensors with these extents, a shape and a condition; None where
    nothing does.
    """
    inputs = [tvm.runtime.tensor(np.zeros(extent, "float32")) for extent in extents]
    try:
        _machine(text)["main"](
            *inputs, tvm.runtime.ShapeTuple([number]), tvm.runtime.tensor(np.array(condition))
        )
    except Exception as error:
        return type(error).__name__
    return None
