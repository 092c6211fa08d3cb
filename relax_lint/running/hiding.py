"""Whether other processes of the user may look into this one. Imports nothing, as every run begins here."""

from __future__ import annotations

import sys

_is_wanted = False


def hide_this_process() -> None:
    """Once a worker starts, let no other process of the user look into this one: its environment may hold
    secrets, and Landlock, which keeps workers from looking, is not everywhere. For a command, not for a
    library: debuggers are kept out too.
    """
    global _is_wanted
    _is_wanted = sys.platform == "linux"


def is_to_be_hidden() -> bool:
    """Whether that was asked for."""
    return _is_wanted
