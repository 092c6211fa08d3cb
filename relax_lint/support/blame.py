"""Where an error of somebody else's code came up."""

from __future__ import annotations

import traceback
from pathlib import Path


def where(error: BaseException) -> str:
    """` (/folder/rules.py:3)`: the line that could not be read, or the last line in a file that ran before
    the error; nothing where there is none.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}:{error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    # The first lines are the tool's own, and those of importlib.
    foreign = [one for one in frames[1:] if not _is_importing(one.filename)]
    return f" ({foreign[-1].filename}:{foreign[-1].lineno})" if foreign else ""


def where_in(error: BaseException, source: str) -> str:
    """The same for the last line of a file that ran before an error, or of one beside it."""
    folder = Path(source).parent
    frames = [
        one for one in traceback.extract_tb(error.__traceback__) if folder in Path(one.filename).parents
    ]
    return f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""


def _is_importing(filename: str) -> bool:
    return filename.startswith("<") or "/importlib/" in filename.replace("\\", "/")
