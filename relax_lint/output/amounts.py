"""Amounts of memory as text."""

from __future__ import annotations

from relax_lint.results.memory_figures import Amount, Growth, OverRange, SymbolRange
from relax_lint.support.byte_text import bytes_text
from relax_lint.support.escaping import printable


def amount_text(amount: Amount | None, reason: str = "", *, formulas: bool = True) -> str:
    """`4,096 bytes (4 KiB)`, or `4*m bytes`, or `not known` with the reason; with `formulas` the value of a
    formula has the formula beside it.
    """
    if amount is None:
        return f"not known: {printable(reason)}" if reason else "not known"
    if amount.value is None:
        return f"{printable(amount.expr)} bytes"
    if not formulas or amount.expr == str(amount.value):
        return bytes_text(amount.value)
    return f"{bytes_text(amount.value)} = {printable(amount.expr)}"


def range_text(found: OverRange, *, brief: bool = False) -> str:
    """`at most 4,000 bytes (3.906 KiB), at n = 1000; 4 bytes more per n`, or a number `for every n <= 8`; if
    `brief` without how it grows.
    """
    ranges = ", ".join(map(_within, found.within))
    if found.minimum == found.maximum and found.within:
        points = all(each.low == each.high for each in found.within)
        return f"{bytes_text(found.maximum)} for {'' if points else 'every '}{ranges}"
    at = ", ".join(f"{printable(name)} = {value}" for name, value in found.at.items())
    if found.is_limit:
        end = "" if found.at_end is None else f"; {bytes_text(found.at_end)} at {at}"
        return f"at most {bytes_text(found.maximum)} for every {ranges}{end}"
    if brief:
        return f"at most {bytes_text(found.maximum)}, at {at}"
    end = ""
    # Of several symbols each would have to be named again.
    if found.at_end not in (None, found.maximum) and len(found.at) == 1:
        ends = ", ".join(f"{printable(each.name)} = {each.high}" for each in found.within)
        end = f"; {bytes_text(found.at_end or 0)} at {ends}"
    growth = "".join(f"; {_growth(each)}" for each in found.growth)
    return f"at most {bytes_text(found.maximum)}, at {at}{end}{growth}"


def _within(each: SymbolRange) -> str:
    name = printable(each.name)
    if each.low == each.high:
        return f"{name} = {each.low}"
    return f"{name} <= {each.high}" if not each.low else f"{each.low} <= {name} <= {each.high}"


def _growth(each: Growth) -> str:
    more = bytes_text(abs(each.bytes))
    name = printable(each.symbol)
    units = "" if each.units == 1 else f"{each.units:,} of "
    text = f"{more} {'more' if each.bytes > 0 else 'less'} per {units}{name}"
    if each.up_to is not None:
        return f"{text} near {name} = {each.up_to}"
    return f"{text} where no sizes coincide" if each.apart else text
