"""The memory behind the values of functions, followed through what other functions return. Found out once a
decision depends on it: few do.
"""

from __future__ import annotations

from functools import cached_property
from weakref import proxy

from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.callees import Callees
from relax_lint.analysis.keepers import Keepers
from relax_lint.analysis.made_views import MadeViews
from relax_lint.analysis.results import Result
from relax_lint.analysis.roots import Roots, as_sources
from relax_lint.analysis.summaries import Summaries, Summary
from relax_lint.model.operations import FunctionCall
from relax_lint.model.program import Function, Program


class ProgramRoots:
    """The roots of the functions of one program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[int, tuple[Function, Roots]] = {}
        """By the identity of a function, which lives as long."""

    def of(self, function: Function) -> Roots:
        """The memory behind the values of a function."""
        known = self._known.get(id(function))
        if known is None:
            known = self._known[id(function)] = function, self._find(function)
        return known[1]

    def may_meet_kept(self, call: FunctionCall) -> bool:
        """Whether a call leads to somebody who is not known, and may return what he has kept."""
        return self._keepers.keeps(call) or self._keepers.may_keep(call)

    @cached_property
    def _callees(self) -> Callees:
        return Callees(self._program)

    @cached_property
    def _keepers(self) -> Keepers:
        return Keepers(self._program, self._callees)

    @cached_property
    def _views(self) -> MadeViews:
        return MadeViews(self._program)

    @cached_property
    def _summaries(self) -> Summaries:
        """What the functions return, and nothing else of what they do."""
        # With a reference to itself they would stay until the collector comes.
        shared = proxy(self)
        return Summaries(self._callees, self._program.functions, lambda one: shared._returned_by(one))

    def _returned_by(self, function: Function) -> Summary:
        # Those that are called by each other are asked for again, until nothing is added.
        roots, outside = self._find(function), frozenset(function.parameters)
        return Summary(function.parameters, result=as_sources(roots, roots.tree(function.result), outside))

    def _find(self, function: Function) -> Roots:
        def returned(call: FunctionCall) -> Result:
            summary = self._summaries.of(call)
            return None if summary is None else summary.returned

        return Aliases(
            function,
            returned,
            lambda call: bool(self._callees.all_of(call)),
            lambda call: self._views.of(call, function),
            self._keepers.keeps,
            held=self._callees.closures.held(function),
            holds=lambda path: self._callees.holds(function, path),
            moves_pointers=self._program.moves_pointers,
        ).roots
