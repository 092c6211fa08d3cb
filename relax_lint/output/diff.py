"""A diff where people read it. What a program reads is the diff itself, byte for byte."""

from __future__ import annotations

import secrets

from relax_lint.support.escaping import printable


def on_terminal(diff: bytes) -> str:
    """The diff with what would move the cursor, hide or change direction escaped: to be read, not to be
    applied.
    """
    # A line feed ends a line and nothing else does.
    lines = diff.decode("utf-8", "surrogateescape").split("\n")
    return "\n".join(map(printable, lines))


def in_log(diff: bytes) -> bytes:
    """The diff between two lines that `git apply` and `patch` skip and that keep GitHub Actions from carrying
    out any line in between.
    """
    token = secrets.token_hex(16).encode()
    return b"::stop-commands::" + token + b"\n" + diff + b"::" + token + b"::\n"
