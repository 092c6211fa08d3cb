"""Domains: which symbol assignments can reach an operation, and why we believe so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from functools import cached_property

import sympy
from sympy.logic.boolalg import And, Boolean

from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.printing import condition_text
from relax_lint.vm.facts import FactKind as FactKind
from relax_lint.vm.facts import FactSource

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1


@record(frozen=True)
class Fact:
    """One condition on symbols that may be assumed.

    `text` is what people read in the list of assumptions, for example
    `n <= 2048 (tir_var_upper_bound, not enforced)`.
    """

    condition: Boolean
    kind: FactKind
    text: str
    guessed: bool = False
    """Whether it is a guess about the machine, which no promise of a caller makes true."""
    compared: str = field(default="", compare=False)
    """What is compared as it was written, where it may have been simplified away."""

    @classmethod
    def of(cls, source: FactSource, condition: Boolean, text: str, compared: str = "") -> Fact:
        """A fact of one of the kinds that the table lists."""
        return cls(condition, source.kind, text, source.value.guessed, compared)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.condition, self.kind, self.text))


def compared_text(facts: Iterable[Fact]) -> str:
    """What facts compare, in one condition; what simplifies to a constant stays as it was written."""
    facts = tuple(facts)
    whole = And(*(fact.condition for fact in facts))
    if whole not in (sympy.true, sympy.false):
        return condition_text(whole)
    decisive = [fact for fact in facts if fact.condition == whole] or facts
    return " and ".join(fact.compared or condition_text(fact.condition) for fact in decisive)


@record(frozen=True)
class Domain:
    """The admissible assignments of integers to `symbols`: those that satisfy all `facts`.

    `symbols` are in signature order, which is also the order of examples. `free` holds those
    that may be any int64 (they arrive as `R.Prim` or `R.Shape` values); all other symbols are
    extents of real tensors. A domain never lists a symbol that has no int64 bounds: the prover
    adds the int64 range of every symbol by itself.
    """

    symbols: tuple[sympy.Symbol, ...] = ()
    facts: tuple[Fact, ...] = ()
    free: frozenset[sympy.Symbol] = frozenset()
    wider: Domain | None = field(default=None, compare=False, repr=False)
    """The domain of which this is a part, with fewer facts: those at the beginning."""

    def __hash__(self) -> int:
        return self._hash

    def with_facts(self, facts: Iterable[Fact]) -> Domain:
        """This domain, narrowed by more facts; a known condition adds nothing."""
        more: dict[tuple[Boolean, FactKind], Fact] = {}
        known, size = self._seen.kinds, len(self.facts)
        for fact in facts:
            if known.get((fact.condition, fact.kind), size) >= size and fact.condition != sympy.true:
                more.setdefault((fact.condition, fact.kind), fact)
        if not more:
            return self
        return Domain(self.symbols, (*self.facts, *more.values()), self.free, self)

    @property
    def added(self) -> tuple[Fact, ...]:
        """The facts that the wider domain does not have."""
        return self.facts if self.wider is None else self.facts[len(self.wider.facts) :]

    def without(self, *kinds: FactKind) -> Domain:
        """This domain without the facts of the given kinds: a larger one."""
        chain, domain = [], self
        while domain.wider is not None and kinds not in domain._without:
            chain.append(domain)
            domain = domain.wider
        if kinds not in domain._without:
            kept = tuple(fact for fact in domain.facts if fact.kind not in kinds)
            domain._without[kinds] = Domain(domain.symbols, kept, domain.free)
        larger = domain._without[kinds]
        for one in reversed(chain):
            larger = larger.with_facts(fact for fact in one.added if fact.kind not in kinds)
            one._without[kinds] = larger
        return larger

    def without_guesses(self) -> Domain:
        """This domain without what is only guessed of the machine."""
        return Domain(self.symbols, tuple(fact for fact in self.facts if not fact.guessed), self.free)

    def with_lasting_guesses(self) -> Domain:
        """This domain with guesses about the machine as facts that stay where promises are dropped."""
        facts = (replace(fact, kind=FactKind.GLOBAL) if fact.guessed else fact for fact in self.facts)
        return Domain(self.symbols, tuple(facts), self.free)

    def states(self, condition: Boolean) -> bool:
        """Whether a fact says just this."""
        return self._seen.conditions.get(condition, len(self.facts)) < len(self.facts)

    @cached_property
    def _hash(self) -> int:
        # Provers look up a domain many times, and to hash its facts takes longer than most proofs. However it
        # came about, it is the sum of those.
        added, domain = 0, self
        while domain.wider is not None and "_hash" not in vars(domain):
            added += sum(map(hash, domain.added))
            domain = domain.wider
        if "_hash" in vars(domain):
            return added + domain._hash
        return added + hash((domain.symbols, domain.free)) + sum(map(hash, domain.facts))

    @cached_property
    def parts(self) -> dict[tuple[Boolean, ...], Domain]:
        """The parts of it that were asked for, by what holds there in addition: tensors of one shape share
        one, and with it what was proved.
        """
        return {}

    @cached_property
    def _without(self) -> dict[tuple[FactKind, ...], Domain]:
        return {}

    @cached_property
    def _seen(self) -> _Seen:
        if self.wider is None:
            return _Seen().with_facts(self.facts)
        return self.wider._seen.until(len(self.wider.facts)).with_facts(self.added)


class _Seen:
    """The facts of ever narrower domains, each with its place among them: what one of them has is what has a
    place within its number of facts.
    """

    def __init__(self) -> None:
        self.kinds: dict[tuple[Boolean, FactKind], int] = {}
        self.conditions: dict[Boolean, int] = {}
        self._count = 0

    def until(self, count: int) -> _Seen:
        """This one where nobody else has added to the first `count` facts, else a copy of them."""
        if self._count == count:
            return self
        found = _Seen()
        found.kinds = {key: place for key, place in self.kinds.items() if place < count}
        found.conditions = {key: place for key, place in self.conditions.items() if place < count}
        found._count = count
        return found

    def with_facts(self, facts: Iterable[Fact]) -> _Seen:
        """This one, with more facts."""
        for fact in facts:
            self.kinds.setdefault((fact.condition, fact.kind), self._count)
            self.conditions.setdefault(fact.condition, self._count)
            self._count += 1
        return self
