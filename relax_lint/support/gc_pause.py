"""The collector of reference cycles. Imports nothing else: starting up is a part of every run."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """No search for cycles meanwhile, and as it was afterwards. Facts and reports are large heaps without any
    cycles, which the collector would go through again and again.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


COLLECTED_AFTER = 1_000_000
"""How many more objects than before the collector waits for where facts are made: they are freed by their
counts, and what has cycles among them is found all the same, but seldom.
"""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """A search for cycles only after `COLLECTED_AFTER` new objects meanwhile, and as it was afterwards."""
    before = gc.get_threshold()
    if not 0 < before[0] < COLLECTED_AFTER:
        yield
        return
    gc.set_threshold(COLLECTED_AFTER, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
