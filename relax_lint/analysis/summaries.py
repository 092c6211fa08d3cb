"""What calls of the module's own Relax functions do to the tensors that they are given."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import TypeVar

from relax_lint.analysis.access_paths import AccessPath, Tree, everything, joined, mapped
from relax_lint.analysis.callees import Callees
from relax_lint.analysis.certainty import Certainty, weakest
from relax_lint.analysis.components import components
from relax_lint.analysis.presumption import Presumption
from relax_lint.analysis.results import New, Result, Source
from relax_lint.model.operations import FunctionCall, ValueId
from relax_lint.model.program import Function
from relax_lint.support.lazy_dataclass import record

_Key = TypeVar("_Key")
Touched = Mapping[AccessPath, Certainty]
"""What is touched on every path (`MUST`) or on some (`MAY`); what is not listed never is."""


@record(frozen=True)
class Summary:
    """What one function does. Values are its parameters, and for an inner function the values of the outer
    one that it uses; their fields count apart.

    `reads` are read as they come in, `writes` are written, all of each on every path (`MUST`) or less than
    that (`MAY`). `passed` go to calls with unknown effects, `handed_on` to functions that are not known, on
    the storages in `places` the function writes tensors of its own. `unwritten` are the fields of the result
    that hold nothing, those of them in `presumed` unless calls with unknown effects write all of them;
    `superseded` is what in-place calls overwrite. `late` are pairs of what is written, also as one of
    `places`, and what may be read in or behind the first write, `given_back` of what is written and of
    something else that comes from outside and is then returned. The reads in `rests`, and the fields in
    `partly`, are of what some call wrote before: all of it, or perhaps only a part. `believed` go to calls
    that only say themselves that they do not write them. Of a call `passed_as` tells what the caller has for
    each value; what is not listed has the same name for both.
    """

    parameters: tuple[ValueId, ...]
    reads: Touched = field(default_factory=dict)
    writes: Touched = field(default_factory=dict)
    passed: frozenset[AccessPath] = frozenset()
    places: frozenset[AccessPath] = frozenset()
    result: Result = None
    unwritten: Mapping[tuple[int, ...], Certainty] = field(default_factory=dict)
    superseded: Touched = field(default_factory=dict)
    handed_on: frozenset[AccessPath] = frozenset()
    presumed: Mapping[tuple[int, ...], Presumption] = field(default_factory=dict)
    late: frozenset[tuple[AccessPath, AccessPath]] = frozenset()
    rests: frozenset[AccessPath] = frozenset()
    partly: frozenset[tuple[int, ...]] = frozenset()
    given_back: frozenset[tuple[AccessPath, AccessPath]] = frozenset()
    believed: frozenset[AccessPath] = frozenset()
    passed_as: Mapping[ValueId, AccessPath] = field(default_factory=dict)

    @property
    def returned_paths(self) -> frozenset[AccessPath]:
        """What the result may be of that which comes from outside."""
        found = frozenset[Source]() if self.result is None else everything(self.result)
        return frozenset(source for source in found if isinstance(source, AccessPath))

    def path(self, path: AccessPath) -> AccessPath:
        """A value of the function as its caller knows it."""
        passed = self.passed_as.get(path.value)
        return path if passed is None else AccessPath(passed.value, (*passed.fields, *path.fields))

    def touched(self, chosen: Touched) -> Iterable[tuple[AccessPath, Certainty]]:
        """What is touched, as the caller knows it."""
        return [(self.path(path), chosen[path]) for path in sorted(chosen)]

    @property
    def perhaps_superseded(self) -> frozenset[AccessPath]:
        """What in-place calls overwrite on some paths, or only unless TVM leaves them out."""
        found = self.touched(self.superseded)
        return frozenset(path for path, certainty in found if certainty is Certainty.MAY)

    @property
    def returned(self) -> Result:
        """What the result may be, as the caller knows it."""
        return None if self.result is None else _renamed(self.result, self.path)

    @property
    def captured(self) -> tuple[AccessPath, ...]:
        """What the function may read or give back that its caller has under the same name."""
        used = self.passed.union(self.reads, self.returned_paths)
        return tuple(path for path in sorted(used) if path.value not in self.passed_as)

    def union(self, other: Summary) -> Summary:
        """Everything that either says."""
        result = self.result
        if result is None or other.result is None:
            result = result or other.result
        else:
            result = joined(result, other.result)
        return Summary(
            self.parameters,
            _weakened(self.reads, other.reads),
            _weakened(self.writes, other.writes),
            self.passed | other.passed,
            self.places | other.places,
            result,
            {
                fields: weakest(*(s.unwritten.get(fields, Certainty.MAY) for s in (self, other)))
                for fields in (*self.unwritten, *other.unwritten)
            },
            _weakened(self.superseded, other.superseded),
            self.handed_on | other.handed_on,
            {
                fields: presumed
                for fields, presumed in {**self.presumed, **other.presumed}.items()
                if all(fields in s.presumed or fields not in s.unwritten for s in (self, other))
            },
            self.late | other.late,
            frozenset(_in_both(self.rests, self.reads, other.rests, other.reads)),
            frozenset(_in_both(self.partly, self.unwritten, other.partly, other.unwritten)),
            self.given_back | other.given_back,
            self.believed | other.believed,
            self.passed_as,
        )

    def with_names(self, values: Iterable[ValueId], others: Iterable[ValueId]) -> Summary:
        """The same of a function that has other names for these values."""
        names = dict(zip(values, others, strict=False))

        def named(path: AccessPath) -> AccessPath:
            return AccessPath(names.get(path.value, path.value), path.fields)

        def touched(chosen: Touched) -> Touched:
            return {named(path): certainty for path, certainty in chosen.items()}

        result = None if self.result is None else _renamed(self.result, named)
        passed, places, handed_on = (
            frozenset(map(named, paths)) for paths in (self.passed, self.places, self.handed_on)
        )
        return Summary(
            tuple(names.get(parameter, parameter) for parameter in self.parameters),
            touched(self.reads),
            touched(self.writes),
            passed,
            places,
            result,
            self.unwritten,
            touched(self.superseded),
            handed_on,
            self.presumed,
            frozenset((named(written), named(read)) for written, read in self.late),
            frozenset(map(named, self.rests)),
            self.partly,
            frozenset((named(written), named(given)) for written, given in self.given_back),
            frozenset(map(named, self.believed)),
        )


def _renamed(result: Tree[Source], named: Callable[[AccessPath], AccessPath]) -> Tree[Source]:
    """A result in which that which comes from outside has other names."""

    def source(one: Source) -> Source:
        if isinstance(one, AccessPath):
            return named(one)
        storages, perhaps = (frozenset(map(named, paths)) for paths in (one.storages, one.perhaps))
        return New(storages, perhaps, one.presumed, one.made, one.constant, one.inside)

    return mapped(result, lambda sources, _: frozenset(map(source, sources)))


def _in_both(
    chosen: Collection[_Key], among: Collection[_Key], chosen_2: Collection[_Key], among_2: Collection[_Key]
) -> Iterator[_Key]:
    """What each of two chooses of that which it knows."""
    for key in (*chosen, *chosen_2):
        if (key in chosen or key not in among) and (key in chosen_2 or key not in among_2):
            yield key


def _weakened(one: Touched, other: Touched) -> Touched:
    return {
        path: weakest(one.get(path, Certainty.MAY), other.get(path, Certainty.MAY)) for path in (*one, *other)
    }


class Summaries:
    """The summaries of the functions of one program, each computed when it is first asked for, after those of
    the functions that it calls.

    Functions that call each other are solved together, from functions that do nothing until nothing is added.
    """

    def __init__(
        self, callees: Callees, functions: Iterable[Function], summarise: Callable[[Function], Summary]
    ) -> None:
        self._callees = callees
        self._functions = {function.name: function for function in functions}
        self._summarise = summarise
        self._known: dict[str, Summary] = {}
        self._pending: dict[str, Summary] = {}
        self._begun: set[str] = set()
        self._of_call: dict[int, Summary] = {}
        """By the identity of a call, which lives as long as its program."""

    def of(self, call: FunctionCall) -> Summary | None:
        """What a call does; None where the callee is not known, such as a parameter of a public function."""
        known = self._of_call.get(id(call))
        if known is not None:
            return known
        found = [(self._of(one), self._callees.passed(call, one)) for one in self._callees.all_of(call)]
        if not found:
            return None
        first, names = found[0]
        for other, others in found[1:]:
            first = first.union(other.with_names(others, names))
        summary = replace(first, passed_as=names)
        if not self._pending:
            self._of_call[id(call)] = summary
        return summary

    def _of(self, function: Function) -> Summary:
        known = self._known.get(function.name)
        if known is not None:
            return known
        if self._pending:
            return self._pending.setdefault(function.name, Summary(function.parameters))
        for names in components(function.name, self._needed):
            self._solve(names)
        return self._known[function.name]

    def _needed(self, name: str) -> Iterable[str]:
        """The functions whose summaries those of a function may be made of."""
        if name in self._known:
            return
        function = self._functions[name]
        for op in function.body.of(FunctionCall):
            yield from (callee.name for callee in self._callees.all_of(op))

    def _solve(self, names: Iterable[str]) -> None:
        """Those of functions that call each other."""
        self._pending.update(
            {n: Summary(self._functions[n].parameters) for n in names if n not in self._known}
        )
        while self._pending and self._grow():
            pass
        self._known.update(self._pending)
        self._pending.clear()
        self._begun.clear()

    def _grow(self) -> bool:
        """One round over the functions met so far, callees first; whether anything was added."""
        before = dict(self._pending)
        for name in reversed(before):
            found = self._summarise(self._functions[name])
            # What a function was taken to do before it was looked at makes nothing less certain.
            self._pending[name] = self._pending[name].union(found) if name in self._begun else found
            self._begun.add(name)
        return self._pending != before
