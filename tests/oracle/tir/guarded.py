"""Conditions on accesses against the guard allocator: outside of them a compiled kernel leaves its memory.

python -m tests.oracle.tir.guarded [--minutes 5] [--kernels N] [--seed N]

Of random kernels those are run of which the linter says exactly when all accesses are inside, at sizes for
which that holds and at sizes for which it does not. At the former the guard sees nothing. At the latter it
sees what the interpreter of the tests saw; an access that is outside an axis and still inside the memory is
counted apart, and so is a read that the compiler has left out. The exit code is 1 where they disagree.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import tvm

from benchmarks.kernel_callers import called
from relax_lint.replay import Input, Machine, Module, Outcome, Shape, Tensor
from relax_lint.results.check import Check
from tests.oracle.answers import NOT_COMPARED, is_answer
from tests.oracle.tir.compare import Disagreement, Unusable, judged, read, sizes, word
from tests.oracle.tir.expressions import Declined
from tests.oracle.tir.machine import Machine as Interpreter
from tests.oracle.tir.machine import symbol_names
from tests.oracle.tir.memory import Report
from tests.oracle.tir.writer import Kernel, script, some

SIZES = 4
"""At how many sizes of each kind a kernel is run."""


def compare(kernel: Kernel, machine: Machine) -> Counter[str]:
    """What the guard sees at sizes of both kinds. Raises `Disagreement` and `Unusable`."""
    if "thread_binding" in script(kernel):
        raise Unusable("no device")
    return compare_function(read(kernel), machine)


def compare_function(prim_func: Any, machine: Machine) -> Counter[str]:
    """The same for a PrimFunc."""
    (check,) = judged(prim_func).checks or (None,)
    if check is None or check.safe_when is None or check.undecided or check.assumes:
        raise Unusable("no condition")
    module = called(prim_func)
    parameters = frozenset(str(var.name) for var in prim_func.params)
    text = Module(tvm.ir.save_json(module), "json")
    seen: Counter[str] = Counter({"kernels": 1})
    for size, shapes, report in _runs(prim_func, check):
        names = [str(symbol.name) for symbol in module["main"].params[0].ty.values]
        tensors = [Tensor(str(prim_func.params[at].dtype), shape) for at, shape in sorted(shapes.items())]
        inputs: list[Input] = [Shape(tuple(size[name] for name in names)), *tensors]
        result = machine.run(text, "main", inputs, allocator="naive")
        if not is_answer(result):
            seen[NOT_COMPARED] += 1
            continue
        left = result.damage is not None
        if not left and result.outcome is not Outcome.OK:
            raise Unusable(f"{result.stage}: {result.message}")
        seen[_compared(word(check, size), report, left, size, parameters)] += 1
    return seen


def _runs(
    prim_func: Any, check: Check
) -> Iterator[tuple[Mapping[str, int], Mapping[int, tuple[int, ...]], Report]]:
    """The first sizes of each kind with the shapes and what the interpreter sees."""
    interpreter = Interpreter(prim_func)
    kinds: Counter[str] = Counter()
    for size in sizes(symbol_names(prim_func)):
        shapes, kind = interpreter.shapes(size), word(check, size)
        if shapes is None or kind == "unknown" or kinds[kind] == SIZES:
            continue
        try:
            report = interpreter.run(size, {at: _contents(shape) for at, shape in shapes.items()}).report
        except Declined as error:
            raise Unusable(f"declined: {error}") from None
        if not (report.broken_assumption or report.failed_assert or report.undefined):
            kinds[kind] += 1
            yield size, shapes, report


def _contents(shape: tuple[int, ...]) -> list[Any]:
    """What a tensor of the machine holds."""
    count = 1
    for extent in shape:
        count *= extent
    return [number % 64 for number in range(count)]


def _compared(
    kind: str, report: Report, left: bool, size: Mapping[str, int], parameters: frozenset[str]
) -> str:
    if kind == "fine":
        if left:
            raise Disagreement(f"inside by the condition, and the guard sees an access outside, at {size}")
        return "inside, and nothing seen"
    sites = [report.sites[site][1] for site in report.left]
    if left:
        return "outside, and seen"
    if not sites:
        return "outside an axis, inside the memory"
    given = [outside for outside in sites if outside.buffer in parameters]
    if not given:
        return "outside an internal buffer, which is not guarded"
    return f"outside, a {'write' if any(one.writes for one in given) else 'read'} not seen"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--kernels", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.monotonic()
    seen: Counter[str] = Counter()
    wrong = 0
    with Machine(guarded=True) as machine:
        for kernel in some(options.kernels, options.seed):
            if time.monotonic() - started > options.minutes * 60:
                break
            try:
                found = compare(kernel, machine)
            except Unusable as error:
                seen[f"not taken: {str(error).split(':')[0]}"] += 1
                continue
            except Disagreement as error:
                wrong += 1
                sys.stdout.write(f"{error}\n{script(kernel)}\n")
                continue
            if found["outside, a write not seen"]:
                sys.stdout.write(f"a write that is not seen\n{script(kernel)}\n")
            seen += found
    sys.stdout.write(f"seed {options.seed}: {wrong} disagreements, {dict(sorted(seen.items()))}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
