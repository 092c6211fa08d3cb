"""Everything that rules may ask about one function, put together here and decided in the files beside this
one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property, partial

import sympy

from relax_lint.analysis.dominance import UndominatedUse
from relax_lint.analysis.events import Apart, Overwriting, Reading, StaleRead, UnwrittenRead
from relax_lint.analysis.flow import FunctionFlow, ProgramFlow
from relax_lint.analysis.kills import KilledUse
from relax_lint.analysis.untaken import untaken_in_read_calls
from relax_lint.facts import (
    assertions,
    double_kill,
    inplace,
    live_overlap,
    outside_writes,
    pure_calls,
    undominated,
    uninitialised_read,
    unused_memory,
    use_after_kill,
)
from relax_lint.facts.assertions import RuntimeCheck
from relax_lint.facts.bounds import BoundFacts
from relax_lint.facts.budgets import BudgetFacts
from relax_lint.facts.call_arguments import CallArguments, accepted_calls
from relax_lint.facts.call_results import CallResults
from relax_lint.facts.claims import Claim
from relax_lint.facts.devices import DeviceFacts
from relax_lint.facts.handed_on import handed_on
from relax_lint.facts.heap_slots import HeapSlotFacts
from relax_lint.facts.inplace import ArgumentOverlap
from relax_lint.facts.judge import Decided, Judge
from relax_lint.facts.kernel_arguments import ArgumentFacts
from relax_lint.facts.kernel_bounds import IndexFacts
from relax_lint.facts.kernel_inside import InsideFacts
from relax_lint.facts.kernels import KernelFacts
from relax_lint.facts.outside_writes import OutsideWrite
from relax_lint.facts.packing import PackingFacts
from relax_lint.facts.placement import Placement, PlacementFacts
from relax_lint.facts.read_at_start import ReadAtStart, reads_at_start
from relax_lint.facts.unchecked_types import TypeFacts
from relax_lint.facts.unused_memory import KeptAllocation, UnusedAllocation
from relax_lint.facts.views import ViewFacts
from relax_lint.facts.words import quantity
from relax_lint.model.operations import (
    AllocStorage,
    AllocTensor,
    FunctionCall,
    KernelCall,
    Kill,
    Op,
    OperationId,
    ValueId,
)
from relax_lint.model.program import Function, Provenance
from relax_lint.model.types import TensorType
from relax_lint.settings.config import Config
from relax_lint.symbolic.decision import Decision
from relax_lint.symbolic.domain import Domain
from relax_lint.symbolic.printing import condition_text, expr_text
from relax_lint.symbolic.prover import ProverChain
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.totals.compute import Totals, measure_planned
from relax_lint.totals.kernel_memory import KernelMemory


class FunctionFacts:
    """The facts of one function, each computed when it is first asked for.

    `flow` is its data flow, `judge` puts claims to the provers, the other attributes give verdicts.
    """

    def __init__(
        self,
        shared: ProgramFlow,
        function: Function,
        config: Config,
        chain: ProverChain,
        kernels: KernelMemory | None = None,
    ) -> None:
        self._kernels = kernels
        self._measured = cache(partial(measure_planned, shared.program, function, page_size=config.page_size))
        self.program = shared.program
        self.function = function
        self.config = config
        # The judge knows the flow only: what knows each other would be freed late.
        flow = self.flow = FunctionFlow(shared, function)
        self.prover = Judge(
            function,
            chain,
            trust_declared_bounds=config.trust_declared_bounds,
            keep_claims=config.proofs,
            calls=lambda: flow.calls_of_this if flow.knows_callers else (),
            read_calls=lambda: shared.callees.read_calls_of(function),
        )
        self._shared = shared

    @cached_property
    def untaken_in_read_calls(self) -> frozenset[int]:
        """The indices of the operations that no call reaches which was read, where some were not."""
        effect_of = self._shared.effects.effect_of
        return untaken_in_read_calls(self.function, self._shared.callees, self.flow.aliases, effect_of)

    # -- operations, domains, claims -----------------------------------------------------------

    @property
    def operations(self) -> tuple[Op, ...]:
        """Every operation in program order, branches included."""
        return self.flow.operations

    @property
    def storages(self) -> tuple[AllocStorage, ...]:
        """Every alloc_storage."""
        return self.placement.storages

    @property
    def tensors(self) -> tuple[AllocTensor, ...]:
        """Every alloc_tensor, also those without a storage of their own yet."""
        return self.placement.tensors

    @property
    def placements(self) -> tuple[Placement, ...]:
        """Every tensor that was put on a storage."""
        return self.placement.placements

    @property
    def entry(self) -> Domain:
        """What holds when the function is entered."""
        return self.prover.entry

    def domain_at(self, place: OperationId) -> Domain:
        """What holds when an operation is reached."""
        return self.prover.domain_at(place)

    def judge(self, *claims: Claim) -> Decision:
        """The verdict on a claim, or on an operation of which one of several claims holds per path."""
        return self.prover.judge(*claims)

    @property
    def totals(self) -> Totals:
        """What the function needs, in bytes."""
        return self._measured()

    # -- verdicts: sizes and places ------------------------------------------------------------

    @cached_property
    def placement(self) -> PlacementFacts:
        """The positions of tensors on their storages (RLX101 to RLX105)."""
        return PlacementFacts(self.flow, self.prover, self.config)

    @cached_property
    def views(self) -> ViewFacts:
        """The reshapes and byte windows (RLX304)."""
        return ViewFacts(self.flow, self.prover)

    @cached_property
    def devices(self) -> DeviceFacts:
        """The devices of values (RLX401 to RLX403)."""
        return DeviceFacts(self.flow, self.config)

    @cached_property
    def packing(self) -> PackingFacts:
        """The dtypes that are not a whole number of bytes (RLX404)."""
        return PackingFacts(self.flow, self.placement, self.kernels, self.prover)

    @cached_property
    def call_results(self) -> CallResults:
        """The tensors that calls allocate where no memory is planned (RLX104, RLX404)."""
        return CallResults(self.flow, self.prover)

    @cached_property
    def heap_slots(self) -> HeapSlotFacts:
        """The slots of shape heaps (RLX106, RLX205)."""
        return HeapSlotFacts(self.flow, self.prover)

    # -- verdicts: lifetimes -------------------------------------------------------------------

    def uses_after_kill(self) -> Iterator[Decided[KilledUse]]:
        """Every use of a value whose register a kill has cleared (RLX201)."""
        return use_after_kill.uses_after_kill(self.flow, self.prover)

    def killed_constants(self) -> Iterator[Decided[Kill]]:
        """Every kill of a constant (RLX201)."""
        return use_after_kill.killed_constants(self.flow, self.prover)

    def killed_nulls(self) -> Iterator[Decided[Kill]]:
        """RLX201: every kill of a null value."""
        return use_after_kill.killed_nulls(self.flow)

    def double_kills(self) -> Iterator[Decided[KilledUse]]:
        """Every kill of what was killed before (RLX202)."""
        return double_kill.double_kills(self.flow, self.prover)

    def live_overlaps(self) -> Iterator[Decided[Overwriting]]:
        """Every write over a tensor that is read later (RLX203)."""
        return live_overlap.live_overlaps(self.flow, self.prover)

    def apart_writes(self) -> Iterator[Decided[Apart]]:
        """Every write that overlaps no other tensor on its storage, of those that are used later (RLX203)."""
        return live_overlap.apart_writes(self.flow, self.prover)

    def harmless_reuses(self) -> Iterator[Decided[AllocTensor | FunctionCall]]:
        """The tensors on a shared storage that overwrite nothing that is read later (RLX203)."""
        return live_overlap.harmless_reuses(self.flow)

    def undominated_uses(self) -> Iterator[Decided[UndominatedUse]]:
        """Every use of a value that is not defined on every path to it (RLX204)."""
        return undominated.undominated_uses(self.flow, self.prover)

    def uninitialised_reads(self) -> Iterator[Decided[UnwrittenRead]]:
        """Every tensor that is read before it is written (RLX205)."""
        return uninitialised_read.uninitialised_reads(self.flow, self.prover)

    def leftovers(self, event: UnwrittenRead) -> tuple[ValueId, ...]:
        """The tensors that were written before on bytes of a tensor that was not (RLX205)."""
        return uninitialised_read.leftovers(event, self.flow)

    def stubs_given(self, event: UnwrittenRead) -> tuple[str, ...]:
        """The kernels without a body that are given a tensor before it is read (RLX205)."""
        return uninitialised_read.stubs_given(event, self.flow)

    def is_for_callers(self, event: UnwrittenRead) -> bool:
        """Whether a tensor is returned, unwritten, by a function that does nothing but allocate (RLX205)."""
        return event.reading.op is None and uninitialised_read.only_allocates(self.flow)

    def argument_overlaps(self) -> Iterator[Decided[ArgumentOverlap]]:
        """Every pair of arguments that may alias, one of which is written (RLX206)."""
        return inplace.argument_overlaps(self.flow, self.prover)

    def stale_reads(self) -> Iterator[Decided[StaleRead]]:
        """Every read of an older name of what an in-place call overwrote (RLX206)."""
        return inplace.stale_reads(self.flow, self.prover)

    def outside_writes(self) -> Iterator[Decided[OutsideWrite]]:
        """Every write to a constant or a parameter (RLX206)."""
        return outside_writes.outside_writes(self.flow, self.prover)

    def believed_calls(self) -> Iterator[Decided[KernelCall]]:
        """The calls that say themselves which arguments they leave alone (RLX206)."""
        return pure_calls.believed_calls(self.flow, self.prover)

    def never_killed(self) -> Iterator[Decided[KeptAllocation]]:
        """The allocations of a function that kills which it does not kill (RLX207)."""
        return unused_memory.never_killed(self.flow, self.prover)

    def unused_allocations(self) -> Iterator[Decided[UnusedAllocation]]:
        """The allocations that are never used (RLX208)."""
        return unused_memory.unused_allocations(self.flow, self.prover)

    # -- verdicts: kernels ---------------------------------------------------------------------

    @cached_property
    def kernels(self) -> KernelFacts:
        """The calls of the module's own kernels."""
        return KernelFacts(self.flow, self.prover, self.types)

    @cached_property
    def arguments(self) -> ArgumentFacts:
        """What kernels are given (RLX301 to RLX303)."""
        moved = self.program.moves_pointers
        return ArgumentFacts(self.flow, self.prover, self.kernels, moved_pointers=moved)

    def reads_at_start(self) -> Iterator[Decided[ReadAtStart]]:
        """What leaves the offset of a tensor out of account (RLX303)."""
        return iter(()) if self.program.moves_pointers else reads_at_start(self.flow, self.prover)

    def accepted_calls(self) -> Iterator[Decided[CallArguments]]:
        """What Relax functions are given (RLX301)."""
        return accepted_calls(self.flow, self.prover, self.types.presumed)

    @cached_property
    def indices(self) -> IndexFacts:
        """What kernels read and write (RLX306 to RLX308)."""
        return IndexFacts(self.flow, self.prover, self.kernels)

    @cached_property
    def inside(self) -> InsideFacts:
        """What is wrong inside the kernels (RLX311 to RLX314)."""
        return InsideFacts(self.prover, self.kernels, self.config.target)

    @cached_property
    def types(self) -> TypeFacts:
        """The types that are declared and never checked (RLX305, RLX507)."""
        return TypeFacts(self.flow)

    # -- verdicts: declarations and budgets ----------------------------------------------------

    @cached_property
    def bounds(self) -> BoundFacts:
        """The declared bounds (RLX501 to RLX503, RLX506)."""
        return BoundFacts(self.flow, self.prover, self.placement)

    def redundant_checks(self) -> Iterator[Decided[RuntimeCheck]]:
        """Every assertion of the program's own: something can make it fail (RLX504)."""
        return assertions.redundant_checks(self.flow, self.prover)

    def failing_checks(self) -> Iterator[Decided[RuntimeCheck]]:
        """Every check: some input passes it (RLX505)."""
        return assertions.failing_checks(self.flow, self.prover)

    @cached_property
    def budgets(self) -> BudgetFacts:
        """The totals against what the function may have (RLX601, RLX602)."""
        return BudgetFacts(
            self.function,
            self.prover,
            self.config,
            self._measured,
            self.storages,
            self.program,
            self._kernels,
            partial(handed_on, self.storages, self.flow),
        )

    # -- words ---------------------------------------------------------------------------------

    def name_of(self, value: ValueId) -> str:
        """The name of a value in the IR; of memory in a tuple that a call returns, the field."""
        path = self.flow.aliases.roots.path(value)
        fields = "".join(f"[{field}]" for field in path.fields if field >= 0)
        return self._written_name(path.value) + fields

    def _written_name(self, value: ValueId) -> str:
        """The name of a value; what has none is a tuple that stands among the arguments of a call."""
        items = self.function.inline_tuples.get(value, ())
        name = self.function.values[value].name
        if name or not items:
            return name
        return f"({', '.join(map(self._written_name, items))}{',' * (len(items) == 1)})"

    def bytes(self, size: Size) -> str:
        """A size for a message: ``16 bytes``, `` `4*m` bytes``."""
        return quantity(size)

    def elements(self, size: Size) -> str:
        """A number of elements for a message: ``16 elements``."""
        return quantity(size, "elements")

    def shape_label(self, op: AllocTensor | AllocStorage | TensorType) -> str:
        """The extents of an allocation as a label: ``shape `(n - 17, 4)` ``."""
        extents = op.extents if isinstance(op, AllocStorage) else op.shape or ()
        if isinstance(extents, Unknown):
            return extents.reason
        return f"shape `({', '.join(expr_text(extent) for extent in extents)})`"

    def wrong_unless(self, decided: Decided[object]) -> str:
        """`` (wrong unless n == 0)`` for what is safe only where a tensor is empty, else nothing."""
        safe = decided.decision.safe_when
        if not decided.only_empty or safe is None:
            return ""
        extents = [one.symbol for one in self.function.symbols if one.provenance is Provenance.EXTENT]
        # No extent is negative.
        shown = safe.xreplace({sympy.Le(extent, 0): sympy.Eq(extent, 0) for extent in extents})
        return f" (wrong unless {condition_text(shown)})"

    def shared_bytes(self, decided: Decided[ArgumentOverlap]) -> str:
        """Which bytes two arguments share, and when: ``bytes 2048.. of `s` are shared when m > 512``."""
        overlap, safe, memory = decided.event, decided.decision.safe_when, self.flow.memory
        owner, *others = memory.owners(overlap.written) & memory.owners(overlap.other)
        starts = [memory.range(value).start for value in (overlap.written, overlap.other)]
        numbers = [int(start) for start in starts if not isinstance(start, Unknown) and start.is_Integer]
        which = f"bytes {max(numbers)}.." if len(numbers) == len(starts) else "bytes"
        where = which if others else f"{which} of `{self.name_of(owner)}`"
        when = "" if safe is None else f" when {condition_text(sympy.to_nnf(sympy.Not(safe)))}"
        return f"{where} are shared{when}"

    def is_computed(self, decision: Decision) -> bool:
        """Whether the safe region of a decision is about values alone that the program computes itself."""
        if decision.safe_when is None:
            return False
        names = decision.safe_when.free_symbols
        infos = [info for info in self.function.symbols if info.symbol in names]
        return bool(infos) and all(info.origin.is_computed for info in infos)

    def reader(self, reading: Reading) -> str:
        """Who reads: the callee of a call, else the binding."""
        op = reading.op
        if op is None:
            return "is returned"
        return f"`{op.callee if isinstance(op, KernelCall | FunctionCall) else op.place.binding}` still reads"
