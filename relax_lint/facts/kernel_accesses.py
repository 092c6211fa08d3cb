"""What is said of each access of a kernel in one call of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.presumption import Presumption
from relax_lint.facts.claims import Claim, all_of
from relax_lint.facts.held import Held
from relax_lint.facts.index_values import IndexValues
from relax_lint.facts.judge import Judge
from relax_lint.facts.kernel_access_verdicts import AccessVerdict, CallVerdict, Status, is_open, limited
from relax_lint.facts.kernel_memory import MAY_BE_ANOTHER, leaves_memory_too, reason
from relax_lint.facts.kernels import KernelUse
from relax_lint.model.kernel_access.accesses import KernelAccess, Obligation
from relax_lint.model.kernel_access.outside import is_never_inside
from relax_lint.model.kernel_access.trial import Outcome, Trial, attempt
from relax_lint.model.kernels import Kernel
from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.decision import Assignment, Decision
from relax_lint.symbolic.evaluation import compile_expr
from relax_lint.symbolic.printing import expr_text
from relax_lint.symbolic.quantity import Unknown

_NEVER_INSIDE = "its index is outside whatever the data is"


class AccessJudge:
    """Judges the accesses of the calls of one function."""

    def __init__(
        self,
        judge: Judge,
        ranges: Mapping[int, tuple[int, int]],
        values: IndexValues,
        name_of: Callable[[KernelUse, int], str],
    ) -> None:
        self._judge = judge
        self._ranges = ranges
        self._values = values
        self._name_of = name_of
        self._proved: dict[int, tuple[Kernel, CallVerdict]] = {}
        """The verdicts that are the same in each call, by the identity of the kernel."""

    def verdict(self, use: KernelUse) -> CallVerdict:
        """The verdicts on all accesses of a call."""
        accesses = use.kernel.accesses
        if not accesses.open:
            # Nothing depends on the call.
            key = id(use.kernel)
            if key not in self._proved:
                found = CallVerdict(len(accesses.accesses), (), accesses.unread)
                self._proved[key] = use.kernel, found
            return self._proved[key][1]
        return CallVerdict(
            len(accesses.accesses) - len(accesses.open),
            tuple(self._access(use, access) for access in accesses.open),
            accesses.unread,
        )

    def _access(self, use: KernelUse, access: KernelAccess) -> AccessVerdict:
        if access.unread:
            return AccessVerdict(access, Status.UNDECIDED, reason=access.unread)
        if not access.obligations:
            # What the kernel promises was enough: with that, nothing is left to be shown.
            promised = (
                Presumption(f"{text} (by `{use.kernel.name}`, not checked)") for text in access.assumed
            )
            return AccessVerdict(access, Status.ASSUMED, assumptions=tuple(promised))
        contents = self._contents(use, access)
        conditions = {
            obligation: self._condition(use, access, obligation, contents)
            for obligation in access.obligations
        }
        held = [one for one in access.obligations if one.holds and not one.holds <= contents.keys()]
        limits = [one for one in access.obligations if one.is_limit]
        rest = [one for one in access.obligations if one not in held and one not in limits]
        verdict = limited(self._judge, use, self._rest(use, access, rest, conditions), limits, conditions)
        computed = self._computed_contents(use, held)
        left, presumed = self._not_shown(use, access, held, contents, computed)
        would_assume = verdict.status is Status.ASSUMED or (left and verdict.status is not Status.DEPENDS)
        if would_assume and is_never_inside(access):
            # No data is as it would have to be.
            return AccessVerdict(
                access, Status.UNDECIDED, reason=_NEVER_INSIDE, obligation=access.obligations[0]
            )
        known = next((one for one in left if self._is_known(use, access, one, computed)), None)
        if would_assume and known is not None:
            return self._known(use, access, known)
        may_assume = verdict.status in (Status.PROVED, Status.DEPENDS, Status.LIMITED)
        if not may_assume or not (left or presumed):
            return verdict
        status = Status.ASSUMED if verdict.status is Status.PROVED else verdict.status
        assumptions = (*presumed, *self._assumed(use, access, left, conditions))
        return replace(verdict, status=status, assumptions=assumptions)

    def _rest(
        self,
        use: KernelUse,
        access: KernelAccess,
        rest: list[Obligation],
        conditions: Mapping[Obligation, Boolean | Unknown],
    ) -> AccessVerdict:
        """The verdict on what does not depend on unknown data."""
        exact, inexact = [one for one in rest if one.exact], [one for one in rest if not one.exact]
        claim = all_of(conditions[one] for one in exact)
        decision = self._judge.judge(Claim(claim, use.entered))
        first = self._first(use, exact, conditions)
        if decision.verdict is Verdict.ALWAYS_WRONG:
            trial = self._trial(use, access, decision.wrong)
            if trial is not None and trial.outcome is Outcome.INSIDE:
                why = "no step of its loops was found in which it is outside"
                return AccessVerdict(access, Status.UNDECIDED, claim, decision, why, obligation=first)
            first = self._first(use, exact, conditions, certain=True) or first
            return self._outside(
                use, AccessVerdict(access, Status.WRONG, claim, decision, "", (), first, trial)
            )
        if decision.verdict is Verdict.NEEDS_RUNTIME_CHECK:
            trial = self._trial(use, access, decision.wrong)
            if trial is not None and trial.outcome is Outcome.BESIDE:
                beside = AccessVerdict(access, Status.BESIDE, claim, decision, "", (), first, trial)
                if not self.leaves_memory_too(use, beside):
                    return _beside(beside)
            why = next((one.why for one in inexact if is_open(self._judge, use, conditions[one])), "")
            return AccessVerdict(
                access, Status.DEPENDS, claim, decision, why, obligation=first, trial=trial, complete=not why
            )
        sufficient = all_of(conditions[one] for one in inexact)
        found = self._judge.judge(Claim(sufficient, use.entered))
        if found.verdict is Verdict.ALWAYS_FINE:
            return AccessVerdict(access, Status.PROVED)
        return self._inexact(use, access, inexact, conditions, found)

    def _outside(self, use: KernelUse, found: AccessVerdict) -> AccessVerdict:
        """What leaves an axis in every call: wrong only if it leaves the memory in every call."""
        if self.leaves_memory_too(use, found):
            return found
        if found.trial is None or found.trial.outcome is not Outcome.OUTSIDE:
            return _beside(found)
        if self._is_the_only_call(use, found.access):
            return found
        return replace(found, status=Status.DEPENDS, reason=MAY_BE_ANOTHER, complete=False)

    def leaves_memory_too(self, use: KernelUse, found: AccessVerdict) -> bool:
        """Whether an access is outside its memory in every call in which it leaves an axis."""
        access = found.access

        def condition_of(obligation: Obligation) -> Boolean | Unknown:
            return self._condition(use, access, obligation, {})

        return leaves_memory_too(self._judge, use, access, found.condition, condition_of)

    def _is_the_only_call(self, use: KernelUse, access: KernelAccess) -> bool:
        """Whether no symbol of the caller has to do with where the element is."""
        return access.memory is None or self._trial(use, access, {}) is not None

    def _inexact(
        self,
        use: KernelUse,
        access: KernelAccess,
        inexact: list[Obligation],
        conditions: Mapping[Obligation, Boolean | Unknown],
        found: Decision,
    ) -> AccessVerdict:
        """What is only known to be enough was not proved: with numbers alone every step can be tried."""
        sufficient = all_of(conditions[one] for one in inexact)
        trial = self._trial(use, access, found.wrong)
        settled = not isinstance(sufficient, Unknown) and not sufficient.free_symbols
        if trial is not None and settled and trial.outcome is Outcome.INSIDE:
            return AccessVerdict(access, Status.PROVED)
        if trial is not None and trial.outcome is Outcome.BESIDE:
            return _beside(
                AccessVerdict(access, Status.BESIDE, sufficient, found, "", (), inexact[0], trial, False)
            )
        if trial is not None and trial.outcome is Outcome.OUTSIDE:
            is_wrong = settled and self._is_the_only_call(use, access)
            status = Status.WRONG if is_wrong else Status.DEPENDS
            why = inexact[0].why
            return AccessVerdict(
                access, status, sufficient, found, why, obligation=inexact[0], trial=trial, complete=False
            )
        unproved = [one for one in inexact if is_open(self._judge, use, conditions[one])]
        if all(one.data and not one.holds for one in unproved):
            return AccessVerdict(access, Status.ASSUMED, assumptions=(self._computed(use, access),))
        others = [one for one in unproved if not self._is_lookup(use, access, one)]
        if not others:
            # RLX308 judges the constants that are used as indices as they are.
            return AccessVerdict(access, Status.ASSUMED)
        known = next((one for one in others if one.data and one.holds and _is_element(access, one)), None)
        if known is not None:
            # That they are inside is nothing to be assumed of elements that are known.
            return self._known(use, access, known, found)
        if all(one.data and one.holds for one in unproved):
            # Of a constant the ends are known, not the elements that are used.
            assumed = self._assumed(use, access, unproved, conditions)
            return AccessVerdict(access, Status.ASSUMED, assumptions=assumed)
        return AccessVerdict(
            access, Status.UNDECIDED, sufficient, found, inexact[0].why, obligation=inexact[0]
        )

    def _known(
        self, use: KernelUse, access: KernelAccess, obligation: Obligation, found: Decision | None = None
    ) -> AccessVerdict:
        """The verdict where an argument whose ends are known holds what is outside, used or not."""
        names = " and ".join(self._name_of(use, position) for position in sorted(obligation.holds))
        why = f"which elements of {names} are indices is not known, and some may be outside"
        return AccessVerdict(access, Status.UNDECIDED, sympy.false, found, why, obligation=obligation)

    def _is_known(
        self, use: KernelUse, access: KernelAccess, obligation: Obligation, computed: Mapping[int, Held]
    ) -> bool:
        """Whether kernels of the module have computed all that an index is made of, and RLX308 is silent."""
        held = [computed.get(position) for position in obligation.holds]
        is_known = all(one is not None and one.reached for one in held)
        return is_known and _is_element(access, obligation) and not self._is_lookup(use, access, obligation)

    def _is_lookup(self, use: KernelUse, access: KernelAccess, obligation: Obligation) -> bool:
        """Whether RLX308 judges an index: it is an element of an argument, with a constant added at most."""
        for lookup in use.kernel.lookups:
            is_this = (lookup.parameter, lookup.axis) == (access.buffer.parameter, obligation.axis)
            if is_this and lookup.indices in obligation.holds:
                value = use.operands[lookup.indices].value
                span = None if value is None else self._ranges.get(value)
                if lookup.fits(span):
                    return True
        return False

    def _computed(self, use: KernelUse, access: KernelAccess) -> Presumption:
        """That indices which a kernel computes from data are inside."""
        position = access.buffer.parameter
        target = f"`{access.buffer.name}`" if position is None else self._name_of(use, position)
        return Presumption(f"the indices that `{use.kernel.name}` computes from data stay inside {target}")

    def _first(
        self,
        use: KernelUse,
        exact: list[Obligation],
        conditions: Mapping[Obligation, Boolean | Unknown],
        *,
        certain: bool = False,
    ) -> Obligation | None:
        """The first obligation that is not met; if `certain`, that no call meets."""
        for obligation in exact:
            verdict = self._judge.judge(Claim(conditions[obligation], use.entered)).verdict
            if verdict is Verdict.ALWAYS_WRONG or not (certain or verdict is Verdict.ALWAYS_FINE):
                return obligation
        return None

    # -- conditions ----------------------------------------------------------------------------

    def _condition(
        self,
        use: KernelUse,
        access: KernelAccess,
        obligation: Obligation,
        contents: Mapping[int, Mapping[sympy.Symbol, sympy.Expr]],
    ) -> Boolean | Unknown:
        """When an obligation is met, in the caller's symbols."""
        known = {symbol: value for found in contents.values() for symbol, value in found.items()}
        known |= {symbol: symbol for symbol in _holders(access, obligation) if symbol not in known}
        parts = []
        for p in obligation.outside:
            shown = access.terms.expression(p)
            bound = use.match.binding.expr(shown, known)
            if isinstance(bound, Unknown):
                return bound
            parts.append(sympy.Lt(bound, 0))
        return sympy.Or(*parts)

    def _contents(self, use: KernelUse, access: KernelAccess) -> dict[int, dict[sympy.Symbol, sympy.Expr]]:
        """For each parameter whose contents are known, the values of the bounds on them."""
        found: dict[int, dict[sympy.Symbol, sympy.Expr]] = {}
        for obligation in access.obligations:
            for position in obligation.holds:
                value = use.operands[position].value
                span = None if value is None else self._ranges.get(value)
                if span is None:
                    continue
                for symbol in _holders(access, obligation, position):
                    end = span[0] if symbol.name.startswith("min(") else span[1]
                    found.setdefault(position, {})[symbol] = sympy.Integer(end)
        return found

    def _computed_contents(self, use: KernelUse, held: Iterable[Obligation]) -> dict[int, Held]:
        """What parameters hold that kernels of the module have computed, where that is known."""
        positions = {position for one in held for position in one.holds}
        found = {position: self._values.of(use, position) for position in sorted(positions)}
        return {position: value for position, value in found.items() if value is not None}

    def _not_shown(
        self,
        use: KernelUse,
        access: KernelAccess,
        held: Iterable[Obligation],
        contents: Mapping[int, Mapping[sympy.Symbol, sympy.Expr]],
        computed: Mapping[int, Held],
    ) -> tuple[list[Obligation], tuple[Presumption, ...]]:
        """The obligations that what the module computes does not meet, and what the others presume."""
        left: list[Obligation] = []
        presumed: dict[Presumption, None] = {}
        for one in held:
            known = {position: computed[position] for position in one.holds if position in computed}
            if not one.holds <= known.keys() | contents.keys():
                left.append(one)
                continue
            more = {
                symbol: value.low if symbol.name.startswith("min(") else value.high
                for position, value in known.items()
                for symbol in _holders(access, one, position)
            }
            condition = self._condition(use, access, one, {**contents, -1: more})
            given = [fact for value in known.values() for fact in value.given]
            if isinstance(condition, Unknown) or is_open(
                self._judge, use, sympy.Or(condition, *map(sympy.Not, given))
            ):
                left.append(one)
            else:
                presumed.update(dict.fromkeys(p for value in known.values() for p in value.presumptions))
        return left, tuple(presumed)

    def _assumed(
        self,
        use: KernelUse,
        access: KernelAccess,
        held: Iterable[Obligation],
        conditions: Mapping[Obligation, Boolean | Unknown],
    ) -> tuple[Presumption, ...]:
        """What is assumed of the parameters that hold indices."""
        texts: dict[str, None] = {}
        for obligation in held:
            names = " and ".join(self._name_of(use, position) for position in sorted(obligation.holds))
            extent = None
            if _is_element(access, obligation):
                assert obligation.axis is not None
                extent = access.extents[obligation.axis]
            bound = None if extent is None else use.match.binding.expr(extent)
            if bound is not None and not isinstance(bound, Unknown):
                texts[f"{names} within 0..{expr_text(bound - 1)}"] = None
            else:
                target = (
                    self._name_of(use, access.buffer.parameter) if access.buffer.parameter is not None else ""
                )
                where = target or f"`{access.buffer.name}`"
                texts[f"the indices in {names} stay inside {where}"] = None
        said = f"(indices of `{use.kernel.name}`, not checked)"
        return tuple(Presumption(f"{text} {said}", is_contents=True) for text in texts)

    # -- trials --------------------------------------------------------------------------------

    def _trial(self, use: KernelUse, access: KernelAccess, at: Assignment | None) -> Trial | None:
        """The access at an assignment of the caller's symbols; None where that gives no numbers."""
        values: dict[int, int] = {}
        binding = use.match.binding.values
        for number, atom in enumerate(access.terms.atoms):
            if atom.static and atom.name in binding:
                value = _number(binding[atom.name], at or {})
                if value is None:
                    return None
                values[number] = value
        return attempt(access, values)


def _beside(found: AccessVerdict) -> AccessVerdict:
    """An access that leaves an axis, and perhaps not its memory."""
    return replace(found, status=Status.BESIDE, reason=reason(found.trial), complete=False)


def _is_element(access: KernelAccess, obligation: Obligation) -> bool:
    """Whether an index is no sum: an element of one argument, or what a kernel makes of one to be inside."""
    index = None if obligation.axis is None else access.where[obligation.axis]
    number = None if index is None else index.single()
    return number is not None and access.terms[number].bounded and len(obligation.holds) == 1


def _holders(access: KernelAccess, obligation: Obligation, position: int | None = None) -> list[sympy.Symbol]:
    """The symbols that stand for bounds on what parameters hold."""
    found = access.terms.contents_in(obligation.outside)
    return [symbol for symbol in sorted(found, key=str) if position in (None, found[symbol])]


def _number(expr: sympy.Expr, at: Assignment) -> int | None:
    symbols = tuple(sorted(expr.free_symbols, key=lambda symbol: symbol.name))
    if any(symbol.name not in at for symbol in symbols):
        return None
    try:
        return int(compile_expr(expr, symbols)(*(at[symbol.name] for symbol in symbols)))
    except (ZeroDivisionError, TypeError):
        return None
