"""Questions in normal form: only what is connected to the claim, with symbols renamed by position.

Two operations of different layers ask the same thing about differently named symbols; in this form
they are equal and the answer is found once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.symbolic.domain import Domain, Fact, FactKind
from relax_lint.symbolic.standard import standard


@lru_cache(maxsize=256)
def _canonical_symbol(index: int) -> Any:
    return sympy.Symbol(f"x{index:03d}", integer=True)


@dataclass(frozen=True)
class Question:
    """A claim over the symbols `x000, x001, ...` under facts of the three kinds."""

    claim: Boolean
    size: int
    facts: tuple[tuple[Boolean, FactKind], ...]

    @property
    def symbols(self) -> tuple[Any, ...]:
        """The canonical symbols, in signature order."""
        return tuple(_canonical_symbol(i) for i in range(self.size))

    def conditions(self, *kinds: FactKind) -> tuple[Boolean, ...]:
        """The facts of the given kinds."""
        return tuple(condition for condition, kind in self.facts if kind in kinds)


@dataclass(frozen=True)
class Posed:
    """A question together with what leads back from it: symbol and fact of each position."""

    question: Question
    symbols: tuple[Any, ...]
    facts: tuple[Fact, ...]

    def back(self, condition: Boolean) -> Boolean:
        """A condition on canonical symbols in the user's symbols."""
        return condition.xreplace(dict(zip(self.question.symbols, self.symbols, strict=True)))

    def assignment(self, point: Iterable[int]) -> dict[str, int]:
        """A point by the user's names, in signature order."""
        return {s.name: int(v) for s, v in zip(self.symbols, point, strict=True)}


@dataclass(frozen=True)
class _Part:
    """Connected symbols of a domain with their facts, and the same in canonical symbols."""

    symbols: tuple[Any, ...]
    facts: tuple[Fact, ...]
    renamed: Mapping[Any, Any]
    conditions: tuple[tuple[Boolean, FactKind], ...]


class DomainIndex:
    """The facts of one domain, grouped into components that share no symbol."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._facts = [(fact, frozenset(fact.condition.free_symbols)) for fact in domain.facts]
        named = frozenset(domain.symbols).union(*(symbols for _, symbols in self._facts))
        strays = sorted(named - frozenset(domain.symbols), key=lambda s: str(s.name))
        self._order = {s: i for i, s in enumerate((*domain.symbols, *strays))}
        self._group: dict[Any, frozenset[Any]] = {s: frozenset((s,)) for s in self._order}
        self._parts: dict[frozenset[Any], _Part] = {}
        for _, symbols in self._facts:
            self._merge(symbols)

    def _merge(self, symbols: frozenset[Any]) -> None:
        merged = frozenset(s for x in symbols for s in self._group[x])
        for s in merged:
            self._group[s] = merged

    def components(self) -> list[frozenset[Any]]:
        """Every set of connected symbols that some fact constrains."""
        groups = [self._group[min(s, key=self._order.__getitem__)] for _, s in self._facts if s]
        return list(dict.fromkeys(groups))

    def pose(self, claim: Boolean, symbols: Iterable[Any] = ()) -> Posed:
        """The claim with the facts that are connected to it (or to `symbols`), in normal form."""
        wanted = frozenset().union(
            *(self._group.get(s, frozenset((s,))) for s in (*claim.free_symbols, *symbols))
        )
        part = self._parts.get(wanted)
        if part is None:
            part = self._parts[wanted] = self._part(wanted)
        question = Question(standard(claim).xreplace(part.renamed), len(part.symbols), part.conditions)
        return Posed(question, part.symbols, part.facts)

    def _part(self, wanted: frozenset[Any]) -> _Part:
        # A symbol that the domain does not list comes last: it may be any int64.
        ordered = sorted(wanted, key=lambda s: (self._order.get(s, len(self._order)), s.name))
        renamed = {s: _canonical_symbol(i) for i, s in enumerate(ordered)}
        facts = tuple(fact for fact, names in self._facts if not names.isdisjoint(wanted))
        conditions = tuple((standard(fact.condition).xreplace(renamed), fact.kind) for fact in facts)
        return _Part(tuple(ordered), facts, renamed, conditions)

    def impossible_facts(self) -> tuple[int, ...]:
        """Positions of the facts without symbols that do not hold (or divide by zero, so never did)."""
        facts = enumerate(self._facts)
        return tuple(i for i, (fact, names) in facts if not names and fact.condition != sympy.true)
