"""Where a configuration may be. Cheap enough to be asked on every start: no TOML is read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

# A table header, or the tool's name as a dotted or plain key. A mere dependency on the tool is neither.
_TABLE = re.compile(rb"""\[\s*["']?tool["']?\s*\.\s*["']?relax-lint|relax-lint["']?\s*(?:\.|=(?!=))""")


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
        with open(path, "rb") as file:
            return _TABLE.search(file.read()) is not None
    except OSError:
        return False
