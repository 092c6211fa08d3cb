"""What TVM's decorators ask of the stack, and no more.

Each of them, in a text too, takes the whole stack with the lines of every frame: below pytest that took a third of all
the tests. They look at the lines of one frame, and at the names of the others.
"""

from __future__ import annotations

import inspect
import linecache
import sys
from types import FrameType

_LOOKED_AT = 2
_complete = inspect.getouterframes


def install() -> None:
    """From now on TVM gets that instead of `inspect.stack`; others get what they always got."""
    inspect.stack = stack


def stack(context: int = 1) -> list[inspect.FrameInfo]:
    """In the place of `inspect.stack`."""
    frame: FrameType | None = sys._getframe(1)
    assert frame is not None
    if context != 1 or not frame.f_globals.get("__name__", "").startswith("tvm."):
        return _complete(frame, context)
    found: list[inspect.FrameInfo] = []
    while frame is not None:
        file, number = frame.f_code.co_filename, frame.f_lineno
        lines, index = None, None
        if len(found) == _LOOKED_AT:
            # `inspect` looks through all modules for them.
            linecache.checkcache(file)
            line = linecache.getline(file, number, frame.f_globals)
            lines, index = ([line], 0) if line else (None, None)
        found.append(inspect.FrameInfo(frame, file, number, frame.f_code.co_name, lines, index))
        frame = frame.f_back
    return found
