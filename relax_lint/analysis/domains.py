"""Which symbol assignments reach each operation: one walk over the tree of blocks and branches."""

from __future__ import annotations

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.operations import Assert, Block, If, MatchCast
from relax_lint.model.program import Function, Provenance
from relax_lint.symbolic.domain import Domain, Fact, FactKind
from relax_lint.symbolic.printing import condition_text
from relax_lint.vm.facts import FactSource

_MOST_OF_A_BRANCH = 6
"""More facts of one branch are not told apart: a disjunction of long conditions costs every later proof."""


def entry_domain(function: Function, *, trust_declared_bounds: bool) -> Domain:
    """What holds when the function is entered.

    Without `trust_declared_bounds` the bounds that nothing enforces are dropped.
    """
    declared = {bound.fact for bound in function.bounds}
    facts = tuple(fact for fact in function.facts if trust_declared_bounds or fact not in declared)
    symbols = tuple(info.symbol for info in function.symbols)
    free = frozenset(i.symbol for i in function.symbols if i.provenance is not Provenance.EXTENT)
    return Domain(symbols, (), free).with_facts(facts)


AT_RETURN = -1
"""In the place of an index: where the function returns."""


def domains_of(function: Function, entry: Domain) -> dict[int, Domain]:
    """Domain of every operation, by its index in program order, and of the return.

    Asserts and match_casts that dominate an operation contribute their facts, and so does the
    condition of the branch that it is in. Operations between two such facts share one domain.
    """
    found: dict[int, Domain] = {}
    found[AT_RETURN] = _walk(function.body, entry, found)
    return found


_TELLING = (Assert, MatchCast, If)
"""The operations after which more may be known."""


def _walk(block: Block, domain: Domain, found: dict[int, Domain]) -> Domain:
    for op in block.ops:
        found[op.place.index] = domain
        if not isinstance(op, _TELLING):
            continue
        if isinstance(op, Assert):
            domain = domain.with_facts((*(() if op.fact is None else (op.fact,)), *op.learned))
        elif isinstance(op, MatchCast):
            domain = domain.with_facts(op.facts)
        elif isinstance(op, If):
            after_then = _walk(op.then_block, domain.with_facts(op.facts), found)
            after_else = _walk(op.else_block, domain.with_facts(op.else_facts), found)
            either = _either(op, domain, after_then, after_else)
            domain = domain.with_facts((*_common(after_then, after_else), *either))
    return domain


def _common(one: Domain, other: Domain) -> tuple[Fact, ...]:
    """What both branches established holds after them too, in whatever words."""
    known = {(fact.condition, fact.kind) for fact in other.facts}
    return tuple(fact for fact in one.facts if (fact.condition, fact.kind) in known)


def _either(op: If, before: Domain, one: Domain, other: Domain) -> tuple[Fact, ...]:
    """What only one branch established, or what only the other one did, holds after them."""
    own, own_2 = _only_here(before, one, other), _only_here(before, other, one)
    told = {fact.condition for fact in (*op.facts, *op.else_facts)}
    if not own or not own_2 or {*own, *own_2} <= told:
        return ()
    if max(len(own), len(own_2)) > _MOST_OF_A_BRANCH:
        return ()
    condition = sympy.Or(sympy.And(*own), sympy.And(*own_2))
    return (Fact.of(FactSource.BRANCH, condition, condition_text(condition)),)


def _only_here(before: Domain, one: Domain, other: Domain) -> list[Boolean]:
    """What is enforced in one branch and not in the other, of symbols that were known before."""
    symbols = before.free.union(*(fact.condition.free_symbols for fact in before.facts))
    known = {fact.condition for fact in other.facts}
    return [
        fact.condition
        for fact in one.facts
        if fact.kind is FactKind.ENFORCED
        and fact.condition not in known
        and fact.condition.free_symbols <= symbols
    ]
