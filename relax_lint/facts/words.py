"""Quantities and values in the words of a message."""

from __future__ import annotations

from functools import lru_cache

from relax_lint.symbolic.printing import expr_text
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.symbolic.relations import CACHED


@lru_cache(maxsize=CACHED)
def quantity(size: Size, unit: str = "bytes") -> str:
    """A size for a message: ``16 bytes``, ``1 byte``, `` `4*m` bytes``, ``an unknown number of bytes``."""
    if isinstance(size, Unknown):
        return f"an unknown number of {unit}"
    if size.is_Integer:
        return f"{int(size)} {unit if int(size) != 1 else unit.removesuffix('s')}"
    return f"`{expr_text(size)}` {unit}"


def slot_name(slot: Size) -> str:
    """A slot of a shape heap for a message: ``slot 3``, ``slot `n` ``."""
    if isinstance(slot, Unknown):
        return "a slot"
    return f"slot {int(slot)}" if slot.is_Integer else f"slot `{expr_text(slot)}`"
