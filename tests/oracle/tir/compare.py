"""The linter's word on the accesses of a kernel against the interpreter, at every size of a grid."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy
import tvm

from benchmarks.kernel_callers import called
from relax_lint.judging.report import check_module
from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from relax_lint.symbolic.evaluation import compile_condition
from relax_lint.symbolic.parsing import parse_condition
from tests.oracle.tir.expressions import Declined
from tests.oracle.tir.machine import Machine, random_contents, symbol_names
from tests.oracle.tir.memory import Report
from tests.oracle.tir.writer import Kernel, script

ACCESSES = "RLX306"
GRID: Mapping[str, tuple[int, ...]] = {
    "n": (0, 1, 2, 3, 4, 5, 8),
    "m": (0, 1, 3, 4, 5),
    "k": (-1, 0, 2, 5),
}
_SYMBOLS = {name: sympy.Symbol(name, integer=True) for name in GRID}


class Disagreement(AssertionError):
    """The linter says something that a run contradicts."""


class Unusable(Exception):
    """TVM does not take the text, or the interpreter declines it."""


@dataclass(frozen=True)
class Runs:
    """A kernel and what was seen at each size at which its parameters exist."""

    prim_func: Any
    reports: Mapping[tuple[tuple[str, int], ...], Report]


def read(kernel: Kernel) -> Any:
    """The PrimFunc. Raises `Unusable`."""
    try:
        return tvm.script.from_source(script(kernel))
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise Unusable(f"TVM: {error}") from None


def sizes(names: list[str]) -> Iterator[dict[str, int]]:
    """Values of some symbols."""
    for values in itertools.product(*(GRID[name] for name in names)):
        yield dict(zip(names, values, strict=True))


def runs(prim_func: Any) -> Runs:
    """The kernel at every size of the grid. Raises `Unusable`."""
    try:
        machine = Machine(prim_func)
        found = {}
        for size in sizes(symbol_names(prim_func)):
            shapes = machine.shapes(size)
            if shapes is not None:
                contents = random_contents(prim_func, shapes, 1)
                found[tuple(size.items())] = machine.run(size, contents).report
    except Declined as error:
        raise Unusable(f"declined: {error}") from None
    return Runs(prim_func, found)


def checks(prim_func: Any, rule: str = ACCESSES) -> tuple[Check, ...]:
    """What the linter says of a call of the kernel."""
    return check_module(called(prim_func), Config(select=(rule,))).checks


def word(check: Check, size: Mapping[str, int]) -> str:
    """`fine`, `wrong` or `unknown`: what a check says at a size."""
    if check.verdict is Verdict.ALWAYS_FINE:
        return "fine"
    if check.verdict is Verdict.ALWAYS_WRONG:
        return "wrong"
    if check.safe_when is None:
        return "unknown"
    safe = _condition(check.safe_when)(*(size.get(name, 0) for name in _SYMBOLS))
    return "unknown" if safe is None else "fine" if safe else "wrong"


@lru_cache(maxsize=256)
def _condition(safe_when: str) -> Any:
    return compile_condition(parse_condition(safe_when, _SYMBOLS), tuple(_SYMBOLS.values()))


def compare(kernel: Kernel) -> Counter[str]:
    """Each word at each size; how many there were. Raises `Disagreement` and `Unusable`."""
    prim_func = read(kernel)
    found = runs(prim_func)
    return compare_accesses(found, checks(prim_func))


def compare_accesses(found: Runs, said: tuple[Check, ...]) -> Counter[str]:
    """What is said of the accesses, against the runs."""
    seen: Counter[str] = Counter()
    seen["kernels"] += 1
    if not said:
        seen["kernels without a word"] += 1
        return seen
    verdicts = {check.verdict.name.lower() for check in said}
    seen[f"kernels {'+'.join(sorted(verdicts))}"] += 1
    undecided = any(
        check.verdict is Verdict.NEEDS_RUNTIME_CHECK and check.safe_when is None for check in said
    )
    seen["kernels undecided"] += undecided
    for key, report in found.reports.items():
        size = dict(key)
        if report.broken_assumption or report.failed_assert or report.undefined:
            continue
        words = {word(check, size) for check in said}
        outside = report.outside[0] if report.outside else None
        if "wrong" in words and outside is None:
            raise Disagreement(f"said to be wrong, and is not, at {size}")
        if words == {"fine"} and outside is not None:
            raise Disagreement(f"said to be fine, and is not, at {size}: {outside}")
        seen[f"{'wrong' if outside else 'fine'} said {'+'.join(sorted(words))}"] += 1
    return seen
