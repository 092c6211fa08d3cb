"""Where a configuration may be. Cheap enough to be asked on every start: no TOML is read."""

from __future__ import annotations

import os

from relax_lint.support.regular_file import read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES = 1 << 20
"""A file of settings that is larger than this is none."""

_NAME = b"relax-lint"

# A table header, or the tool's name as a dotted or plain key. A mere dependency on the tool is neither.
_TABLE = rb"""\[\s*["']?tool["']?\s*\.\s*["']?relax-lint|relax-lint["']?\s*(?:\.|=(?!=))"""

# A key of very many parts. Python's reader takes the square of their number in time and in memory.
_LONG_KEY = rb"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){100}"""


def has_long_key(text: bytes) -> bool:
    """Whether a TOML text holds a key of more than a hundred parts."""
    import re

    return re.search(_LONG_KEY, text) is not None


def candidates(folder: str) -> Iterator[str]:
    """The pyproject.toml files from `folder` upwards that may hold a table for the tool, nearest first."""
    here = os.path.abspath(folder)
    while True:
        path = os.path.join(here, "pyproject.toml")
        if _may_configure(path):
            yield path
        above = os.path.dirname(here)
        if above == here:
            return
        here = above


def _may_configure(path: str) -> bool:
    try:
        text = read_regular(path, MAX_BYTES)
    except OSError:
        return False
    if _NAME not in text:
        return False
    # Most projects do not name the tool, and to load what reads patterns takes longer than all of this.
    import re

    return re.search(_TABLE, text) is not None


def line_in_words(path: str, key: str) -> str:
    """`line 3: `: where the file sets a key of the table; nothing where that is not certain."""
    import re

    quoted = re.escape(key.encode(errors="replace"))
    name = rb"""(?:["']?tool["']?\s*\.\s*)?(?:["']?relax-lint["']?\s*\.\s*)?["']?%s["']?""" % quoted
    line = re.compile(rb"\s*(?:%s\s*[=.]|\[\s*%s\s*[\].])" % (name, name))
    try:
        lines = read_regular(path, MAX_BYTES).splitlines()
    except OSError:
        return ""
    found = [number for number, text in enumerate(lines, start=1) if line.match(text)]
    return f"line {found[0]}: " if len(found) == 1 else ""
