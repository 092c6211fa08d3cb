"""What the linter says of a module, as claims that can be compared one by one."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any

import sympy

from relax_lint.judging.report import check_module
from relax_lint.model.prim_funcs import KeptKernels
from relax_lint.results.check import Check
from relax_lint.results.memory_figures import MemoryTotals
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.settings.config import Config
from relax_lint.settings.memory_request import MemoryRequest
from relax_lint.symbolic.evaluation import compile_condition, compile_expr
from relax_lint.symbolic.parsing import ParseError, parse_condition, parse_expr
from tests.strength.words import name_of, words_of

WHERE = " exactly where "
"""Stands before a condition in a claim."""
IS = " = "
"""Stands before a number, or a formula, in a claim."""
_GRID = (-3, 0, 1, 2, 4, 5, 8, 16, 100, 1025)
_AXES = 3
_WORD = re.compile(r"[A-Za-z_]\w*")
_NO_SYMBOLS = {"and", "or", "not", "min", "max", "floor", "ceiling", "Min", "Max", "Mod"}
_NOT_FIGURES = (
    "path",
    "module",
    "function",
    "location",
    "line",
    "text",
    "remarks",
    "unknown",
    "steps",
    "symbols",
)


@dataclass(frozen=True)
class Said:
    """Claims, each once for every time that it is made, and what is reported to the user: which findings, and
    in which `words`, one line for each object that is reported.
    """

    claims: tuple[str, ...]
    findings: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


def said_of(
    module: Any, config: Config | None = None, *, proofs: bool = False, kept: KeptKernels | None = None
) -> Said:
    """Every verdict, the fine ones too, and every total of a module; with `proofs` what was asked too. `kept`
    knows the kernels where they were read before.
    """
    request = MemoryRequest(timelines=True, details=True)
    judged = check_module(module, replace(config or Config(), memory=request, proofs=proofs), kept=kept)
    claims = [claim for check in judged.checks for claim in [*of_check(check)] * check.count]
    claims += [claim for totals in judged.memory for claim in of_totals(totals)]
    for counted in judged.accesses:
        claims += [f"{counted.function}: an access is proved"] * counted.proved
        claims += [f"{counted.function}: an access is wrong"] * counted.wrong
    reported = (name_of(check) for check in judged.checks if check.severity is not Severity.NONE)
    return Said(tuple(claims), tuple(reported), tuple(words_of(judged)))


def of_check(check: Check) -> Iterator[str]:
    """The verdict, and what goes with it."""
    name = name_of(check)
    if check.assumes:
        name += f" assuming {', '.join(check.assumes)}"
    if check.verdict is Verdict.ALWAYS_FINE:
        yield f"{name}: fine"
    elif check.verdict is Verdict.ALWAYS_WRONG:
        yield f"{name}: wrong"
    elif check.safe_when is not None and not check.undecided:
        yield f"{name}: safe{WHERE}{check.safe_when}"
    for allocator, failure in check.allocators.items():
        if failure.known:
            first = failure.first_failure
            at = "never" if first is None else f"first at {dict(sorted(first.items()))}"
            yield f"{name}: fails on {allocator} {at}"
    if check.proof_record is not None:
        for asked in check.proof_record.claims:
            yield f"{name}: asked {asked.condition} of {dict(asked.terms)}"


def of_totals(totals: MemoryTotals) -> Iterator[str]:
    """What is nothing at all is one claim."""
    found = list(leaves(f"{totals.function} memory", json.loads(totals.to_json())))
    yield from (claim for claim in found if not claim.endswith(f"{IS}0"))
    nothing = (_figure(claim) for claim in found if claim.endswith(f"{IS}0"))
    yield f"{totals.function} memory nothing: {', '.join(sorted(nothing))}"


def _figure(claim: str) -> str:
    return claim.partition(" memory ")[2].removesuffix(f"{IS}0")


def leaves(name: str, value: Any) -> Iterator[str]:
    """A claim for each figure, and one for each object of a list."""
    if isinstance(value, dict) and value.keys() == {"expr", "value"}:
        yield f"{name}{IS}{value['expr']}"
    elif isinstance(value, dict):
        for key, one in value.items():
            if key not in _NOT_FIGURES:
                yield from leaves(f"{name} {key}", one)
    elif isinstance(value, list):
        for one in value:
            yield from _of_listed(name, one)
    elif value is not None and value != "":
        yield f"{name}{IS}{value}"


def _of_listed(name: str, one: Any) -> Iterator[str]:
    if not isinstance(one, dict):
        yield from leaves(name, one)
        return
    plain = {key: value for key, value in one.items() if not isinstance(value, dict | list)}
    yield f"{name}: {' '.join(str(value) for key, value in plain.items() if key not in _NOT_FIGURES)}"
    for key, value in one.items():
        if key not in plain:
            yield from leaves(f"{name} {key}", value)


def lost(before: Iterable[str], now: Iterable[str]) -> list[str]:
    """The claims that are not made any more, in whatever words."""
    gone = Counter(before)
    gone.subtract(made := Counter(now))
    missing = +gone
    if not missing:
        return []
    meant = Counter(meaning(claim) for claim in made.elements())
    meant.subtract(meaning(claim) for claim in Counter(before).elements())
    short = -meant
    return sorted(claim for claim in missing if short[meaning(claim)])


@lru_cache(maxsize=1 << 12)
def meaning(claim: str) -> str:
    """The claim, with the values of its condition or formula at the points of a grid in the place of its text."""
    for mark, values in ((WHERE, _points), (IS, _numbers)):
        name, found, text = claim.partition(mark)
        if found:
            return f"{name}{mark}{values(text)}"
    return claim


def _points(condition: str) -> str:
    symbols = _symbols(condition)
    parsed = parse_condition(condition, symbols)
    used = tuple(sorted(parsed.free_symbols, key=str))
    if len(used) > _AXES:
        return condition
    holds = compile_condition(parsed, used)
    return f"{used}: {[point for point in product(_GRID, repeat=len(used)) if holds(*point)]}"


def _numbers(formula: str) -> str:
    if formula.lstrip("-").isdigit():
        return formula
    try:
        parsed = parse_expr(formula, _symbols(formula))
    except ParseError:
        return formula
    used = tuple(sorted(parsed.free_symbols, key=str))
    if len(used) > _AXES:
        return formula
    value = compile_expr(parsed, used)
    return f"{used}: {[value(*point) for point in product(_GRID[1:], repeat=len(used))]}"


def _symbols(text: str) -> dict[str, sympy.Symbol]:
    return {name: sympy.Symbol(name, integer=True) for name in set(_WORD.findall(text)) - _NO_SYMBOLS}
