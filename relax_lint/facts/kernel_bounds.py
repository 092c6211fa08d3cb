"""RLX306, 307 and 308: does every kernel stay inside its arguments, and write its results?

Event: a call of a kernel of the module. Claims, for calls that its entry lets through: every index stays
inside its argument (RLX306); every reduction has a step that initialises its result (RLX307); and for
each argument that is a constant: the indices that it holds are inside the axis that they index (RLX308).
Verdict: that of the provers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from relax_lint.analysis.flow import FunctionFlow
from relax_lint.facts.claims import Claim
from relax_lint.facts.judge import Decided, Judge
from relax_lint.facts.kernels import KernelFacts, KernelUse
from relax_lint.model.kernels import Access, Lookup
from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.domain import Fact
from relax_lint.vm.facts import FactSource

_URGENCY = {Verdict.ALWAYS_WRONG: 0, Verdict.NEEDS_RUNTIME_CHECK: 1, Verdict.ALWAYS_FINE: 2}


@dataclass(frozen=True)
class ConstantLookup:
    """Indices from `first` to `last` that a constant argument of a call holds."""

    use: KernelUse
    lookup: Lookup
    first: int
    last: int


class IndexFacts:
    """The verdicts on the indices and reductions of the kernel calls of one function."""

    def __init__(self, flow: FunctionFlow, judge: Judge, kernels: KernelFacts) -> None:
        self._function = flow.function
        self._judge = judge
        self._kernels = kernels

    # -- RLX306 --------------------------------------------------------------------------------

    def accesses(self) -> Iterator[Decided[KernelUse]]:
        """Every call of a kernel whose indices do not plainly stay inside its arguments."""
        for use in self._kernels.uses:
            if use.kernel.accesses:
                decision = self._judge.judge(
                    Claim(use.match.inside, use.entered, use.match.asked_to_stay_inside)
                )
                yield Decided(use, decision, use.presumptions)

    def first_outside(self, use: KernelUse) -> Access:
        """The first access that does not always stay inside; a certain one before a possible one, a store
        before a load.
        """

        def rank(access: Access) -> tuple[int, bool]:
            claim = Claim(use.match.reaches_inside(access), use.entered)
            return _URGENCY[self._judge.judge(claim).verdict], not access.writes

        return min(use.kernel.accesses, key=rank)

    # -- RLX307 --------------------------------------------------------------------------------

    def reductions(self) -> Iterator[Decided[KernelUse]]:
        """Every call of a kernel that reduces: its results are initialised."""
        for use in self._kernels.uses:
            if use.kernel.reductions:
                decision = self._judge.judge(Claim(use.match.initialises, use.entered))
                yield Decided(use, decision, use.presumptions)

    # -- RLX308 --------------------------------------------------------------------------------

    def constant_lookups(self) -> Iterator[Decided[ConstantLookup]]:
        """Every constant that a kernel uses as indices: they are inside the axis that they index."""
        for use in self._kernels.uses:
            for lookup in use.kernel.lookups:
                value = use.operands[lookup.indices].value
                span = None if value is None else self._function.index_ranges.get(value)
                condition = None if span is None else use.match.holds(lookup, span)
                if span is not None and condition is not None:
                    decision = self._judge.judge(Claim(condition, use.domain))
                    yield Decided(ConstantLookup(use, lookup, *span), decision, use.presumptions)

    def needs_an_element_only(self, event: ConstantLookup) -> bool:
        """Whether the indices are inside every axis that is not empty."""
        match, lookup = event.use.match, event.lookup
        condition, element = match.holds(lookup, (event.first, event.last)), match.has_element(lookup)
        if condition is None or element is None:
            return False
        fact = Fact.of(FactSource.AXIS_HAS_ELEMENT, element, "the axis has an element")
        decision = self._judge.judge(Claim(condition, event.use.domain.with_facts((fact,))))
        return decision.reachable and decision.verdict is Verdict.ALWAYS_FINE
