"""What the functions of a program show: a function of what it is given, and its callers of what it gives."""

from __future__ import annotations

from collections.abc import Callable
from weakref import proxy

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.callees import Callees
from relax_lint.analysis.observed import Observed
from relax_lint.analysis.observed_parts import Flow, Parts
from relax_lint.analysis.shown import Before, Sinks
from relax_lint.model.operations import FunctionCall, Op, ValueId
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
        self._observed: dict[tuple[str, Sinks], Observed] = {}
        self._before: dict[tuple[str, Sinks], Before] = {}
        self._pending: dict[tuple[str, Sinks], Before] = {}
        self._by_callers: dict[str, Sinks] = {}
        self._asked: dict[str, Sinks] = {}

    def is_shown(self, function: Function, op: Op | None, value: ValueId) -> bool:
        """Whether every run that gets to an operation of a function, or (None) to its return, shows what that
        reads of a value.
        """
        calls = self._callees.calls_of(function)
        if not calls or not self._callees.knows_callers(function):
            return self._with(function, self.parts(function).everything).is_shown(op, value)
        showing: list[_Call] = []
        for caller, call in calls:
            sinks = self._at(caller, call, function)
            if sinks is None or self._with(function, sinks).is_shown(op, value):
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

    def outside(self, function: Function) -> tuple[AccessPath, ...]:
        """What comes to a function from outside."""
        return self.parts(function).paths

    def before(self, function: Function, sinks: Sinks) -> Before:
        """What a function shows of that which comes from outside as it comes in."""
        key = function.name, sinks
        if key in self._before:
            return self._before[key]
        if self._pending:
            return self._pending.setdefault(key, self._everything(function))
        self._pending[key] = self._everything(function)
        grows = True
        while grows:
            known = dict(self._pending)
            for name, given in reversed(known):
                walked = Observed(self._parts[name], given)
                self._pending[name, given] = self._pending[name, given].common(walked.before)
            grows = known != self._pending
        self._before.update(self._pending)
        self._pending.clear()
        return self._before[key]

    def _everything(self, function: Function) -> Before:
        outside = frozenset(self.outside(function))
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
        name = function.name
        if name in self._by_callers:
            return self._by_callers[name]
        if self._asked:
            return self._asked.setdefault(name, self.parts(function).everything)
        self._asked[name] = self.parts(function).everything
        grows = True
        while grows:
            known = dict(self._asked)
            for one in reversed(known):
                self._asked[one] = self._common(self._parts[one].flow.function, known[one])
            grows = known != self._asked
        self._by_callers.update(self._asked)
        self._asked.clear()
        return self._by_callers[name]

    def _common(self, function: Function, sinks: Sinks) -> Sinks:
        if self._callees.knows_callers(function):
            for caller, call in self._callees.calls_of(function):
                found = self._at(caller, call, function)
                sinks = sinks if found is None else sinks.common(found)
        return sinks
