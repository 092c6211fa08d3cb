"""RLX306, 307 and 308: does every kernel stay inside its arguments, and write its results?

Event: a call of a kernel of the module. Claims, for calls that its entry lets through: every access stays
inside its buffer (RLX306); every reduction has a step that initialises its result (RLX307); and for
each argument that is a constant: the indices that it holds are inside the axis that they index (RLX308).
Verdict: that of the provers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import sympy

from relax_lint.analysis.flow import FunctionFlow
from relax_lint.facts.claims import Claim, all_of
from relax_lint.facts.held import Held
from relax_lint.facts.index_values import IndexValues
from relax_lint.facts.judge import Decided, Judge
from relax_lint.facts.kernel_access_verdicts import AccessVerdict, CallVerdict, Status
from relax_lint.facts.kernel_access_words import AccessWords, words
from relax_lint.facts.kernel_accesses import AccessJudge
from relax_lint.facts.kernel_coverage import coverage
from relax_lint.facts.kernel_memory import BESIDE_AS_FAR_AS_KNOWN, MAY_BE_ANOTHER
from relax_lint.facts.kernels import KernelFacts, KernelUse
from relax_lint.facts.outside_writes import handed_over_constants, overwritten_constants
from relax_lint.model.kernels import Lookup
from relax_lint.model.operations import ValueId
from relax_lint.results.accesses import FunctionAccesses
from relax_lint.results.verdict import Prover, Verdict
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.decision import Decision, Proof, certain
from relax_lint.symbolic.domain import Fact
from relax_lint.symbolic.quantity import Unknown
from relax_lint.vm.facts import FactSource

_URGENCY = {
    Status.WRONG: 0,
    Status.DEPENDS: 1,
    Status.BESIDE: 2,
    Status.UNDECIDED: 3,
    Status.LIMITED: 4,
    Status.ASSUMED: 5,
    Status.PROVED: 6,
}


@record(frozen=True)
class KnownLookup:
    """Indices from `first` to `last` that an argument of a call holds, a constant or what a kernel of the
    module has computed.
    """

    use: KernelUse
    lookup: Lookup
    first: sympy.Expr
    last: sympy.Expr
    is_constant: bool
    is_beside: bool = False
    """Whether some leave the axis whatever the call, and the memory perhaps not."""


class IndexFacts:
    """The verdicts on the indices and reductions of the kernel calls of one function."""

    def __init__(self, flow: FunctionFlow, judge: Judge, kernels: KernelFacts) -> None:
        self._flow = flow
        self._function = flow.function
        self._judge = judge
        self._kernels = kernels
        self._verdicts: dict[int, CallVerdict] = {}

    @cached_property
    def _ranges(self) -> dict[ValueId, tuple[int, int]]:
        """The smallest and the largest element of the constants that keep what they hold."""
        ranges = self._function.index_ranges
        if not ranges:
            return {}
        changed = overwritten_constants(self._flow) | handed_over_constants(self._flow)
        return {value: span for value, span in ranges.items() if value not in changed}

    @cached_property
    def _values(self) -> IndexValues:
        return IndexValues(self._flow, self._judge, self._kernels, self._ranges)

    @cached_property
    def _accesses(self) -> AccessJudge:
        return AccessJudge(self._judge, self._ranges, self._values, self._kernels.name_of)

    # -- RLX306 --------------------------------------------------------------------------------

    def accesses(self) -> Iterator[Decided[KernelUse]]:
        """Every call of a kernel that has an access which is not inside its buffer in every call."""
        for use in self._kernels.matching:
            verdict = self.verdict(use)
            if verdict.open:
                decision = self._together(use, verdict)
                assumed = [one for found in verdict.open for one in found.assumptions]
                presumptions = (*use.presumptions, *dict.fromkeys(assumed))
                only_empty = decision.safe_when is not None and self._is_only_empty(use, verdict.open)
                yield Decided(use, decision, presumptions, only_empty)

    def doubted(self, decided: Decided[KernelUse]) -> Decided[KernelUse]:
        """The same where nothing is assumed of what tensors hold."""
        doubts = [one for one in decided.presumptions if one.is_contents]
        if decided.decision.verdict is not Verdict.ALWAYS_FINE or not doubts:
            return decided
        proof = Proof(Prover.UNDECIDED, f"it assumes {doubts[0].text}")
        kept = tuple(one for one in decided.presumptions if one not in doubts)
        return replace(decided, decision=Decision(Verdict.NEEDS_RUNTIME_CHECK, proof), presumptions=kept)

    def coverage(self, path: str) -> FunctionAccesses | None:
        """How many accesses were proved; None where no rule asked, or no kernel is called."""
        if not self._verdicts:
            return None
        calls = [(use, self.verdict(use)) for use in self._kernels.matching]
        return coverage(path, self._function.module, self._function.name, calls)

    def verdict(self, use: KernelUse) -> CallVerdict:
        """What is said of each access of a call."""
        found = self._verdicts.get(id(use))
        if found is None:
            found = self._verdicts[id(use)] = self._accesses.verdict(use)
        return found

    def _together(self, use: KernelUse, verdict: CallVerdict) -> Decision:
        """The verdict on all accesses of a call."""
        wrong = verdict.of(Status.WRONG)
        if wrong:
            decided = wrong[0].decision
            assert decided is not None
            return decided
        depends, beside = verdict.of(Status.DEPENDS), verdict.of(Status.BESIDE)
        undecided = verdict.of(Status.UNDECIDED, Status.LIMITED)
        if depends:
            decision = self._depending(use, depends)
            # Where nothing is known of some accesses, it is not known when all are inside.
            is_open = bool(undecided or beside)
            return replace(decision, safe_when=None, fine=None, mixed=False) if is_open else decision
        if beside:
            return Decision(Verdict.NEEDS_RUNTIME_CHECK, Proof(Prover.CONSTANT, beside[0].reason))
        if undecided:
            proof = Proof(Prover.UNDECIDED, undecided[0].reason)
            return Decision(Verdict.NEEDS_RUNTIME_CHECK, proof)
        return certain(Verdict.ALWAYS_FINE, "every access is inside its buffer")

    def _depending(self, use: KernelUse, depends: tuple[AccessVerdict, ...]) -> Decision:
        if all(one.complete for one in depends):
            decision = self._judge.judge(Claim(all_of(one.condition for one in depends), use.entered))
            is_wrong = decision.verdict is Verdict.ALWAYS_WRONG
            if is_wrong and not self._one_leaves_its_memory(use, depends):
                return Decision(Verdict.NEEDS_RUNTIME_CHECK, Proof(Prover.CONSTANT, MAY_BE_ANOTHER))
            return decision
        # What is only known to be necessary, or to be enough, is not the safe region.
        one = next(one for one in depends if not one.complete)
        found = one.decision
        proof = Proof(Prover.CONSTANT, f"a step was found in which an index is outside; {one.reason}")
        if found is None:
            return Decision(Verdict.NEEDS_RUNTIME_CHECK, proof)
        return Decision(Verdict.NEEDS_RUNTIME_CHECK, proof, wrong=found.wrong, reaches=found.reaches)

    def _one_leaves_its_memory(self, use: KernelUse, depends: tuple[AccessVerdict, ...]) -> bool:
        """Whether in every call some access is outside its memory, and not only outside an axis."""
        found = self._judge.judge(self._inside_memory(use, depends))
        return found.verdict is Verdict.ALWAYS_WRONG

    def _inside_memory(self, use: KernelUse, depends: tuple[AccessVerdict, ...]) -> Claim:
        """That no access leaves an axis of those that leave their memory with it."""
        sure = [one.condition for one in depends if self._accesses.leaves_memory_too(use, one)]
        return Claim(all_of(sure), use.entered)

    def _is_only_empty(self, use: KernelUse, found: tuple[AccessVerdict, ...]) -> bool:
        """Whether one of some accesses is outside its memory unless a tensor of the call is empty."""
        complete = tuple(one for one in found if one.status is Status.DEPENDS and one.complete)
        empty = use.empty
        if not complete or empty is None:
            return False
        inside = self._inside_memory(use, complete)
        if isinstance(inside.condition, Unknown):
            return False
        return self._judge.implies(use.entered, inside.condition, empty)

    def is_about_input(self, use: KernelUse) -> bool:
        """Whether some input makes an access leave its buffer, as far as that is known."""
        return bool(self.verdict(use).of(Status.WRONG, Status.DEPENDS, Status.BESIDE))

    def words(self, use: KernelUse, found: AccessVerdict) -> AccessWords:
        """The parts of a message about an access."""
        return words(use, found, self._kernels.name_of)

    def first_outside(self, use: KernelUse) -> AccessVerdict:
        """The access to tell of: a certain one before a possible one, a store before a load."""

        def rank(found: AccessVerdict) -> tuple[int, bool, bool]:
            return _URGENCY[found.status], not self._is_only_empty(use, (found,)), not found.access.writes

        return min(self.verdict(use).open, key=rank)

    # -- RLX307 --------------------------------------------------------------------------------

    def reductions(self) -> Iterator[Decided[KernelUse]]:
        """Every call of a kernel that reduces: its results are initialised."""
        for use in self._kernels.matching:
            if use.kernel.reductions:
                decision = self._judge.judge(Claim(use.match.initialises, use.entered))
                yield Decided(use, decision, use.presumptions)

    # -- RLX308 --------------------------------------------------------------------------------

    def known_lookups(self) -> Iterator[Decided[KnownLookup]]:
        """Every constant, or other tensor whose elements are known to reach from one integer to another, that
        a kernel uses as indices: they are inside the axis that they index.
        """
        for use in self._kernels.matching:
            for lookup in use.kernel.lookups:
                held = self._values.of(use, lookup.indices)
                if held is None or not held.reached:
                    continue
                first, last = held.low + lookup.added, held.high + lookup.added
                condition = use.match.holds(lookup, first, last)
                if condition is not None and self._fits(use, lookup, held):
                    value = use.operands[lookup.indices].value
                    decision = self._judge.judge(Claim(condition, use.domain))
                    is_beside = decision.verdict is Verdict.ALWAYS_WRONG and not self._is_outside(
                        use, lookup, first, last
                    )
                    event = KnownLookup(use, lookup, first, last, value in self._ranges, is_beside)
                    if is_beside:
                        decision = Decision(
                            Verdict.NEEDS_RUNTIME_CHECK, Proof(Prover.CONSTANT, BESIDE_AS_FAR_AS_KNOWN)
                        )
                    yield Decided(event, decision, use.presumptions)

    def _fits(self, use: KernelUse, lookup: Lookup, held: Held) -> bool:
        """Whether the elements fit into every type on the way to the index."""
        if lookup.span is None:
            return True
        least, most = lookup.span
        condition = sympy.And(sympy.Ge(held.low, least), sympy.Le(held.high, most))
        return self._judge.judge(Claim(condition, use.domain)).verdict is Verdict.ALWAYS_FINE

    def _is_outside(self, use: KernelUse, lookup: Lookup, first: sympy.Expr, last: sympy.Expr) -> bool:
        """Whether indices lead out of the memory whatever the call, and not only out of their axis."""
        condition = use.match.may_hold_in_memory(lookup, first, last)
        return self._judge.judge(Claim(condition, use.domain)).verdict is Verdict.ALWAYS_WRONG

    def needs_an_element_only(self, event: KnownLookup) -> bool:
        """Whether the indices are inside every axis that is not empty."""
        match, lookup = event.use.match, event.lookup
        condition, element = match.holds(lookup, event.first, event.last), match.has_element(lookup)
        # Otherwise it were not known whether they are inside.
        assert condition is not None
        assert element is not None
        fact = Fact.of(FactSource.AXIS_HAS_ELEMENT, element, "the axis has an element")
        decision = self._judge.judge(Claim(condition, event.use.domain.with_facts((fact,))))
        return decision.reachable and decision.verdict is Verdict.ALWAYS_FINE
