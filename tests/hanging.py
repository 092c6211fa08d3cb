"""A test that hangs shows where: what every thread does is written when it has taken too long.

pytest sets such an alarm for each test and takes it back, which starts a thread and waits for its end: as long as most
tests take. Here it is set anew only where the last one was set a while ago.
"""

from __future__ import annotations

import faulthandler
import os
from time import monotonic

TIMEOUT_S, ANEW_S = 150.0, 10.0
"""A test is told to hang between the first, and both together, after it has begun."""

_set_at: float | None = None
_file = 2


def write_to(file: int) -> None:
    """From now on to a copy of this descriptor: pytest takes the standard one for what a test says."""
    global _file
    _file = os.dup(file)


def a_test_begins() -> None:
    """Set the alarm, unless that has been done just now."""
    global _set_at
    now = monotonic()
    if _set_at is None or now - _set_at > ANEW_S:
        faulthandler.dump_traceback_later(TIMEOUT_S + ANEW_S, file=_file)
        _set_at = now


def forget() -> None:
    """Somebody else has taken it back: the next test sets it."""
    global _set_at
    _set_at = None


def end() -> None:
    """Take it back."""
    faulthandler.cancel_dump_traceback_later()
    forget()
