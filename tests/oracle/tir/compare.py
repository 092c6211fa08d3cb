"""The linter's word on the accesses of a kernel against the interpreter, at every size of a grid."""

from __future__ import annotations

import inspect
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, TypeVar
from unittest import mock

import sympy
import tvm
from sympy.logic.boolalg import Boolean

from benchmarks.kernel_callers import called
from relax_lint.facts.kernel_access_verdicts import AccessVerdict, Status
from relax_lint.judging import report as reporting
from relax_lint.judging.module import JudgedFunction, ModuleJudge
from relax_lint.model.kernel_access.accesses import KernelAccess
from relax_lint.model.kernel_inside.findings import Inside
from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from relax_lint.symbolic.evaluation import compile_condition
from relax_lint.symbolic.parsing import parse_condition
from relax_lint.symbolic.quantity import Unknown
from tests.oracle.tir.expressions import Declined, name_of
from tests.oracle.tir.machine import Machine, random_contents, symbol_names, wild_contents
from tests.oracle.tir.memory import Outside, Report
from tests.oracle.tir.numbers import Overflow
from tests.oracle.tir.writer import Kernel, script

Looked = TypeVar("Looked")
ACCESSES = "RLX306"
GRID: Mapping[str, tuple[int, ...]] = {
    "n": (0, 1, 2, 3, 4, 5, 8),
    "m": (0, 1, 3, 4, 5),
    "k": (-1, 0, 2, 5),
    "ku": (0, 1, 3, 2**63 - 1, 2**63, 2**64 - 1),
    "kw": (0, 2, 2**31, 2**32 - 1),
    "ki": (-(2**31), -1, 0, 2, 2**31 - 1),
    "kb": (-128, -1, 0, 2, 127),
}
"""Of symbols and of scalars; which dtype a scalar has is in `SCALARS`."""
ANYTHING: Sequence[tuple[int, Overflow]] = (
    (0, Overflow.WRAPS),
    (-1, Overflow.WRAPS),
    (2**31 - 1, Overflow.GREATEST),
    (-(2**31), Overflow.LEAST),
    (100, Overflow.LEAST),
)
"""What stands where nothing was stored, and for integers that are too large: any numbers."""
_EVERY = 3
"""One of so many sizes is run with these."""
_OTHERS = GRID.keys() - {"n", "m", "k"}
_FEWER = {"n": (0, 1, 3, 8), "m": (0, 3)}
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
    others: Mapping[tuple[tuple[str, int], ...], Sequence[Report]]
    """Those that differ by the numbers that are any, at the sizes at which there are some."""


def read(kernel: Kernel) -> Any:
    """The PrimFunc, or a module with it as `f` and those that it calls. Raises `Unusable`."""
    try:
        # The decorator looks at every frame of Python's stack, which nothing uses here.
        with mock.patch.object(inspect, "stack", return_value=[]):
            return tvm.script.from_source(script(kernel))
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise Unusable(f"TVM: {error}") from None


def sizes(names: list[str]) -> Iterator[dict[str, int]]:
    """Values of some symbols, fewer where there is a scalar of another type than int64."""
    grid = {**GRID, **_FEWER} if set(names) & _OTHERS else GRID
    for values in itertools.product(*(grid[name] for name in names)):
        yield dict(zip(names, values, strict=True))


def parts(read: Any) -> tuple[Any, dict[str, Any]]:
    """A PrimFunc and those that it may call, by name."""
    if not isinstance(read, tvm.IRModule):
        return read, {}
    functions = {var.name_hint: function for var, function in read.functions.items()}
    return functions.pop("f"), functions


def runs(given: Any) -> Runs:
    """The kernel at every size of the grid. Raises `Unusable`."""
    prim_func, functions = parts(given)
    try:
        machine = Machine(prim_func, functions)
        found, others = {}, {}
        for size in sizes(symbol_names(prim_func)):
            shapes = machine.shapes(size)
            if shapes is not None:
                contents = random_contents(prim_func, shapes, 1)
                report = found[tuple(size.items())] = machine.run(size, contents).report
                wild = wild_contents(prim_func, shapes, 1)
                more = [contents] if report.early or report.undefined else []
                more += [wild] if wild != contents else []
                if len(found) % _EVERY == 1:
                    others[tuple(size.items())] = list(_others(machine, size, more))
    except Declined as error:
        raise Unusable(f"declined: {error}") from None
    return Runs(prim_func, found, others)


def _others(
    machine: Machine, size: Mapping[str, int], given: Sequence[Mapping[int, Sequence[Any]]]
) -> Iterator[Report]:
    """Runs with several numbers where there may be any; loops that do not end with these are left out."""
    for contents in given:
        for unwritten, overflow in ANYTHING:
            with suppress(Declined):
                report = machine.run(size, contents, unwritten, overflow).report
                yield report
                if not (report.early or report.overflowed):
                    break


@dataclass(frozen=True)
class Said:
    """What the linter says of a call of the kernel: of the accesses that are open, which ones it has proved,
    what is wrong inside, and of the call as a whole.
    """

    opened: tuple[AccessVerdict, ...]
    proved: tuple[KernelAccess, ...]
    inside: Inside
    checks: tuple[Check, ...]


class _Kept(ModuleJudge):
    """A judge that keeps what it judged."""

    last: ClassVar[list[JudgedFunction]] = []

    def functions(self) -> Iterator[JudgedFunction]:
        """Every function in turn."""
        self.last[:] = super().functions()
        return iter(self.last)


def judged(given: Any) -> Said:
    """What the linter says of a call of the kernel."""
    prim_func, functions = parts(given)
    module = called(prim_func)
    for name, function in functions.items():
        module[name] = function
    with mock.patch.object(reporting, "ModuleJudge", _Kept):
        checks = reporting.check_module(module, Config(select=(ACCESSES,)), totals=False).checks
    (function,) = _Kept.last
    (use,) = function.facts.kernels.uses
    verdict = function.facts.indices.verdict(use)
    opened = {id(one.access) for one in verdict.open}
    proved = tuple(access for access in use.kernel.accesses.accesses if id(access) not in opened)
    return Said(verdict.open, proved, use.kernel.inside, checks)


def word(check: Check, size: Mapping[str, int]) -> str:
    """`fine`, `wrong` or `unknown`: what a check says at a size. What it assumes may not be so."""
    found = _word(check, size)
    return "unknown" if found == "fine" and check.assumes else found


def _word(check: Check, size: Mapping[str, int]) -> str:
    if check.verdict is Verdict.ALWAYS_FINE:
        return "fine"
    if check.verdict is Verdict.ALWAYS_WRONG:
        return "wrong"
    if check.safe_when is None or check.undecided:
        return "unknown"
    safe = _condition(check.safe_when)(*(size.get(name, 0) for name in _SYMBOLS))
    return "unknown" if safe is None else "fine" if safe else "wrong"


@lru_cache(maxsize=256)
def _condition(safe_when: str) -> Any:
    return compile_condition(parse_condition(safe_when, _SYMBOLS), tuple(_SYMBOLS.values()))


def reason(one: Looked, check: Callable[[Looked], Counter[str]]) -> str | None:
    """What is not so of a kernel, in the words before the first comma."""
    try:
        check(one)
    except Disagreement as error:
        return str(error).split(",")[0]
    except Unusable:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def compare(kernel: Kernel) -> Counter[str]:
    """Each word at each size; how many there were. Raises `Disagreement` and `Unusable`."""
    return compare_function(read(kernel))


def compare_function(given: Any, found: Runs | None = None) -> Counter[str]:
    """The same for a PrimFunc, or a module as `read` gives it, of which the runs may be known."""
    if found is None:
        found = runs(given)
    said = judged(given)
    seen: Counter[str] = Counter({"kernels": 1, "accesses proved": len(said.proved)})
    for verdict in said.opened:
        seen[f"accesses {verdict.status.value}"] += 1
    opened, proved = _told_apart(said)
    for key, report in found.reports.items():
        if not (report.broken_assumption or report.failed_assert or report.undefined):
            _compare_accesses(dict(key), report, opened, proved, seen)
            _compare_call(dict(key), report, said.checks, seen)
            if not report.outside:
                _compare_inside(dict(key), report, said.inside, seen)
    for key, reports in found.others.items():
        for report in reports:
            if not (report.broken_assumption or report.failed_assert or report.undefined):
                _compare_others(dict(key), report, said, opened, proved)
                seen["runs with any numbers"] += 1
    return seen


def _compare_others(
    size: Mapping[str, int],
    report: Report,
    said: Said,
    opened: Sequence[AccessVerdict],
    proved: Sequence[KernelAccess],
) -> None:
    """What is proved holds for any numbers; of what is wrong nothing is known there."""
    _compare_proved(size, report, opened, proved)
    if report.outside and {word(check, size) for check in said.checks} <= {"fine"}:
        raise Disagreement(f"said to be fine, and any number is not, at {size}: {report.outside[0]}")


def _told_apart(said: Said) -> tuple[list[AccessVerdict], list[KernelAccess]]:
    """The accesses that no other one is written like: of some that are written alike, one may be outside."""
    texts = Counter((access.text, access.writes) for access in said.proved)
    texts += Counter((one.access.text, one.access.writes) for one in said.opened)
    opened = [one for one in said.opened if texts[one.access.text, one.access.writes] == 1]
    return opened, [access for access in said.proved if texts[access.text, access.writes] == 1]


def _compare_accesses(
    size: Mapping[str, int],
    report: Report,
    opened: Sequence[AccessVerdict],
    proved: Sequence[KernelAccess],
    seen: Counter[str],
) -> None:
    """What is said of each access, at one size."""
    _compare_proved(size, report, opened, proved)
    for verdict in opened:
        outside = _seen_outside(report, verdict.access)
        text = f"{size}: {verdict.access.text} {outside}"
        if verdict.status is Status.WRONG and not _leaves_memory(report, verdict.access):
            raise Disagreement(f"wrong and inside its memory, at {text}")
        if verdict.status is Status.DEPENDS and not isinstance(verdict.condition, Unknown):
            is_safe = _holds(verdict.condition, size)
            if not verdict.complete:
                continue
            if is_safe is False and outside is None:
                raise Disagreement(f"not safe and inside, at {text}, safe iff {verdict.condition}")
            seen["conditions compared"] += 1


def _compare_proved(
    size: Mapping[str, int],
    report: Report,
    opened: Sequence[AccessVerdict],
    proved: Sequence[KernelAccess],
) -> None:
    """What is said to be inside is inside, at one size."""
    for access in proved:
        outside = _seen_outside(report, access)
        if outside is not None:
            raise Disagreement(f"proved and outside, at {size}: {access.text} {outside}")
    for verdict in opened:
        outside = _seen_outside(report, verdict.access)
        if outside is None:
            continue
        text = f"{size}: {verdict.access.text} {outside}"
        if verdict.status is Status.PROVED:
            raise Disagreement(f"proved for the call and outside, at {text}")
        if verdict.assumptions or isinstance(verdict.condition, Unknown):
            continue
        if verdict.status is Status.LIMITED and _holds(verdict.condition, size):
            raise Disagreement(f"inside up to {verdict.condition} and outside, at {text}")
        is_told = verdict.status is Status.DEPENDS and verdict.complete
        if is_told and _holds(verdict.condition, size) is True:
            raise Disagreement(f"safe and outside, at {text}, safe iff {verdict.condition}")


def _seen_outside(report: Report, access: KernelAccess) -> Outside | None:
    """Whether an access was outside, or one that is written in the same words."""
    return next((outside for _, outside in _sites_of(report, access)), None)


def _leaves_memory(report: Report, access: KernelAccess) -> bool:
    """Whether it was outside the memory, not only outside an axis."""
    return any(site in report.left for site, _ in _sites_of(report, access))


def _sites_of(report: Report, access: KernelAccess) -> Iterator[tuple[int, Outside]]:
    for site, (node, outside) in report.sites.items():
        is_one = outside.writes == access.writes and (node.same_as(access.node) or _text(node) == access.text)
        if is_one:
            yield site, outside


@lru_cache(maxsize=512)
def _text(node: Any) -> str:
    if type(node).__name__ == "Call":
        # The data of a buffer, or a pointer into it.
        inside = [one for one in (node, *node.args) if type(one).__name__ == "Call"]
        return next(f"{one.args[0].name}[]" for one in inside if name_of(one) == "buffer_data")
    buffer = node.source if hasattr(node, "source") else node.buffer
    return f"{buffer.name}[{', '.join(map(str, node.indices))}]"


def _compare_inside(size: Mapping[str, int], report: Report, inside: Inside, seen: Counter[str]) -> None:
    """What is said of races and of internal buffers, at one size."""
    for race in inside.races:
        if _holds(race.harmless, size) is False:
            seen["races"] += 1
            if race.buffer not in {one.buffer for one in report.races}:
                raise Disagreement(f"no race on `{race.element}`, at {size}")
    for read in inside.unwritten_reads:
        if _holds(read.harmless, size) is False:
            seen["unwritten reads"] += 1
            if read.buffer not in {one.buffer for one in report.early}:
                raise Disagreement(f"no early read of `{read.element}`, at {size}")
    for buffer in inside.unused:
        seen["unused buffers"] += 1
        if buffer.buffer in report.read:
            raise Disagreement(f"`{buffer.buffer}` is read, at {size}")


def _holds(condition: Boolean, size: Mapping[str, int]) -> bool | None:
    """Whether a condition holds at a size; None where it has no value there."""
    names = tuple(sorted(condition.free_symbols, key=str))
    found = _compiled(condition, names)(*(size.get(str(name), 0) for name in names))
    return None if found is None else bool(found)


@lru_cache(maxsize=256)
def _compiled(condition: Boolean, names: tuple[Any, ...]) -> Any:
    return compile_condition(condition, names)


def _compare_call(size: Mapping[str, int], report: Report, said: Sequence[Check], seen: Counter[str]) -> None:
    """What is said of the call, at one size."""
    words = {word(check, size) for check in said}
    outside = report.outside[0] if report.outside else None
    if any(check.verdict is Verdict.ALWAYS_WRONG for check in said) and not report.left:
        raise Disagreement(f"said to be always wrong, and stays in its memory, at {size}: {outside}")
    if "wrong" in words and outside is None:
        raise Disagreement(f"said to be wrong, and is not, at {size}")
    if words == {"fine"} and outside is not None:
        raise Disagreement(f"said to be fine, and is not, at {size}: {outside}")
    if not said and outside is not None:
        raise Disagreement(f"nothing said, and it is not fine, at {size}: {outside}")
    seen[f"{'wrong' if outside else 'fine'} said {'+'.join(sorted(words)) or 'fine'}"] += 1
