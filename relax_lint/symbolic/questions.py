"""Questions in normal form: only what is connected to the claim, with symbols renamed by position.

Two operations of different layers ask the same thing about differently named symbols; in this form
they are equal and the answer is found once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from operator import is_
from typing import Any, TypeAlias

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.domain import Domain, Fact, FactKind
from relax_lint.symbolic.standard import standard
from relax_lint.symbolic.substitution import replaced


@lru_cache(maxsize=256)
def _canonical_symbol(index: int) -> Any:
    return sympy.Symbol(f"x{index:03d}", integer=True)


@record(frozen=True)
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


@record(frozen=True)
class Posed:
    """A question together with what leads back from it: symbol and fact of each position."""

    question: Question
    symbols: tuple[Any, ...]
    facts: tuple[Fact, ...]

    def back(self, condition: Boolean) -> Boolean:
        """A condition on canonical symbols in the user's symbols."""
        return replaced(condition, dict(zip(self.question.symbols, self.symbols, strict=True)))

    def assignment(self, point: Iterable[int]) -> dict[str, int]:
        """A point by the user's names, in signature order."""
        return {s.name: int(v) for s, v in zip(self.symbols, point, strict=True)}


@record(frozen=True)
class _Part:
    """Connected symbols of a domain with their facts, and the same in canonical symbols."""

    symbols: tuple[Any, ...]
    facts: tuple[Fact, ...]
    renamed: Mapping[Any, Any]
    conditions: tuple[tuple[Boolean, FactKind], ...]


_Members: TypeAlias = tuple[tuple[tuple[int, Fact], ...], ...]
"""The facts of some components, each component apart: an object that stays the same until a fact is added."""


class DomainIndex:
    """The facts of one domain, grouped into components that share no symbol.

    With the index of the `wider` domain only what the added facts change is made anew. Of the enforced bounds
    of one symbol by a number only the strongest are kept: the others follow.
    """

    def __init__(self, domain: Domain, wider: DomainIndex | None = None) -> None:
        self.domain = domain
        self.wider: DomainIndex | None = None
        self._order: dict[Any, int]
        self._impossible: tuple[int, ...]
        added = [(fact, frozenset(fact.condition.free_symbols)) for fact in domain.added]
        if wider is None or not all(names <= wider._order.keys() for _, names in added):
            added = [(fact, frozenset(fact.condition.free_symbols)) for fact in domain.facts]
            named = frozenset(domain.symbols).union(*(symbols for _, symbols in added))
            strays = sorted(named - frozenset(domain.symbols), key=lambda s: str(s.name))
            self._order = {s: i for i, s in enumerate((*domain.symbols, *strays))}
            self._group: dict[Any, frozenset[Any]] = {s: frozenset((s,)) for s in self._order}
            self._members: dict[frozenset[Any], tuple[tuple[int, Fact], ...]] = {}
            self._parts: dict[frozenset[Any], tuple[_Members, _Part]] = {}
            self._impossible = ()
        else:
            self.wider = wider
            self._order, self._impossible = wider._order, wider._impossible
            self._group, self._members = dict(wider._group), dict(wider._members)
            # Of both: each part says of which facts it is made.
            self._parts = wider._parts
        self._added = added
        self.guesses: bool = (wider is not None and wider.guesses) or any(fact.guessed for fact, _ in added)
        """Whether some of the facts are only guessed."""
        for position, (fact, names) in enumerate(added, len(domain.facts) - len(added)):
            if names:
                self._add(position, fact, names)
            elif fact.condition != sympy.true:
                # Without symbols it does not hold (or divides by zero, so never did).
                self._impossible += (position,)

    def _add(self, position: int, fact: Fact, names: frozenset[Any]) -> None:
        groups = {self._group[s] for s in names}
        known = [member for group in groups for member in self._members.pop(group, ())]
        merged = groups.pop() if len(groups) == 1 else frozenset[Any]().union(*groups)
        members = _with_fact(sorted(known, key=_position), (position, fact))
        self._members[merged] = tuple(members)
        if groups:
            self._group.update(dict.fromkeys(merged, merged))

    def components(self) -> list[frozenset[Any]]:
        """Every set of connected symbols that some fact constrains."""
        return sorted(self._members, key=lambda group: self._members[group][0][0])

    def new_components(self) -> list[frozenset[Any]]:
        """Those that the facts constrain which the wider domain does not have."""
        groups = {self._group[s] for _, names in self._added for s in names}
        return sorted(groups, key=lambda group: self._members[group][0][0])

    def pose(self, claim: Boolean, symbols: Iterable[Any] = ()) -> Posed:
        """The claim with the facts that are connected to it (or to `symbols`), in normal form."""
        wanted = frozenset().union(
            *(self._group.get(s, frozenset((s,))) for s in (*claim.free_symbols, *symbols))
        )
        part = self._part(wanted)
        question = Question(replaced(standard(claim), part.renamed), len(part.symbols), part.conditions)
        return Posed(question, part.symbols, part.facts)

    def _part(self, wanted: frozenset[Any]) -> _Part:
        groups = {self._group[s] for s in wanted if s in self._group}
        members = tuple([self._members[group] for group in groups if group in self._members])
        known = self._parts.get(wanted)
        if known is None or len(known[0]) != len(members) or not all(map(is_, known[0], members)):
            known = self._parts[wanted] = members, self._made(wanted, members)
        return known[1]

    def _made(self, wanted: frozenset[Any], groups: _Members) -> _Part:
        # A symbol that the domain does not list comes last: it may be any int64.
        ordered = sorted(wanted, key=lambda s: (self._order.get(s, len(self._order)), s.name))
        renamed = {s: _canonical_symbol(i) for i, s in enumerate(ordered)}
        members = [member for group in groups for member in group]
        facts = tuple(fact for _, fact in sorted(members, key=_position))
        conditions = tuple((replaced(standard(fact.condition), renamed), fact.kind) for fact in facts)
        return _Part(tuple(ordered), facts, renamed, conditions)

    def impossible_facts(self) -> tuple[int, ...]:
        """Positions of the facts without symbols that do not hold (or divide by zero, so never did)."""
        return self._impossible


def _position(member: tuple[int, Fact]) -> int:
    return member[0]


def _with_fact(members: list[tuple[int, Fact]], new: tuple[int, Fact]) -> list[tuple[int, Fact]]:
    """The facts with one more, without what follows from the stronger of two bounds."""
    bound = _bound(new[1])
    if bound is None:
        return [*members, new]
    symbol, is_upper, value = bound
    kept = []
    for member in members:
        other = _bound(member[1])
        if other is None or other[:2] != (symbol, is_upper):
            kept.append(member)
        elif other[2] == value or (other[2] < value) is is_upper:
            return members
    return [*kept, new]


def _bound(fact: Fact) -> tuple[Any, bool, int] | None:
    """The symbol that an enforced fact bounds by a number, whether from above, and the last value that it
    admits; None for all other facts.
    """
    condition = fact.condition
    strict = _BOUNDS.get(type(condition))
    if strict is None or fact.kind is not FactKind.ENFORCED:
        return None
    symbol, value = condition.args
    if not symbol.is_Symbol or not value.is_Integer:
        return None
    is_upper, inside = strict
    return symbol, is_upper, int(value) + inside


_BOUNDS: Mapping[type, tuple[bool, int]] = {
    sympy.LessThan: (True, 0),
    sympy.StrictLessThan: (True, -1),
    sympy.GreaterThan: (False, 0),
    sympy.StrictGreaterThan: (False, 1),
}
"""Whether a relation is a bound from above, and where the last value is seen from the number in it."""
