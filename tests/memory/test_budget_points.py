"""Budgets (RLX601) of functions of none to three symbols, against what is measured at each point."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product
from typing import Any

import pytest
import sympy
import tvm

from relax_lint.judging.report import check_module
from relax_lint.model.builder import build_program
from relax_lint.results.check import Check
from relax_lint.settings.config import Config
from relax_lint.settings.memory_request import Binding, MemoryRequest
from relax_lint.sources.kernel_lowering import KernelLoweringError
from relax_lint.symbolic.parsing import parse_condition
from relax_lint.totals import lowered_kernels
from relax_lint.totals.compute import measure
from relax_lint.totals.kernel_memory import KernelMemory
from relax_lint.totals.workspaces import measure_workspaces
from relax_lint.vm.allocators import Allocator

TWICE = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def twice(p: T.handle, q: T.handle):
        n = T.int64()
        x = T.match_buffer(p, (n, 64), "float32")
        y = T.match_buffer(q, (n, 64), "float32")
        rows = T.alloc_buffer((n, 64), "float32")
        for i, j in T.grid(n, 64):
            rows[i, j] = x[i, j] + x[i, 1]
        for i, j in T.grid(n, 64):
            y[i, j] = rows[i, 63 - j]

"""
MAIN = """    @R.function(pure=False)
    def main({parameters}):
        R.func_attr({{{bounds}}})
{lines}
        return {result}
"""


def storages(*sizes: str) -> list[str]:
    """One storage after the other, each of which is given back before the next one."""
    lines = []
    for number, size in enumerate(sizes):
        lines += [
            f's{number} = R.memory.alloc_storage(R.shape([{size}]), 0, "global", "uint8")',
            f'a{number} = R.memory.alloc_tensor(s{number}, 0, R.shape([1]), "float32")',
        ]
        if number < len(sizes) - 1:
            lines += [
                f"k{number} = R.memory.kill_tensor(a{number})",
                f"l{number} = R.memory.kill_storage(s{number})",
            ]
    return lines


def text(symbols: str, *lines: str, bounds: str = "", result: str = "", kernel: bool = False) -> str:
    """A module whose function has a tensor with these symbols as extents."""
    extents = ", ".join(f'"{name}"' for name in symbols)
    names = [f"{name} = T.int64()" for name in symbols]
    shape = f"({extents},)" if symbols else "(4,)"
    return (TWICE if kernel else "@I.ir_module\nclass Module:\n") + MAIN.format(
        parameters=f'x: R.Tensor({shape}, "float32"), c: R.Tensor((), "bool")',
        bounds=f'"tir_var_upper_bound": {bounds}' if bounds else "",
        lines="\n".join(f"        {line}" for line in (*names, *lines)),
        result=result or "a0",
    )


def either(symbols: str, first: str, second: str) -> list[str]:
    """A storage in each branch, and one before."""
    return [
        *storages("3000", "5 * n"),
        "if c:",
        f'    t1 = R.memory.alloc_storage(R.shape([{first}]), 0, "global", "uint8")',
        '    r = R.memory.alloc_tensor(t1, 0, R.shape([1]), "float32")',
        "else:",
        f'    t2 = R.memory.alloc_storage(R.shape([{second}]), 0, "global", "uint8")',
        '    r = R.memory.alloc_tensor(t2, 0, R.shape([1]), "float32")',
    ]


MODULES = {
    "no symbol": text("", *storages("9000", "5000", "12288"), result="a2"),
    "a formula": text("n", *storages("1000", "4 * n"), result="a1"),
    "equal for some": text("n", *storages("4 * n", "6 * n", "9000", "7 * n"), result="a3"),
    "equal for some, bounded": text(
        "n", *storages("4 * n", "6 * n", "9000", "7 * n"), bounds='{"n": 4000}', result="a3"
    ),
    "equal to a number": text("n", *storages("4096 * n", "12288"), result="a1"),
    "equal to two numbers": text("n", *storages("4096 * n", "12288", "8192"), result="a2"),
    "twice, around a number": text("n", *storages("4096 * n", "12288", "4096 * n"), result="a2"),
    "in a branch": text("n", *either("n", "6 * n", "4100"), result="r"),
    "of two": text("nm", *storages("16 * n * m", "12 * n * m"), result="a1"),
    "of two, one bounded": text("nm", *storages("16 * n * m", "12 * n * m"), bounds='{"m": 8}', result="a1"),
    "of two, both bounded": text(
        "nm", *storages("16 * n * m", "12 * n * m"), bounds='{"m": 8, "n": 600}', result="a1"
    ),
    "of three": text("nmk", *storages("16 * n * m", "12 * n * k", "4 * n"), result="a2"),
    "with a kernel's": text(
        "n",
        "z = R.zeros(R.shape([n, 64]), 'float32')",
        *storages("n * 256", "n * 200", "3000"),
        's = R.memory.alloc_storage(R.shape([n * 256]), 0, "global", "uint8")',
        'a = R.memory.alloc_tensor(s, 0, R.shape([n, 64]), "float32")',
        "done = Module.twice(z, a)",
        result="a",
        kernel=True,
    ),
    "a kernel's, in a branch": text(
        "n",
        "z = R.zeros(R.shape([n, 64]), 'float32')",
        *either("n", "300 * n", "4100"),
        's = R.memory.alloc_storage(R.shape([n * 256]), 0, "global", "uint8")',
        'a = R.memory.alloc_tensor(s, 0, R.shape([n, 64]), "float32")',
        "done = Module.twice(z, a)",
        result="a",
        kernel=True,
    ),
}
POINTS = {
    "n": (0, 1, 2, 3, 4, 5, 15, 16, 17, 400, 585, 586, 1023, 1024, 1025, 1755, 1756, 3000, 4000, 5000, 16000),
    "m": (0, 1, 2, 8, 9, 64, 65),
    "k": (0, 1, 8, 64),
}
REQUESTS: dict[str, tuple[tuple[str, int, int], ...]] = {
    "all": (),
    "some n": (("n", 100, 3000),),
    "one n": (("n", 1024, 1024),),
    "few n": (("n", 1, 60),),
    "one m": (("m", 8, 8),),
    "some m": (("m", 1, 8),),
    "both": (("m", 8, 8), ("n", 400, 400)),
    "some of both": (("m", 1, 8), ("n", 0, 1025)),
}
LIMITS = (12288, 20480, 65536)


@cache
def built(name: str) -> tuple[Any, Any]:
    """A module, and its memory program."""
    module = tvm.script.from_source(MODULES[name], check_well_formed=False)
    return module, build_program(module)


@cache
def taken(name: str, allocator: Allocator, at: tuple[tuple[str, int], ...]) -> int:
    """The bytes that the allocator obtains in a call."""
    module, program = built(name)
    function = next(one for one in program.functions if one.name == "main")
    if "kernel" in name:
        kernels = KernelMemory(module, Config().target_or_default)
        found = measure_workspaces(program, function, kernels, page_size=4096, binding=dict(at)).together
    else:
        found = measure(program, function, binding=dict(at)).reserved
    size = found[allocator]
    assert isinstance(size, int)
    return size


def points(name: str, request: tuple[tuple[str, int, int], ...]) -> Iterator[dict[str, int]]:
    """Calls with the values that were asked for."""
    symbols = [symbol for symbol in "nmk" if f"{symbol} = T.int64()\n" in MODULES[name].partition("main")[2]]
    ranges = {symbol: (low, high) for symbol, low, high in request}
    each = []
    for symbol in symbols:
        low, high = ranges.get(symbol, (0, 10**9))
        each.append(
            sorted(
                {value for value in POINTS[symbol] if low <= value <= high}
                | ({low, high} if symbol in ranges else set())
            )
        )
    for values in product(*each):
        yield dict(zip(symbols, values, strict=True))


def judged(name: str, limit: int, allocator: Allocator, request: tuple[tuple[str, int, int], ...]) -> Check:
    """What RLX601 says."""
    config = Config(
        select=("RLX601",),
        max_memory=(("", limit),),
        allocators=(allocator.value,),
        memory=MemoryRequest(bindings=tuple(Binding(*each) for each in request)),
    )
    (check,) = [one for one in check_module(built(name)[0], config).checks if one.function == "main"]
    return check


CASES = [
    *(("no symbol", "all"), ("a formula", "all"), ("a formula", "some n"), ("a formula", "one n")),
    *(("equal for some", "all"), ("equal for some", "one n")),
    *(("equal for some, bounded", "all"), ("equal for some, bounded", "one n")),
    *((f"{form} number{s}", "all") for form, s in (("equal to a", ""), ("equal to two", "s"))),
    *(("twice, around a number", "all"), ("twice, around a number", "some n")),
    *(("in a branch", "all"), ("in a branch", "some n"), ("in a branch", "one n")),
    *(("of two", asked) for asked in REQUESTS if asked not in ("some n", "few n")),
    *(("of two, one bounded", "all"), ("of two, both bounded", "all"), ("of two, both bounded", "some m")),
    *(
        ("of three", "one m"),
        ("of three", "both"),
        ("with a kernel's", "some n"),
        ("with a kernel's", "one n"),
        ("a kernel's, in a branch", "few n"),
    ),
]


def meant(said: str) -> Iterator[tuple[str, dict[str, int], Callable[[int], bool | None]]]:
    """Of each part of a sentence the symbol, the values of the others, and which values fit."""
    for part in re.findall(r"fits for ([^;]*) at ((?:\w = [\d,]+(?:, )?)+)", said):
        runs, others = part
        at = {name: int(value.replace(",", "")) for name, value in re.findall(r"(\w) = ([\d,]*\d)", others)}
        names = set(re.findall(r"\b[nmk]\b", runs))
        (name,) = names
        found = [
            (0 if upper else int(one), int(upper or last or one))
            for upper, one, last in re.findall(r"<= (\d+)|= (\d+)(?:\.\.(\d+))?", runs.replace(",", ""))
        ]
        yield name, at, partial(_is_in, found)
    for name, last, first in re.findall(r"fits? (?:up to|below) (\w) = ([\d,]+); fails from ([\d,]+)", said):
        ends = int(last.replace(",", "")), int(first.replace(",", ""))
        yield name, {}, partial(_is_below, *(ends if "up to" in said else (-1, ends[1])))


def _is_in(runs: list[tuple[int, int]], value: int) -> bool:
    return any(low <= value <= high for low, high in runs)


def _is_below(last: int, first: int, value: int) -> bool | None:
    return None if last < value < first else value <= last


@pytest.mark.parametrize(("name", "asked"), CASES)
def test_a_budget_is_kept_where_it_is_measured_to_be(name: str, asked: str) -> None:
    request = REQUESTS[asked]
    bounds = dict(re.findall(r'"(\w)": (\d+)', MODULES[name]))
    calls = [at for at in points(name, request) if all(at[s] <= int(most) for s, most in bounds.items())]
    allocators = [Allocator.POOLED] if "of" in name else [Allocator.POOLED, Allocator.NAIVE]
    for allocator, limit in product(allocators, LIMITS):
        check = judged(name, limit, allocator, request)
        fits = [taken(name, allocator, tuple(at.items())) <= limit for at in calls]
        said = " ".join((check.message, *check.notes))
        if check.verdict.value != "needs-runtime-check":
            assert set(fits) == {check.verdict.value == "always-fine"}, (limit, said)
        elif check.safe_when is not None:
            safe = parse_condition(check.safe_when, {s: sympy.Symbol(s, integer=True) for s in "nmk"})
            for at, fit in zip(calls, fits, strict=True):
                values = {sympy.Symbol(s, integer=True): value for s, value in at.items()}
                assert bool(safe.subs(values)) is fit, (limit, at, said)
        else:
            solved = list(meant(said))
            assert solved, (limit, said)
            for symbol, others, holds in solved:
                low, high = next(((low, high) for s, low, high in request if s == symbol), (0, 10**6))
                for value in (low, *POINTS[symbol]):
                    at = {**{s: low for s, low, high in request if low == high}, **others, symbol: value}
                    if low <= value <= min(high, int(bounds.get(symbol, high))):
                        size = taken(name, allocator, tuple(sorted(at.items())))
                        assert holds(value) in (None, size <= limit), (limit, at, said)


def test_what_kernels_take_that_are_not_known_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A storage of 300 bytes for each `n` or of 4,100, beside those of 256 each."""

    def refuse(*_: object) -> None:
        raise KernelLoweringError("a pass fails")

    monkeypatch.setattr(lowered_kernels, "lowered_kernel", refuse)
    # No other test has lowered this kernel.
    changed = MODULES["a kernel's, in a branch"].replace("x[i, 1]", "x[i, 2]")
    monkeypatch.setitem(MODULES, "another kernel's", changed)
    name, limit = "another kernel's", 20480
    check = judged(name, limit, Allocator.POOLED, REQUESTS["few n"])
    assert "the kernels' own buffers are not counted" in " ".join((check.message, *check.notes))
    assert check.safe_when is not None
    _, program = built(name)
    (main,) = (one for one in program.functions if one.name == "main")
    for n in (1, 2, 8, 15, 16, 17, 30, 31, 32, 33, 48, 60):
        size = measure(program, main, binding={"n": n}).reserved[Allocator.POOLED]
        assert isinstance(size, int)
        assert eval(check.safe_when, {"n": n}) is (size <= limit), n


@pytest.mark.parametrize("name", ["of two, both bounded", "of two, one bounded"])
def test_a_budget_that_the_largest_call_keeps_is_always_kept(name: str) -> None:
    """Two sizes are bounded: the call with both of them takes the most."""
    limit = 1 << 18
    check = judged(name, limit, Allocator.POOLED, ())
    assert taken(name, Allocator.POOLED, (("m", 8), ("n", 600))) <= limit
    bounded = "both" in name
    assert check.verdict.value == ("always-fine" if bounded else "needs-runtime-check")
    assert bounded or taken(name, Allocator.POOLED, (("m", 8), ("n", 60000))) > limit
