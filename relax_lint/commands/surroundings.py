"""What the terminal can show: how many columns, and links."""

from __future__ import annotations

import os
import shutil
import sys

LEAST_COLUMNS, MOST_COLUMNS = 40, 200
"""Text is broken for terminals of this many columns; for others as for the nearest of them."""

_NAMES = frozenset({"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio"})
_KINDS = ("xterm-kitty", "alacritty", "foot", "contour", "wezterm", "xterm-ghostty")
_VARIABLES = ("WT_SESSION", "KONSOLE_VERSION", "DOMTERM", "KITTY_WINDOW_ID")
_FIRST_VTE = 5000


def terminal_width() -> int:
    """The columns of the terminal, within the limits."""
    return min(max(shutil.get_terminal_size().columns, LEAST_COLUMNS), MOST_COLUMNS)


def shows_links() -> bool:
    """Whether the terminal is one that is known to show links (OSC 8), or `FORCE_HYPERLINK` says so."""
    forced = os.environ.get("FORCE_HYPERLINK")
    if forced:
        return forced != "0"
    # The log of a CI system may pass for a terminal.
    if sys.platform == "win32" or os.environ.get("CI") or os.environ.get("TERM") == "dumb":
        return False
    version = os.environ.get("VTE_VERSION", "")
    return (
        os.environ.get("TERM_PROGRAM") in _NAMES
        or os.environ.get("TERM", "").startswith(_KINDS)
        or any(os.environ.get(name) for name in _VARIABLES)
        or (version.isascii() and version.isdigit() and int(version) >= _FIRST_VTE)
    )
