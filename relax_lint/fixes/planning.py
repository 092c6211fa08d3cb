"""Which changes make a finding go away: plans what rules ask for, from the facts of one function."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.definitions import Definitions
from relax_lint.analysis.liveness import users_of
from relax_lint.facts.function import FunctionFacts
from relax_lint.facts.placement import Placement
from relax_lint.facts.remedies import (
    CheckAtEntry,
    CheckAtRunTime,
    DelayKill,
    Drop,
    DropAllocation,
    MakeRoom,
    RemedyRequest,
    RenameDeclaredBound,
)
from relax_lint.fixes.changes import (
    Applicability,
    InsertAssert,
    Remedy,
    Remove,
    RenameBound,
    ResizeStorage,
)
from relax_lint.fixes.check_form import CheckForm
from relax_lint.fixes.comparing import Comparison, comparison
from relax_lint.fixes.conditions import check_title, conjuncts, is_exact, is_writable
from relax_lint.fixes.kills import after_last_use
from relax_lint.fixes.left_over import LeftOver
from relax_lint.fixes.minimal import MinimalChecks, checks_of, first_safe
from relax_lint.fixes.resizing import Resizing
from relax_lint.fixes.taken_whole import is_taken_as_a_whole
from relax_lint.fixes.text.call_tir import call_with_output
from relax_lint.model.operations import AllocStorage, AllocTensor, Kill, Op, OperationId, ValueId
from relax_lint.model.program import BoundKind
from relax_lint.results.check import Turn
from relax_lint.results.verdict import Verdict
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.decision import Decision
from relax_lint.symbolic.domain import Domain


@record(frozen=True)
class Plan:
    """The ways to make a finding go away, the best first, and what to do in words where none is safe."""

    remedies: tuple[Remedy, ...] = ()
    help: tuple[str, ...] = ()


NOTHING = Plan()
"""Where there is nothing to mend."""


class Planner:
    """Plans the remedies for the findings of one function; `form` gives that of the checks, once one is
    planned.
    """

    def __init__(self, facts: FunctionFacts, *, form: Callable[[], CheckForm]) -> None:
        self._facts = facts
        self._form = form
        self._function = facts.function
        self._config = facts.config

    def plan(self, request: RemedyRequest | None, decision: Decision, place: OperationId | None) -> Plan:
        """What is offered for a request that came with a verdict on the operation at `place` (None: on the
        function).
        """
        if request is None:
            return NOTHING
        match request:
            case CheckAtRunTime():
                if decision.verdict is Verdict.ALWAYS_FINE:
                    return NOTHING
                return Plan(self._assertion(decision, place, safe=request.safe))
            case CheckAtEntry():
                return Plan(self._enforcement(decision))
            case MakeRoom():
                return self._room(request, decision)
            case Drop():
                change = Remove(request.op)
                return Plan((Remedy(f"drop {request.what}", Applicability.SAFE, (change,)),))
            case DropAllocation():
                return Plan(self._drop_allocation(request.allocation))
            case DelayKill():
                return Plan(after_last_use(request.kill, self._function, self._facts.flow))
            case RenameDeclaredBound():
                return Plan(self._rename(request))
        return NOTHING

    def minimised(self, plans: Sequence[Plan]) -> list[Plan]:
        """The plans of all findings of the function, ordered so that the fewest checks are made."""
        if not any(plan.remedies for plan in plans):
            return list(plans)
        facts = self._facts
        reasoning = (self._definitions, facts.domain_at, facts.entry, facts.prover.implies)
        ordered = MinimalChecks(*reasoning).ordered([plan.remedies for plan in plans])
        made = checks_of(map(first_safe, ordered))
        left = LeftOver(*reasoning).of(made)
        return [
            replace(plan, remedies=remedies, help=_with_left(plan.help, remedies, left)) if remedies else plan
            for plan, remedies in zip(plans, ordered, strict=True)
        ]

    # -- checks --------------------------------------------------------------------------------

    def _assertion(
        self, decision: Decision, place: OperationId | None, *, safe: bool = True
    ) -> tuple[Remedy, ...]:
        """A run-time check of the region in which the operation at `place` (None: the function) is safe;
        not a `safe` one where it may refuse what works well enough.
        """
        if decision.verdict is not Verdict.NEEDS_RUNTIME_CHECK or decision.safe_when is None:
            return ()
        parts = conjuncts(decision.safe_when)
        # TVM's parser leaves variables without a name where `T` is called something else.
        own = {info.symbol for info in self._function.symbols if info.symbol.name.isidentifier()}
        if not decision.safe_when.free_symbols <= own or not all(is_writable(part) for part in parts):
            return ()
        domain = self._facts.entry if place is None else self._facts.domain_at(place)
        point = self._definitions.earliest(decision.safe_when.free_symbols, place)
        exact = all(is_exact(part, domain, self._config.max_extent) for part in parts)
        applicability = Applicability.SAFE if safe else Applicability.UNSAFE
        if point is None or not exact or self._is_taken_as_a_whole:
            applicability = Applicability.DISPLAY
        before = None if point is None else point.before
        changes = tuple(
            InsertAssert(part, self._in_order(part), before, self._comparison(part, domain)) for part in parts
        )
        return (Remedy(check_title(parts), applicability, changes, Turn.CHECK),)

    def _enforcement(self, decision: Decision) -> tuple[Remedy, ...]:
        """A check at the entry of a bound that is declared only."""
        return tuple(replace(check, turn=Turn.BOUND) for check in self._assertion(decision, None))

    def _comparison(self, condition: Boolean, domain: Domain) -> Comparison | None:
        if self._form() is CheckForm.ASSERT_OP:
            return None
        # A difference of free symbols may wrap around.
        return comparison(condition, differences=not condition.free_symbols & domain.free)

    def _in_order(self, condition: Boolean) -> tuple[sympy.Symbol, ...]:
        return tuple(sorted(condition.free_symbols, key=lambda symbol: symbol.name))

    @cached_property
    def _is_taken_as_a_whole(self) -> bool:
        return is_taken_as_a_whole(self._facts.program, self._function.name)

    @cached_property
    def _definitions(self) -> Definitions:
        """From where on the symbols have a value."""
        return Definitions(self._function)

    # -- sizes ---------------------------------------------------------------------------------

    def _room(self, request: MakeRoom, decision: Decision) -> Plan:
        """For a tensor that does not, or not always, fit."""
        if decision.verdict is Verdict.ALWAYS_FINE:
            return Plan()
        remedies = self._fitting(request.placement, decision, check=request.check)
        safe = any(remedy.applicability is Applicability.SAFE for remedy in remedies)
        return Plan(remedies, self._instead(request.placement) if request.instead and not safe else ())

    def _fitting(self, placement: Placement, decision: Decision, *, check: bool) -> tuple[Remedy, ...]:
        # Where a branch chooses the storage, a check for the smallest one refuses what fits into the others.
        safe = len({storage.size for storage in placement.each}) < 2
        checks = self._assertion(decision, placement.tensor.place, safe=safe) if check else ()
        resize = self._resizing.resize(placement)
        if resize is None:
            return checks
        planned = bool(checks) and self._is_planned(resize, placement)
        # A storage that grows with the input is no longer what memory was planned for.
        gives_up_plan = planned and bool(resize.extent.free_symbols)
        what = "as large as its tensors" if resize.extent.free_symbols else "larger"
        resized = Remedy(
            f"make the storage {what}",
            Applicability.UNSAFE if gives_up_plan else Applicability.SAFE,
            (resize,),
        )
        return (*checks, resized) if planned else (resized, *checks)

    def _instead(self, placement: Placement) -> tuple[str, ...]:
        """How to do without the storage."""
        tensor = placement.tensor
        code = call_with_output(self._function, tensor, self._facts.flow.effect_of)
        return () if code is None else (f"let the call allocate `{tensor.place.binding}`: `{code}`",)

    def _is_planned(self, resize: ResizeStorage, placement: Placement) -> bool:
        """Whether the size of a storage was chosen with more in view than the one tensor on it."""
        if self._config.fix_strategy != "auto":
            return self._config.fix_strategy == "assert"
        shared = len(self._resizing.on(resize.storage)) > 1
        bounded = any(b.kind is BoundKind.UPPER and b.symbol is not None for b in self._function.bounds)
        return shared or bounded

    @cached_property
    def _resizing(self) -> Resizing:
        return Resizing(self._facts, self._definitions)

    # -- declarations --------------------------------------------------------------------------

    def _rename(self, request: RenameDeclaredBound) -> tuple[Remedy, ...]:
        """For a bound whose name is misspelt. Memory is planned with it from then on."""
        bound = request.bound
        change = RenameBound(bound.kind, bound.name, request.name)
        return (Remedy(f"write `{request.name}` instead of `{bound.name}`", Applicability.UNSAFE, (change,)),)

    def _drop_allocation(self, op: AllocStorage | AllocTensor) -> tuple[Remedy, ...]:
        """For an allocation that nothing uses, with the kills that name it and the storage that is then
        without need.
        """
        gone: list[Op] = [op]
        if isinstance(op, AllocTensor) and op.storage is not None:
            users = self._users.get(op.storage, [])
            storage = self._facts.flow.paths.definitions.get(op.storage)
            if users == [op] and isinstance(storage, AllocStorage):
                gone.append(storage)
        kills = [kill for one in gone for kill in self._kills_of.get(one.result, ())]
        kills.sort(key=lambda kill: kill.place.index)
        changes = tuple(Remove(one) for one in (*gone, *kills))
        return (Remedy("remove the allocation", Applicability.SAFE, changes),)

    @cached_property
    def _kills_of(self) -> dict[ValueId, list[Kill]]:
        found: dict[ValueId, list[Kill]] = defaultdict(list)
        for op in self._function.body.of(Kill):
            found[op.target].append(op)
        return found

    @cached_property
    def _users(self) -> dict[ValueId, list[Op]]:
        return users_of(self._function)


def _with_left(help: tuple[str, ...], remedies: Sequence[Remedy], left: str | None) -> tuple[str, ...]:
    """Where a finding is fixed by a check, what all checks leave, too."""
    checked = any(isinstance(change, InsertAssert) for remedy in remedies for change in remedy.changes)
    if left is None or not checked:
        return help
    return (*help, f"{left}: make the storages larger instead")
