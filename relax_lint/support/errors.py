"""The errors that are meant for a person."""

from __future__ import annotations


class UserError(Exception):
    """What a user is told as an error: one line that says what is wrong and, where known, what to do.

    A front door catches this class once and shows the text. Any other exception is an internal error.
    """


class RunError(UserError):
    """The run as a whole is impossible: TVM cannot be loaded, say, or there is no such target."""
