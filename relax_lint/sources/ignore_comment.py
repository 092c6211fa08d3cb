"""What an ignore comment says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from relax_lint.results.location import Location
from relax_lint.support.lazy_dataclass import dataclass

MARK = b"relax-lint:"
"""A text without these bytes holds no ignore comment."""

_HEAD = r"#\s*relax-lint\s*:\s*"
_DIRECTIVE = r"(?P<word>ignore-file|ignore)\s*\[(?P<rules>[^\]\[#]*)\]\s*(?:--\s*(?P<reason>.*)|(?=#)|$)"
_TO_NEXT = r"[^#]*"
_EXPECTED = "expected `# relax-lint: ignore[CODE]`, with a reason after ` -- ` if there is one"


@dataclass(frozen=True)
class Directive:
    """What stands from `start` to `end` (exclusive) of a comment. `problem` says what is wrong with it."""

    start: int
    end: int
    whole_file: bool
    rules: tuple[str, ...]
    reason: str
    problem: str


@dataclass(frozen=True)
class IgnoreComment:
    """A directive in a file, at `location`. It is about what begins within `scope`: the statement that it
    stands on or above; None is the whole file.

    `rules` are codes, their beginnings, or names, as they are written. `removal` is what to delete in order
    to be rid of it; None where that cannot be told, in a text inside another file.
    """

    location: Location
    scope: Location | None
    rules: tuple[str, ...]
    reason: str
    problem: str
    removal: Location | None

    def covers(self, place: Location | None) -> bool:
        """Whether it applies to `place` of its file."""
        if self.scope is None:
            return True
        if place is None:
            return False
        begin = self.scope.line, self.scope.column
        end = self.scope.end_line, self.scope.end_column
        return begin <= (place.line, place.column) <= end


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Not when the module is imported: a run that finds everything in its cache reads no comment."""
    return re.compile(pattern)


def directives(comment: str) -> Iterator[Directive]:
    """The directives in the text of one comment, from its first `#` on."""
    position = 0
    while (head := _compiled(_HEAD).search(comment, position)) is not None:
        match = _compiled(_DIRECTIVE).match(comment, head.end())
        if match is None:
            rest = _compiled(_TO_NEXT).match(comment, head.end())
            position = len(comment) if rest is None else rest.end()
            yield Directive(head.start(), _trimmed(comment, position), False, (), "", _EXPECTED)
            continue
        position = match.end()
        rules = tuple(rule.strip() for rule in match["rules"].split(",") if rule.strip())
        yield Directive(
            start=head.start(),
            end=_trimmed(comment, position),
            whole_file=match["word"] == "ignore-file",
            rules=rules,
            reason=(match["reason"] or "").strip(),
            problem="" if rules else "it names no rule",
        )


def joined(reasons: Iterable[str]) -> str:
    """Several reasons as one."""
    return "; ".join(dict.fromkeys(filter(None, reasons)))


def directive_text(word: str, rules: tuple[str, ...], reason: str) -> str:
    """The comment that says it."""
    return f"# relax-lint: {word}[{', '.join(rules)}]" + (f" -- {reason}" if reason else "")


def _trimmed(comment: str, end: int) -> int:
    return len(comment[:end].rstrip())
