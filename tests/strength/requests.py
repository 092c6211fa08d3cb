"""Programs of which more is asked: budgets, values of symbols, pages, devices, what serving takes, what grew."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from relax_lint.judging.report import check_module
from relax_lint.results.check import Check
from relax_lint.results.memory_figures import MemoryTotals
from relax_lint.results.plain import plain
from relax_lint.results.report import UnitResult
from relax_lint.settings.config import Config
from relax_lint.settings.memory_request import WHOLE, Binding, MemoryRequest
from relax_lint.totals.comparison import Change, FunctionTotals, compare, totals_of
from relax_lint.totals.serving import serving
from tests.strength.claims import Said, of_check, of_totals
from tests.strength.words import name_of, words_of

_SYMBOL = re.compile(r"^\s*(\w+) = T\.int64\(", re.MULTILINE)
_TARGETS = ("llvm", "cuda")
_BUDGETS = "RLX6"


@dataclass(frozen=True)
class Request:
    """A module, and what is asked of it; the number chooses that."""

    module: Any
    number: int

    @cached_property
    def config(self) -> Config:
        """Each setting is the usual one about as often as it is another."""
        chance = random.Random(self.number)
        symbols = list(dict.fromkeys(_SYMBOL.findall(self.module.script())))
        return Config(
            max_memory=tuple(_budgets(chance)),
            memory=MemoryRequest(
                bindings=tuple(_bindings(chance, symbols)),
                timelines=True,
                details=True,
                estimates=chance.random() < 0.3,
                device_memory=1 << chance.randrange(6, 30),
            ),
            page_size=chance.choice((4096, 4096, 64, 1)),
            allocators=chance.choice((("naive", "pooled"), ("naive",), ("pooled",))),
            devices=chance.choice((None, 1, 2)),
            trust_declared_bounds=chance.random() < 0.7,
            max_extent=chance.choice((1 << 40, 1 << 40, 1000)),
            assume=tuple(_assumed(chance, symbols)),
        )

    def judged(self) -> UnitResult:
        """The report."""
        return check_module(self.module, self.config)


def _budgets(chance: random.Random) -> Iterator[tuple[str, int]]:
    yield WHOLE, int(2 ** (4 + 12 * chance.random()))
    if chance.random() < 0.5:
        yield "global", int(2 ** (4 + 12 * chance.random()))


def _bindings(chance: random.Random, symbols: Sequence[str]) -> Iterator[Binding]:
    for symbol in symbols:
        low, high = sorted((chance.randrange(12), chance.randrange(300)))
        kind = chance.random()
        if kind < 0.5:
            yield Binding(symbol, low, low if kind < 0.2 else high)


def _assumed(chance: random.Random, symbols: Sequence[str]) -> Iterator[str]:
    if not symbols or chance.random() < 0.6:
        return
    one, other = chance.choice(symbols), chance.choice(symbols)
    bound = chance.choice((4, 64, 512))
    yield chance.choice((f"{one} <= {bound}", f"{one} >= {bound}", f"{one} % 4 == 0", f"{one} <= {other}"))


def said_of_request(request: Request) -> Said:
    """Verdicts and totals with their reasons, what serving takes, and what grew since other things were asked."""
    found = request.judged()
    claims = [
        *_of_checks(found.checks),
        *_of_memory(found.memory),
        *_of_serving(found.memory, request.config),
        *_of_growth(Request(request.module, request.number + 1).judged().memory, found.memory, request),
        *found.notes,
        *map(str, found.estimates),
    ]
    return Said(tuple(claims), words=tuple(words_of(found)))


def _of_checks(checks: Sequence[Check]) -> Iterator[str]:
    for check in checks:
        yield from of_check(check)
        if check.rule.startswith(_BUDGETS):
            yield f"{name_of(check)}: {check.label}"
        if check.undecided:
            yield from (f"{name_of(check)}: {note}" for note in check.notes)
        yield from (f"{name_of(check)}: {kind} at {at}" for kind, at in _examples(check) if at is not None)


def _examples(check: Check) -> tuple[tuple[str, Mapping[str, int] | None], ...]:
    return ("fine", check.fine), ("wrong", check.wrong)


def _of_memory(memory: Sequence[MemoryTotals]) -> Iterator[str]:
    for totals in memory:
        yield from of_totals(totals)
        yield from (f"{totals.function} memory {name}: {why}" for name, why in totals.unknown.items())
        yield f"{totals.function} memory symbols {plain(totals.symbols)}"
        if totals.why is not None:
            yield f"{totals.function} memory why {plain(totals.why)}"


def _of_serving(memory: Sequence[MemoryTotals], config: Config) -> Iterator[str]:
    for target in _TARGETS:
        for served in serving(memory, config.memory.device_memory or 0, target):
            yield f"serving on {target}: {plain(served)}"


def _of_growth(
    before: Sequence[MemoryTotals], after: Sequence[MemoryTotals], request: Request
) -> Iterator[str]:
    """What is found when the totals of another request, and some that are renamed, stand in an earlier report."""
    old, new = list(map(totals_of, before)), list(map(totals_of, after))
    other = [FunctionTotals(one.subject, new[0].formulas, frozenset(), {}) for one in old[1:]]
    for limit in (None, Fraction(0), Fraction(1, 2)):
        for earlier in (old, other):
            found = compare("earlier", earlier, new, limit, request.config.memory.point)
            name = f"growth above {limit} since {len(earlier)}"
            yield from (f"{name}: {_grown(change)}" for change in found.changes)
            yield f"{name}: {found.exceeds}, {len(found.added)} not before, {len(found.removed)} not now"


def _grown(change: Change) -> str:
    figure = f"{change.subject.name} {change.total}"
    return f"{figure} from {change.old} to {change.new}, {change.growth}, too much: {change.exceeds}"
