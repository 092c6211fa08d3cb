"""What a function does to what comes from outside, put together from the walks over it."""

from __future__ import annotations

from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.contents import Contents
from relax_lint.analysis.given_back import GivenBack
from relax_lint.analysis.roots import as_sources
from relax_lint.analysis.summaries import Summary
from relax_lint.model.operations import ValueId
from relax_lint.model.program import Function


def summarised(
    function: Function, aliases: Aliases, contents: Contents, outside: frozenset[ValueId]
) -> Summary:
    """The summary of a function; `outside` are the values that its callers know."""
    roots = aliases.roots
    given_back = GivenBack(function, aliases, contents.outside_writes, outside)
    return Summary(
        function.parameters,
        {roots.path(root): certainty for root, certainty in contents.at_end.read.items()},
        {roots.path(root): certainty for root, certainty in contents.at_end.written.items()},
        frozenset(map(roots.path, contents.passed)),
        frozenset(map(roots.path, contents.places)),
        as_sources(roots, roots.tree(function.result), outside),
        contents.returns_unwritten,
        {roots.path(root): certainty for root, certainty in contents.at_end.superseded.items()},
        frozenset(map(roots.path, contents.handed_on)),
        contents.returns_presumed,
        frozenset((roots.path(one), roots.path(other)) for one, other in contents.late_reads),
        frozenset(map(roots.path, contents.at_end.rests)),
        contents.returns_partly,
        frozenset((roots.path(one), roots.path(other)) for one, other in given_back.pairs),
        frozenset(map(roots.path, contents.believed)),
    )
