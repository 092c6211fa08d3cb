"""JSON of which only the length is known: what it takes to read it is bounded before it is read."""

from __future__ import annotations

import json
from typing import Any

MAX_VALUES = 2_000_000
"""How many values are read. An empty list is two bytes of text and sixty of memory."""


def read_json(text: bytes | str, *, max_bytes: int, max_values: int = MAX_VALUES) -> Any:
    """The value that a text stands for. Raises ValueError for one that is none or that is too large."""
    if len(text) > max_bytes:
        raise ValueError(f"longer than {max_bytes >> 20} MiB")
    # Every value but the first stands behind one of these.
    if isinstance(text, bytes):
        values = text.count(b",") + text.count(b"[") + text.count(b"{")
    else:
        values = text.count(",") + text.count("[") + text.count("{")
    if values > max_values:
        raise ValueError(f"more than {max_values:,} values")
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
