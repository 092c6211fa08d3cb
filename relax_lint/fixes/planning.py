"""Which changes make a finding go away, from the facts of one function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.definitions import Definitions
from relax_lint.analysis.effects import Effect
from relax_lint.analysis.kills import KilledUse, Kills
from relax_lint.analysis.liveness import operands
from relax_lint.analysis.paths import Paths
from relax_lint.facts.placements import Placement
from relax_lint.fixes.changes import (
    Applicability,
    InsertAssert,
    MoveKill,
    Remedy,
    Remove,
    RenameBound,
    ResizeStorage,
    Turn,
)
from relax_lint.fixes.conditions import check_title, conjuncts, is_exact, is_writable
from relax_lint.fixes.resizing import Resizing
from relax_lint.fixes.text.call_tir import call_with_output
from relax_lint.model.program import (
    AllocStorage,
    AllocTensor,
    BoundKind,
    DeclaredBound,
    Function,
    KernelCall,
    Kill,
    Op,
    Place,
)
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from relax_lint.symbolic.decision import Decision
from relax_lint.symbolic.domain import Domain


class Planner:
    """Offers the remedies for the findings of one function, the best first."""

    def __init__(
        self,
        function: Function,
        config: Config,
        placements: Sequence[Placement],
        domain_at: Callable[[Place], Domain],
        entry: Domain,
        judge: Callable[..., Decision],
        effect_of: Callable[[KernelCall], Effect],
    ) -> None:
        self._function = function
        self._config = config
        self._placements = placements
        self._domain_at = domain_at
        self._entry = entry
        self._judge = judge
        self._effect_of = effect_of

    # -- checks --------------------------------------------------------------------------------

    def assertion(self, decision: Decision, place: Place | None, *, safe: bool = True) -> tuple[Remedy, ...]:
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
        domain = self._entry if place is None else self._domain_at(place)
        point = self.definitions.earliest(decision.safe_when.free_symbols, place)
        exact = all(is_exact(part, domain, self._config.max_extent) for part in parts)
        applicability = Applicability.SAFE if safe else Applicability.UNSAFE
        if point is None or not exact:
            applicability = Applicability.DISPLAY
        before = None if point is None else point.before
        changes = tuple(InsertAssert(part, self._in_order(part), before) for part in parts)
        return (Remedy(check_title(parts), applicability, changes, Turn.CHECK),)

    def enforcement(self, decision: Decision) -> tuple[Remedy, ...]:
        """A check at the entry of a bound that is declared only."""
        return tuple(replace(check, turn=Turn.BOUND) for check in self.assertion(decision, None))

    def _in_order(self, condition: Boolean) -> tuple[sympy.Symbol, ...]:
        return tuple(sorted(condition.free_symbols, key=lambda symbol: symbol.name))

    @cached_property
    def definitions(self) -> Definitions:
        """From where on the symbols have a value."""
        return Definitions(self._function)

    # -- sizes ---------------------------------------------------------------------------------

    def overflow(self, placement: Placement, decision: Decision, *, check: bool = True) -> tuple[Remedy, ...]:
        """For a tensor that does not, or not always, fit. Without `check` no run-time check is offered
        (where it would refuse every useful input).
        """
        if decision.verdict is Verdict.ALWAYS_FINE:
            return ()
        checks = self.assertion(decision, placement.tensor.place) if check else ()
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

    def instead(self, placement: Placement, remedies: Sequence[Remedy]) -> tuple[str, ...]:
        """How to do without the storage, in words, where no remedy is safe."""
        tensor = placement.tensor
        if any(remedy.applicability is Applicability.SAFE for remedy in remedies):
            return ()
        code = call_with_output(self._function, tensor, self._effect_of)
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
        return Resizing(
            self._function,
            self._placements,
            self.definitions,
            self._domain_at,
            self._config.max_extent,
            self._judge,
        )

    # -- declarations --------------------------------------------------------------------------

    def drop(self, op: Op) -> tuple[Remedy, ...]:
        """For an assertion that always holds."""
        return (Remedy("drop the assertion", Applicability.SAFE, (Remove(op),)),)

    def rename(self, bound: DeclaredBound, name: str) -> tuple[Remedy, ...]:
        """For a bound whose name is misspelt. Memory is planned with it from then on."""
        change = RenameBound(bound.kind, bound.name, name)
        return (Remedy(f"write `{name}` instead of `{bound.name}`", Applicability.UNSAFE, (change,)),)

    def drop_unused(self, op: AllocStorage | AllocTensor) -> tuple[Remedy, ...]:
        """For an allocation that nothing uses, with the kills that name it and the storage that is then
        for nothing.
        """
        ops = tuple(self._function.body.walk())
        gone: list[Op] = [op]
        if isinstance(op, AllocTensor) and op.storage is not None:
            users = [other for other in ops if op.storage in operands(other, self._function)]
            if users == [op]:
                gone += [o for o in ops if isinstance(o, AllocStorage) and o.result == op.storage]
        values = {one.result for one in gone}
        kills = [kill for kill in ops if isinstance(kill, Kill) and kill.target in values]
        changes = tuple(Remove(one) for one in (*gone, *kills))
        return (Remedy("drop the allocation", Applicability.SAFE, changes),)

    # -- kills ---------------------------------------------------------------------------------

    def second_kill(self, again: KilledUse) -> tuple[Remedy, ...]:
        """For a kill of what was killed before on every path."""
        if not isinstance(again.op, Kill) or not again.certain:
            return ()
        return (Remedy("drop the second kill", Applicability.SAFE, (Remove(again.op),)),)

    def kill_of_constant(self, kill: Kill) -> tuple[Remedy, ...]:
        """For a kill of a constant, which lives as long as the module."""
        return (Remedy("drop the kill", Applicability.SAFE, (Remove(kill),)),)

    def early_kill(self, kill: Kill, kills: Kills) -> tuple[Remedy, ...]:
        """For a kill before the last use: it goes behind that, or away where the value is returned or used
        outside of the branch of the kill; TVM adds the kills that are missing.
        """
        paths = Paths(self._function)
        path = paths.of(kill)
        last = None
        for use in kills.uses:
            if use.kill is not kill:
                continue
            if use.op is None or paths.of(use.op)[: len(path)] != path:
                return (Remedy("drop the early kill", Applicability.SAFE, (Remove(kill),)),)
            last = use.op if last is None or use.op.place.index > last.place.index else last
        if last is None:
            return ()
        inside = paths.of(last)
        after = self._operation(inside[len(path)][0]) if len(inside) > len(path) else last
        return (Remedy("move the kill behind the last use", Applicability.SAFE, (MoveKill(kill, after),)),)

    def _operation(self, index: int) -> Op:
        return next(op for op in self._function.body.walk() if op.place.index == index)
