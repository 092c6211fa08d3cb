"""How deep expressions may be nested in each other. Imports little: starting up is a part of every run."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

FRAMES = 10_000 if sys.version_info >= (3, 11) else 3_000
"""Calls inside of each other while something is judged. Before 3.11 each of them takes some of the stack of C
as well, of which there are 8 MiB; a level of an expression takes four of them.
"""


@contextmanager
def deep_stack() -> Iterator[None]:
    """Calls may be nested as deeply as `FRAMES` says meanwhile, and as before afterwards; in the main thread
    only, as the stack of another one may be small.
    """
    before = sys.getrecursionlimit()
    if before >= FRAMES or threading.current_thread() is not threading.main_thread():
        yield
        return
    sys.setrecursionlimit(FRAMES)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
