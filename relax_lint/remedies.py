"""What really fixes a finding, as `help:` lines with the code to write."""

from __future__ import annotations

from collections.abc import Sequence

import sympy

from relax_lint.analysis.placements import Placement
from relax_lint.model.program import AllocStorage, Level, Unknown
from relax_lint.symbolic.decision import Decision
from relax_lint.symbolic.printing import condition_text, expr_text

_CALL = {Level.MEMORY: "R.memory.alloc_storage", Level.VM: "R.vm.alloc_storage"}


def for_overflow(
    placement: Placement, others: Sequence[Placement], decision: Decision, *, check: bool
) -> tuple[str, ...]:
    """Remedies for a tensor that does not, or not always, fit; `others` share its storage.

    Without `check` no run-time check is offered (where it would refuse every useful input).
    """
    found: list[str] = []
    if check and decision.safe_when is not None:
        found += assertion(decision.safe_when)
    storage = placement.storage
    if storage is not None:
        found += _resize(storage, (placement, *others))
    if found and not isinstance(placement.end, Unknown) and placement.end.free_symbols:
        found.append("or call the kernel through `R.call_tir`, which allocates its output by its shape")
    return tuple(found)


def assertion(condition: sympy.Basic) -> tuple[str, ...]:
    """An `R.assert_op` of a condition that TVMScript can write as one comparison."""
    symbols = sorted(condition.free_symbols, key=lambda symbol: symbol.name)
    if not isinstance(condition, sympy.core.relational.Relational) or not symbols:
        return ()
    text = condition_text(condition)
    if text.startswith("Eq(") or "Piecewise" in text:
        return ()
    values = ", ".join(symbol.name for symbol in symbols)
    shown = ", ".join(f"{symbol.name} = {{}}" for symbol in symbols)
    call = f'R.assert_op({text}, [{values}], format="{shown}, but {text} is needed")'
    return (f"check it where the symbols are known, in a function with `pure=False`: `{call}`",)


def _resize(storage: AllocStorage, placements: Sequence[Placement]) -> list[str]:
    """A storage size that holds every tensor on it; nothing where that has no simple form."""
    ends = [placement.end for placement in placements]
    known = [end for end in ends if not isinstance(end, Unknown)]
    if len(known) < len(ends) or storage.level not in _CALL:
        return []
    needed = known[0] if len(set(known)) == 1 else None
    if all(end.is_Integer for end in known):
        needed = max(known)
    if needed is None:
        return []
    extent = needed if storage.size_in_bytes else _elements(needed, storage.dtype.storage_bytes)
    if extent is None:
        return []
    unit = "bytes" if storage.size_in_bytes else f"elements of {storage.dtype.name}"
    verb = "make the storage as large as the tensor" if needed.free_symbols else "make the storage larger"
    return [f"{verb}: `{_CALL[storage.level]}(R.shape([{expr_text(extent)}]), ...)` ({unit})"]


def _elements(size: sympy.Expr, unit: int) -> sympy.Expr | None:
    """`size` bytes in whole elements of `unit` bytes; None where that is not exact."""
    if size.is_Integer:
        return sympy.Integer(-(-int(size) // unit))
    factor, rest = size.as_content_primitive()
    return (factor / unit) * rest if factor.is_Integer and int(factor) % unit == 0 else None
