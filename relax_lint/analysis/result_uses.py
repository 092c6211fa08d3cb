"""Which fields of what a function returns its callers use: one walk over each function that calls it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from relax_lint.analysis.callees import Callees
from relax_lint.analysis.carried import Carried, Fields
from relax_lint.analysis.certainty import Certainty, must_if, weakest
from relax_lint.analysis.paths import Paths
from relax_lint.model.operations import FunctionCall
from relax_lint.model.program import Function

_DEEPEST = 8
"""Fields of tuples in more tuples than that are taken to be used on some paths."""

Question: TypeAlias = tuple[str, Fields]
"""A function, and a field of what it returns."""


class ResultUses:
    """What becomes of the results of functions; `carried` follows a field of what a call returns through the
    function that calls. `unseen` is the use that callers which are not seen make of a private function.

    A function that calls itself, or that returns what another one returns, passes the question on to its own
    callers: from uses of nothing until nothing is added.
    """

    def __init__(
        self,
        callees: Callees,
        carried: Callable[[Function, FunctionCall, Fields], Carried],
        paths_of: Callable[[Function], Paths],
        unseen: Certainty,
    ) -> None:
        self._callees = callees
        self._carried = carried
        self._paths_of = paths_of
        self._unseen = unseen
        self._known: dict[Question, Certainty | None] = {}
        self._functions: dict[str, Function] = {}
        self._followed: dict[tuple[int, Fields], Carried] = {}

    def of(self, function: Function, fields: Fields) -> Certainty | None:
        """How certain it is that a field is used whenever a function was called; None where it never is. A
        function that never runs is judged as one whose result is used.
        """
        if not self._runs(function):
            return Certainty.MUST
        self._ask(function, fields)
        while self._grow():
            pass
        return self._known[function.name, fields]

    def _ask(self, function: Function, fields: Fields) -> Certainty | None:
        self._functions[function.name] = function
        return self._known.setdefault((function.name, fields), None)

    def _runs(self, function: Function) -> bool:
        """Whether a function that may be called from elsewhere leads to a call of this one."""
        pending, seen = [function], {function.name}
        while pending:
            one = pending.pop()
            if not self._callees.knows_callers(one):
                return True
            callers = [caller for caller, _ in self._callees.calls_of(one) if caller.name not in seen]
            seen.update(caller.name for caller in callers)
            pending += callers
        return False

    def _grow(self) -> bool:
        before = dict(self._known)
        for name, fields in before:
            self._known[name, fields] = self._answer(self._functions[name], fields)
        return self._known != before

    def _answer(self, function: Function, fields: Fields) -> Certainty | None:
        if not self._callees.knows_callers(function):
            return self._unseen if function.private else Certainty.MUST
        if len(fields) > _DEEPEST:
            return Certainty.MAY
        calls = self._callees.calls_of(function)
        found = [(caller, call, self._use(caller, call, fields)) for caller, call in calls]
        if all(use is None for _, _, use in found):
            return None
        certain = [(caller, call) for caller, call, use in found if use is Certainty.MUST]
        return must_if(bool(certain) and self.is_harmed(calls, certain))

    def _use(self, caller: Function, call: FunctionCall, fields: Fields) -> Certainty | None:
        """What becomes of a field of what one call returns."""
        carried = self._followed.get((id(call), fields))
        if carried is None:
            carried = self._followed[id(call), fields] = self._carried(caller, call, fields)
        uses = [] if carried.used is None else [carried.used]
        for returned, certainty in carried.returned.items():
            use = self._ask(caller, returned)
            if use is not None:
                uses.append(weakest(use, certainty))
        return must_if(Certainty.MUST in uses) if uses else None

    def is_harmed(
        self,
        calls: Iterable[tuple[Function, FunctionCall]],
        certain: Iterable[tuple[Function, FunctionCall]],
    ) -> bool:
        """Whether every run that gets to one of the calls gets to one of the `certain` ones, too."""
        using = self._using(certain)
        pending, seen = list(calls), set[str]()
        while pending:
            caller, call = pending.pop()
            if self._paths_of(caller).one_always_with(using[caller.name], call):
                continue
            if not self._callees.knows_callers(caller):
                return False
            if caller.name not in seen:
                seen.add(caller.name)
                pending += self._callees.calls_of(caller)
        return True

    def _using(self, certain: Iterable[tuple[Function, FunctionCall]]) -> dict[str, list[FunctionCall]]:
        """The `certain` calls, and those of functions that always make such a call."""
        using: dict[str, list[FunctionCall]] = defaultdict(list)
        pending, seen = list(certain), set[str]()
        while pending:
            caller, call = pending.pop()
            using[caller.name].append(call)
            always = self._paths_of(caller).one_always_with(using[caller.name], None)
            if always and caller.name not in seen:
                seen.add(caller.name)
                pending += self._calls_of_one(caller)
        return using

    def _calls_of_one(self, function: Function) -> Iterator[tuple[Function, FunctionCall]]:
        """The calls that are certain to be of one function."""
        for caller, call in self._callees.calls_of(function):
            if self._callees.of(call) is function:
                yield caller, call
