"""Ignore comments for findings: where they go and what they say. Runs in a worker process."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from relax_lint.repair.apply import apply_edits
from relax_lint.results.check import Edit
from relax_lint.results.location import Location
from relax_lint.results.problem import Problem
from relax_lint.sources.embedded import markdown_blocks
from relax_lint.sources.ignore_comment import directive_text, joined
from relax_lint.sources.ignore_comments import read_comments, read_statements
from relax_lint.sources.reading import parse_text
from relax_lint.sources.text import SourceText
from relax_lint.support.codec import encode
from relax_lint.support.lazy_dataclass import dataclass

FUNCTION = f"{__name__}:plan"
"""What the worker pool is asked to call."""

KINDS = ("python", "markdown")


@dataclass(frozen=True)
class Wanted:
    """A finding of the rule `rule` at `place`, which a comment is to accept."""

    rule: str
    place: Location


@dataclass(frozen=True)
class Plan:
    """The edits of one text, and how many findings they accept."""

    edits: tuple[Edit, ...]
    accepted: int


def plan(content: str, path: str, kind: str, wanted: Sequence[Wanted], reason: str) -> Iterator[Any]:
    """One value: the `Plan` for a text, as JSON has it. A finding outside every statement is skipped."""
    texts = [SourceText(path, content)]
    if kind == "markdown":
        texts = [fence.text for fence in markdown_blocks(path, content)]
    edits: list[Edit] = []
    accepted = 0
    for text in texts:
        for rules, edit in _comments(text, wanted, reason):
            edits.append(edit)
            accepted += rules
    if kind == "python" and not _is_same_program(path, content, apply_edits(content, edits)):
        yield encode(Plan((), 0))
    else:
        yield encode(Plan(tuple(edits), accepted))


def _comments(text: SourceText, wanted: Iterable[Wanted], reason: str) -> Iterator[tuple[int, Edit]]:
    """How many findings each edit accepts, and the edit: one for each statement with a finding."""
    present = {comment.scope: comment for comment in read_comments(text) if not comment.problem}
    for first, last in read_statements(text):
        end = len(text.lines[last - 1])
        scope = Location(text.path, *text.at(first, 0), *text.at(last, end))
        found = [one.rule for one in wanted if _stands_in(one.place, scope)]
        if not found:
            continue
        comment = present.get(scope)
        if comment is not None:
            rules = tuple(dict.fromkeys((*comment.rules, *sorted(found))))
            line = directive_text("ignore", rules, joined((comment.reason, reason)))
            yield len(found), Edit(comment.location, line)
            continue
        start = len(text.lines[last - 1].rstrip())
        behind = Location(text.path, *text.at(last, start), *text.at(last, end))
        line = directive_text("ignore", tuple(sorted(set(found))), reason)
        yield len(found), Edit(behind, f"  {line}")


def _stands_in(place: Location, scope: Location) -> bool:
    begin, end = (scope.line, scope.column), (scope.end_line, scope.end_column)
    return begin <= (place.line, place.column) <= end


def _is_same_program(path: str, old: str, new: str) -> bool:
    """Whether two texts are the same but for comments."""
    trees = [parse_text(SourceText(path, content)) for content in (old, new)]
    dumped = [None if isinstance(tree, Problem) else ast.dump(tree) for tree in trees]
    return dumped[0] is not None and dumped[0] == dumped[1]
