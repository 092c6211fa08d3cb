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
