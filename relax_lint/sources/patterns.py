"""Patterns of paths, in the syntax of `.gitignore`, that somebody else may have written."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pathspec

_MAX_STARS = 3
_MANY_STARS = re.compile(r"\*+")


def path_patterns(lines: Iterable[str]) -> pathspec.GitIgnoreSpec:
    """The patterns, compiled.

    A pattern of more than three `*` in one part, or of more than three `**`, is left out: a regular
    expression is made of it, whose time grows with the length of a path to the power of their number.
    """
    return pathspec.GitIgnoreSpec.from_lines(line for line in lines if _is_bearable(line))


def _is_bearable(pattern: str) -> bool:
    parts = pattern.split("/")
    if sum(part == "**" for part in parts) > _MAX_STARS:
        return False
    return all(len(_MANY_STARS.findall(part)) <= _MAX_STARS for part in parts)
