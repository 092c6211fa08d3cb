"""RLX311 to RLX314: what is wrong inside the kernels that a function calls.

Event: a call of a kernel in which something was found. Claims: no load from a buffer of the kernel comes
before every store to it, nor of an element before every store to that (RLX311); no element is stored by two
steps of a parallel loop, or each stores the same value (RLX312). That a buffer is never read (RLX313) or
larger than the target allows (RLX314) needs no claim. Verdict: that of the provers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Generic, TypeVar

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.facts.claims import Claim
from relax_lint.facts.judge import Decided, Judge
from relax_lint.facts.kernels import KernelFacts, KernelUse
from relax_lint.model.kernel_inside.findings import LargeBuffer, Race, UnusedBuffer, UnwrittenRead
from relax_lint.model.kernel_inside.reading import beyond
from relax_lint.results.location import Location
from relax_lint.results.verdict import Prover, Verdict
from relax_lint.sources.kernel_lowering import KernelLoweringError, target_of
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.decision import Decision, Proof, certain

Finding = TypeVar("Finding")
_SEEN = Proof(Prover.CONSTANT, "carried out: what is stored depends on what was in memory before")
_MAY_BE_THE_SAME = Proof(Prover.UNDECIDED, "the steps may store the same value")


@record(frozen=True)
class InKernel(Generic[Finding]):
    """Something in a kernel, at one call of it."""

    use: KernelUse
    finding: Finding


class InsideFacts:
    """The verdicts on the insides of the kernels that one function calls."""

    def __init__(self, judge: Judge, kernels: KernelFacts, target: str | None) -> None:
        self._judge = judge
        self._target = target
        self._kernels = kernels

    def unwritten_reads(self) -> Iterator[Decided[InKernel[UnwrittenRead]]]:
        """RLX311: loads from buffers of kernels that nothing has written."""
        for use in self._kernels.uses:
            for read in use.kernel.inside.unwritten_reads:
                decided = self._decided_part if read.partly else self._decided_read
                yield from decided(use, read)

    def races(self) -> Iterator[Decided[InKernel[Race]]]:
        """RLX312: stores that two steps of a parallel loop make to one element."""
        for use in self._kernels.uses:
            for race in use.kernel.inside.races:
                yield self._decided_race(use, race)

    def unused(self) -> Iterator[Decided[InKernel[UnusedBuffer]]]:
        """RLX313: buffers of kernels that are never read."""
        for use in self._kernels.uses:
            for buffer in use.kernel.inside.unused:
                decision = certain(Verdict.ALWAYS_WRONG, "nothing reads it")
                yield Decided(InKernel(use, buffer), decision, use.presumptions)

    def large(self) -> Iterator[Decided[InKernel[LargeBuffer]]]:
        """RLX314: buffers of kernels that are larger than the target allows."""
        for use in self._kernels.uses:
            for buffer in (*use.kernel.inside.large, *self._beyond_target(use)):
                decision = certain(Verdict.ALWAYS_WRONG, f"{buffer.bytes} > {buffer.limit}")
                yield Decided(InKernel(use, buffer), decision, use.presumptions)

    def _beyond_target(self, use: KernelUse) -> Iterator[LargeBuffer]:
        """Buffers of a kernel that names no target, beyond the limits of the one that the user names."""
        if self._target is None or not use.kernel.inside.on_chip:
            return
        with suppress(KernelLoweringError):
            yield from beyond(use.kernel.inside.on_chip, target_of(None, self._target))

    def place(
        self, found: InKernel[UnwrittenRead] | InKernel[Race], what: str
    ) -> tuple[tuple[str, Location], ...]:
        """The access in the text of the kernel, with what is said of it, where that is known."""
        where = found.use.kernel.place_of_node(found.finding.node)
        return () if where is None else ((what, where),)

    def _decided_read(
        self, use: KernelUse, read: UnwrittenRead
    ) -> Iterator[Decided[InKernel[UnwrittenRead]]]:
        yield self._decided(use, read, read.harmless)

    def _decided_part(
        self, use: KernelUse, read: UnwrittenRead
    ) -> Iterator[Decided[InKernel[UnwrittenRead]]]:
        """Where it is not certain that something unwritten is read it may still have been seen."""
        found: Decided[InKernel[UnwrittenRead]] = self._decided(use, read, read.harmless)
        is_whole = self._decided(use, read, sympy.Or(read.safe, sympy.Not(read.harmless)))
        certain = found.decision.verdict is Verdict.ALWAYS_WRONG or not found.decision.reachable
        if certain or is_whole.decision.verdict is Verdict.ALWAYS_FINE:
            yield found
            return
        seen = self._decided(use, read, sympy.And(read.harmless, sympy.Not(read.seen))).decision
        if seen.verdict is not Verdict.ALWAYS_FINE:
            decision = Decision(Verdict.NEEDS_RUNTIME_CHECK, _SEEN, wrong=seen.wrong, reaches=seen.reaches)
            yield replace(found, decision=decision)

    def _decided_race(self, use: KernelUse, race: Race) -> Decided[InKernel[Race]]:
        """Steps that store the same value are not in each other's way."""
        found: Decided[InKernel[Race]] = self._decided(use, race, race.harmless)
        if found.decision.verdict is Verdict.ALWAYS_FINE or race.same == sympy.false:
            return found
        may_be: Decided[InKernel[Race]] = self._decided(use, race, sympy.Or(race.harmless, race.same))
        if race.surely_same or may_be.decision.verdict is Verdict.ALWAYS_WRONG:
            return may_be
        return replace(found, decision=Decision(Verdict.NEEDS_RUNTIME_CHECK, _MAY_BE_THE_SAME))

    def _decided(self, use: KernelUse, finding: Finding, harmless: Boolean) -> Decided[InKernel[Finding]]:
        claim = Claim(use.match.binding.expr(harmless), use.entered)
        return Decided(InKernel(use, finding), self._judge.judge(claim), use.presumptions)
