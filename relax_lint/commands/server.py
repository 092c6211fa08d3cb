"""The command `server`."""

from __future__ import annotations

import argparse
import sys

from relax_lint.commands.terminal import UsageError

_MISSING = (
    "the server needs `pygls`: install relax-lint with the extra `lsp`, as in `pip install 'relax-lint[lsp]'`"
)


def serve(options: argparse.Namespace) -> int:
    """Serve an editor over standard input and output until it says goodbye. Raises UsageError if the extra
    is missing.
    """
    try:
        import lsprotocol  # noqa: F401 (named apart, so that errors in our own modules are not taken for this)
        import pygls  # noqa: F401
    except ModuleNotFoundError:
        raise UsageError(_MISSING) from None
    if sys.stdin is None or sys.stdout is None:
        raise UsageError("the server communicates over standard input and output, and one of them is closed")
    from relax_lint.server.features import make_server

    make_server().start_io()
    return 0
