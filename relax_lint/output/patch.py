"""The lines that a fix takes away and puts in their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from relax_lint.results.check import Edit
from relax_lint.support.lazy_dataclass import dataclass


@dataclass(frozen=True)
class PatchLine:
    """A line that goes (`sign` is `-`) or comes (`+`), with its number, before the change."""

    sign: str
    number: int
    text: str


def patch_lines(edits: Sequence[Edit], lines: Mapping[int, str]) -> Iterator[PatchLine]:
    """What edits do to the lines of a file, by line number; nothing where one of the lines is not known."""
    ordered = sorted(edits, key=lambda edit: (edit.location.line, edit.location.column))
    needed = {n for edit in edits if not _is_whole_lines(edit) for n in _span(edit)}
    needed |= {n for edit in edits if _is_whole_lines(edit) for n in _span(edit)[:-1]}
    if not needed <= lines.keys():
        return
    while ordered:
        group = [ordered.pop(0)]
        while ordered and not _is_whole_lines(group[0]) and _shares_line(group[-1], ordered[0]):
            group.append(ordered.pop(0))
        yield from _whole(group[0], lines) if _is_whole_lines(group[0]) else _inside(group, lines)


def _whole(edit: Edit, lines: Mapping[int, str]) -> Iterator[PatchLine]:
    place = edit.location
    for number in range(place.line, place.end_line):
        yield PatchLine("-", number, lines[number])
    for text in edit.text.splitlines():
        yield PatchLine("+", place.line, text)


def _inside(group: Sequence[Edit], lines: Mapping[int, str]) -> Iterator[PatchLine]:
    """Edits within the same lines."""
    first, last = group[0].location.line, group[-1].location.end_line
    old = [lines[number] for number in range(first, last + 1)]
    new = "\n".join(old)
    starts = [0]
    for text in old:
        starts.append(starts[-1] + len(text) + 1)
    for edit in reversed(group):
        place = edit.location
        start = starts[place.line - first] + place.column - 1
        end = starts[place.end_line - first] + place.end_column - 1
        new = new[:start] + edit.text + new[end:]
    for number, text in enumerate(old, start=first):
        yield PatchLine("-", number, text)
    for number, text in enumerate(new.split("\n"), start=first):
        yield PatchLine("+", number, text)


def _is_whole_lines(edit: Edit) -> bool:
    return edit.location.column == edit.location.end_column == 1


def _span(edit: Edit) -> range:
    return range(edit.location.line, edit.location.end_line + 1)


def _shares_line(one: Edit, other: Edit) -> bool:
    return not _is_whole_lines(other) and other.location.line <= one.location.end_line
