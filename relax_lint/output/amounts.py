"""Amounts of memory as text."""

from __future__ import annotations

from relax_lint.results.memory_figures import Amount
from relax_lint.support.byte_text import bytes_text
from relax_lint.support.escaping import printable


def amount_text(amount: Amount | None, reason: str = "") -> str:
    """`4,096 bytes (4 KiB)`, or `4*m bytes`, or `not known` with the reason; the value of a formula has the
    formula beside it.
    """
    if amount is None:
        return f"not known: {printable(reason)}" if reason else "not known"
    if amount.value is None:
        return f"{printable(amount.expr)} bytes"
    if amount.expr == str(amount.value):
        return bytes_text(amount.value)
    return f"{bytes_text(amount.value)} = {printable(amount.expr)}"
