"""What the functions of a program show: a function of what it is given, and its callers of what it gives."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from weakref import proxy

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.callees import Callees
from relax_lint.analysis.composed import Composed, Since
from relax_lint.analysis.events import Write
from relax_lint.analysis.observed import Observed
from relax_lint.analysis.observed_parts import Entered, Flow, Parts
from relax_lint.analysis.settled import Settled
from relax_lint.analysis.shared_arguments import ApartAndShared
from relax_lint.analysis.shown import Before, Sinks
from relax_lint.analysis.struck import may_miss, strikes_all
from relax_lint.analysis.trial_sizes import has_sizes
from relax_lint.model.operations import FunctionCall, KernelCall, Op, ValueId
from relax_lint.model.program import Function

_Call = tuple[Function, FunctionCall]
IsHarmed = Callable[[list[_Call], list[_Call]], bool]
"""Whether every run that gets to one of some calls gets to one of others, too."""


class Observers:
    """The functions of one program, each looked at once somebody asks: nobody does where nothing is damaged.

    Functions that call themselves are taken to show everything until a round over them says less: a run that
    comes to an end ends in one that does not call itself.
    """

    def __init__(self, callees: Callees, flow_of: Callable[[Function], Flow], is_harmed: IsHarmed) -> None:
        self._callees = callees
        self._flow_of = flow_of
        self._is_harmed = is_harmed
        self._parts: dict[str, Parts] = {}
        self._composed: dict[str, Composed] = {}
        self._observed: dict[tuple[str, Sinks], Observed] = {}
        self._before = Settled[tuple[str, Sinks], Before]()
        self._by_callers = Settled[str, Sinks]()

    def is_shown(
        self,
        function: Function,
        op: Op | None,
        value: ValueId | None,
        damage: Write | None = None,
        made: Op | None = None,
    ) -> bool:
        """Whether every run that gets to an operation of a function, or (None) to its return, shows what that
        reads of a value, or (None) some of what it computes. Behind the write that does the `damage` it does
        not hold what it should, as far as that one reaches, or nobody writes what has been `made`.
        """
        if not self._is_needed(function, op, value):
            return False
        flow = self.parts(function).flow
        if op is None or value is None:
            return value is None or self._is_returned_to_who_shows(function, value, damage, made)
        # What is computed of it may come to the same all the same.
        known = self._composed_of(function)
        since = _since(damage, made)
        if damage is None or strikes_all(*damage, value, flow):
            return known.matters(op, value, since) is not False
        seen = known.matters(op, value, since, damage[1])
        calls_functions = bool(function.body.of(FunctionCall))
        if calls_functions and seen is not False and (seen is None or has_sizes(function)):
            # What functions do to a part is known only where they are carried out.
            return False
        if seen is None or (seen and has_sizes(function)):
            # Of what is not tried, at least each element has to count for itself.
            return not may_miss(*damage, value, flow) and self._is_needed(function, op, value, each=True)
        return seen

    def _is_returned_to_who_shows(
        self, function: Function, value: ValueId, damage: Write | None, made: Op | None
    ) -> bool:
        """Whether what is returned damaged is not seen to come to the same with all callers."""
        flow, known = self.parts(function).flow, self._composed_of(function)
        if damage is None:
            return known.matters_to_callers(value, _since(damage, made))
        if may_miss(*damage, value, flow):
            return False
        written = None if strikes_all(*damage, value, flow) else damage[1]
        return known.matters_to_callers(value, _since(damage, made), written)

    def _called_first(self, function: Function) -> list[Flow]:
        """The functions that calls from outside begin with, which lead to one of which all calls are seen."""
        names, waiting, found = {function.name}, [function], list[Flow]()
        while waiting:
            callee = waiting.pop()
            if not self._callees.knows_callers(callee):
                if callee is not function:
                    found.append(self.parts(callee).flow)
                continue
            for caller, _ in self._callees.calls_of(callee):
                if caller.name not in names:
                    names.add(caller.name)
                    waiting.append(caller)
        return found

    def shows_sharing(self, function: Function, call: KernelCall, written: int) -> bool:
        """Whether every run that gets to a call shows that the argument which it writes at a position is
        another one, too.
        """
        if not self._is_needed(function, call, None):
            return False
        seen = self._composed_of(function).tried_with(
            lambda budget, flow, sizes, trial, course: ApartAndShared(
                budget, flow, sizes, trial, call, written, course
            )
        )
        return self._is_needed(function, call, None, each=True) if seen is None else seen

    def _composed_of(self, function: Function) -> Composed:
        known = self._composed.get(function.name)
        if known is None:
            called_first = partial(Observers._called_first, proxy(self), function)
            known = self._composed[function.name] = Composed(self.parts(function).flow, called_first)
        return known

    def _is_needed(
        self, function: Function, op: Op | None, value: ValueId | None, *, each: bool = False
    ) -> bool:
        """Whether every run shows it, or each element of it, as far as each operation tells by itself."""
        calls = self._callees.calls_of(function)
        if not calls or not self._callees.knows_callers(function):
            return self._with(function, self.parts(function).everything).is_shown(op, value, each=each)
        showing: list[_Call] = []
        for caller, call in calls:
            sinks = self._at(caller, call, function)
            if sinks is None or self._with(function, sinks).is_shown(op, value, each=each):
                showing.append((caller, call))
        if len(showing) == len(calls):
            return True
        return bool(showing) and self._is_harmed(calls, showing)

    def parts(self, function: Function) -> Parts:
        """What the walks over a function need."""
        known = self._parts.get(function.name)
        if known is None:
            us = proxy(self)
            known = self._parts[function.name] = Parts(
                self._flow_of(function),
                self._callees.passed,
                lambda one: us.outside(one),
                lambda one, sinks: us.before(one, sinks),
            )
        return known

    def entered(self, call: FunctionCall) -> Entered | None:
        """The function that a call is of; None where that is not known, or it is one of several."""
        callee = self._callees.of(call)
        return (
            None if callee is None else Entered(self.parts(callee).flow, self._callees.passed(call, callee))
        )

    def outside(self, function: Function) -> tuple[AccessPath, ...]:
        """What comes to a function from outside."""
        return self.parts(function).paths

    def before(self, function: Function, sinks: Sinks) -> Before:
        """What a function shows of that which comes from outside as it comes in."""
        self.parts(function)
        return self._before.of((function.name, sinks), self._everything, self._narrower)

    def _narrower(self, key: tuple[str, Sinks], before: Before) -> Before:
        """What is left of it after another look. The last look at a function is the one that counts."""
        name, sinks = key
        self._observed[key] = walked = Observed(self._parts[name], sinks)
        return before.common(walked.before)

    def _everything(self, key: tuple[str, Sinks]) -> Before:
        outside = frozenset(self._parts[key[0]].paths)
        return Before(outside, outside, frozenset())

    def _with(self, function: Function, sinks: Sinks) -> Observed:
        """A function whose callers show some of what it gives back."""
        known = self._observed.get((function.name, sinks))
        if known is None:
            known = self._observed[function.name, sinks] = Observed(self.parts(function), sinks)
        return known

    def _at(self, caller: Function, call: FunctionCall, function: Function) -> Sinks | None:
        """What a caller shows of that which a call gives back; None where no run reaches the call."""
        observed = self._with(caller, self._of_callers(caller))
        return observed.at_calls.get(call.place.index, {}).get(function.name)

    def _of_callers(self, function: Function) -> Sinks:
        """What all callers of a function show of that which it gives back."""
        self.parts(function)
        return self._by_callers.of(function.name, lambda name: self._parts[name].everything, self._common)

    def _common(self, name: str, sinks: Sinks) -> Sinks:
        function = self._parts[name].flow.function
        if self._callees.knows_callers(function):
            for caller, call in self._callees.calls_of(function):
                found = self._at(caller, call, function)
                sinks = sinks if found is None else sinks.common(found)
        return sinks


def _since(damage: Write | None, made: Op | None) -> Since:
    if damage is not None:
        return damage[0], True
    return None if made is None else (made, False)
