"""Domains: which symbol assignments can reach an operation, and why we believe so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.support.quick_init import quick_init
from relax_lint.vm.facts import FactKind as FactKind
from relax_lint.vm.facts import FactSource

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1


@quick_init
@dataclass(frozen=True)
class Fact:
    """One condition on symbols that may be assumed.

    `text` is what people read in the list of assumptions, for example
    `n <= 2048 (tir_var_upper_bound, not enforced)`.
    """

    condition: Boolean
    kind: FactKind
    text: str

    @classmethod
    def of(cls, source: FactSource, condition: Boolean, text: str) -> Fact:
        """A fact of one of the kinds that the table lists."""
        return cls(condition, source.kind, text)


@quick_init
@dataclass(frozen=True)
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

    def __hash__(self) -> int:
        return self._hash

    def with_facts(self, facts: Iterable[Fact]) -> Domain:
        """This domain, narrowed by more facts; a known condition adds nothing."""
        more: dict[tuple[Boolean, FactKind], Fact] = {}
        for fact in facts:
            if (fact.condition, fact.kind) not in self._known and fact.condition != sympy.true:
                more.setdefault((fact.condition, fact.kind), fact)
        return Domain(self.symbols, (*self.facts, *more.values()), self.free) if more else self

    def without(self, *kinds: FactKind) -> Domain:
        """This domain without the facts of the given kinds: a larger one."""
        return Domain(self.symbols, tuple(f for f in self.facts if f.kind not in kinds), self.free)

    @cached_property
    def conditions(self) -> frozenset[Boolean]:
        """The conditions of all facts."""
        return frozenset(fact.condition for fact in self.facts)

    @cached_property
    def _hash(self) -> int:
        # Provers look up a domain many times, and to hash its facts takes longer than most proofs.
        return hash((self.symbols, self.facts, self.free))

    @cached_property
    def _known(self) -> frozenset[tuple[Boolean, FactKind]]:
        return frozenset((fact.condition, fact.kind) for fact in self.facts)
