"""Where an error of somebody else's code came up."""

from __future__ import annotations

import traceback


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


def _is_importing(filename: str) -> bool:
    return filename.startswith("<") or "/importlib/" in filename.replace("\\", "/")
