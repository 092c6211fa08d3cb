"""Numbers of bytes for people."""

from __future__ import annotations

_UNITS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def bytes_text(size: int) -> str:
    """A number of bytes, with a rounded binary multiple from 1 KiB on."""
    exact = f"{size:,} {'byte' if size == 1 else 'bytes'}"
    for unit, name in _UNITS:
        if abs(size) >= unit:
            return f"{exact} ({size / unit:,.4g} {name})"
    return exact
