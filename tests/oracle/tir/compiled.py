"""The interpreter against the compiled kernel, on inputs for which nothing is outside."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import tvm

from tests.oracle.tir.compare import Disagreement, Unusable, parts, read, sizes
from tests.oracle.tir.expressions import Declined
from tests.oracle.tir.machine import Machine, Outcome, random_contents, symbol_names
from tests.oracle.tir.writer import Kernel, script

_FAULTY = ("s_tir.InsertHoistIfThenElse",)
"""Passes that are known to make a right kernel wrong (`examples/trophies/hoisted_out_of_a_branch.py`)."""
_EVERY = 7
"""One of so many sizes is run."""
_LARGEST = 2**63 - 1
"""What a compiled kernel can be given: larger numbers of 64 bits without a sign are refused before it runs."""


def compare_machine(kernel: Kernel) -> Counter[str]:
    """What the compiled kernel leaves in memory is what the interpreter leaves. Raises `Disagreement`."""
    text = script(kernel)
    if "thread_binding" in text:
        raise Unusable("no device")
    return compare_function(read(kernel))


def compare_function(given: Any) -> Counter[str]:
    """The same for a PrimFunc, or a module as `read` gives it."""
    seen: Counter[str] = Counter()
    prim_func, functions = parts(given)
    try:
        machine = Machine(prim_func, functions)
        module = given.clone() if functions else tvm.IRModule({"f": prim_func})
        module["f"] = prim_func.with_attr("global_symbol", "f")
        with tvm.transform.PassContext(disabled_pass=_FAULTY):
            compiled = tvm.compile(module, target="llvm")
    except Exception as error:
        # TVM has many kinds of errors.
        raise Unusable(f"TVM: {error}") from None
    for number, size in enumerate(sizes(symbol_names(prim_func))):
        shapes = machine.shapes(size)
        if number % _EVERY != _EVERY // 2 or shapes is None or max(size.values(), default=0) > _LARGEST:
            continue
        contents = random_contents(prim_func, shapes, number)
        try:
            outcome = machine.run(size, contents)
        except Declined as error:
            raise Unusable(f"declined: {error}") from None
        if _is_defined(outcome):
            arguments = _arguments(prim_func, size, shapes, contents)
            compiled["f"](*arguments)
            seen["runs on the machine"] += 1
            _same(outcome, arguments, size)
    return seen


def _is_defined(outcome: Outcome) -> bool:
    report = outcome.report
    broken = report.broken_assumption or report.undefined is not None or report.failed_assert
    broken = broken or report.is_mixed
    return not (report.outside or report.early or report.races or broken)


def _arguments(prim_func: Any, size: dict[str, int], shapes: Any, contents: Any) -> list[Any]:
    found: list[Any] = []
    for position, var in enumerate(prim_func.params):
        if position in shapes:
            cells = np.array(contents[position]).astype(str(var.dtype)).reshape(shapes[position])
            found.append(tvm.runtime.tensor(cells))
        else:
            found.append(size[str(var.name)])
    return found


def _same(outcome: Outcome, arguments: list[Any], size: dict[str, int]) -> None:
    for position, want in outcome.contents.items():
        got = arguments[position].numpy().reshape(-1).astype("float64")
        expected = np.array(want, "float64")
        if not np.allclose(got, expected, rtol=1e-3, atol=1e-3, equal_nan=True):
            raise Disagreement(f"the interpreter, at {size}: {expected[:8]} but {got[:8]} is computed")
