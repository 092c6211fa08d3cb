"""What there is to say of functions that TVM has not planned yet. Imports neither TVM nor sympy."""

from __future__ import annotations

from collections.abc import Sequence

_NAMED = 3


def unplanned_note(functions: Sequence[str]) -> tuple[str, ...]:
    """The note on functions whose memory is not planned; none where there are none."""
    if not functions:
        return ()
    names = ", ".join(f"`{name}`" for name in functions[:_NAMED])
    more = f" and {len(functions) - _NAMED} more" if len(functions) > _NAMED else ""
    are, they = ("is", "it allocates") if len(functions) == 1 else ("are", "they allocate")
    lower = "`--lower` runs TVM's pipeline up to memory planning first"
    return (f"{names}{more} {are} not planned: what {they} is not judged ({lower})",)
