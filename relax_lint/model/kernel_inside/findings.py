"""What is found inside a kernel, with the condition under which it does no harm."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.support.lazy_dataclass import record


@record(frozen=True)
class Race:
    """A store that two steps of a loop make to one element: `reads` if the stored value is made of what was
    there. `harmless` is the condition, on the kernel's symbols, under which no two steps make it; `same` the
    one without which they store different values: where it holds they are `surely_same`, or may be. `each`
    step stores to that element, or only the first two are known to.
    """

    element: str
    buffer: str
    loop: str
    kind: str
    reads: bool
    harmless: Boolean
    node: Any = field(default=None, compare=False, repr=False)
    same: Boolean = sympy.false
    surely_same: bool = True
    each: bool = True


@record(frozen=True)
class UnwrittenRead:
    """A load from a buffer of the kernel that nothing has written: `ever` if nothing does at all. It is not
    made where `harmless` holds. Of a buffer that is `partly` written some element is loaded that is not, and
    seen in an output, where `harmless` does not hold; elsewhere that is not known, but for sizes that are
    `safe`, and for those at which it was `seen` when the kernel was carried out.
    """

    element: str
    buffer: str
    ever: bool
    harmless: Boolean
    node: Any = field(default=None, compare=False, repr=False)
    partly: bool = False
    safe: Boolean = sympy.true
    seen: Boolean = sympy.false


@record(frozen=True)
class OwnBuffer:
    """A buffer of the kernel that only loads and stores use. Where `unloaded` holds it is not loaded; where
    `asked` does not, a load before every store is told already.
    """

    buffer: Any
    unloaded: Boolean
    asked: Boolean = sympy.true


@record(frozen=True)
class PartlyWritten:
    """Such a buffer of which an element is loaded, by `node`, that was not stored to. At sizes that are
    `wrong` that is certain, and an output tells of it with all contents; where it was `seen`, with some.
    """

    buffer: Any
    node: Any
    wrong: Boolean
    seen: Boolean


@record(frozen=True)
class UnusedBuffer:
    """A buffer of the kernel that is never read; `written` if something is stored to it."""

    buffer: str
    scope: str
    written: bool


@record(frozen=True)
class LargeBuffer:
    """A buffer of the kernel of more bytes than a block has in this scope on the kernel's target."""

    buffer: str
    scope: str
    bytes: int
    limit: int
    target: str


@record(frozen=True)
class OnChip:
    """A buffer of the kernel in shared or local memory, of so many bytes."""

    buffer: str
    scope: str
    bytes: int


@record(frozen=True)
class Inside:
    """All that is found in a kernel. What is not certain is left out. `on_chip` are the buffers of a kernel
    that names no target, which those of `large` are beyond.
    """

    races: tuple[Race, ...] = ()
    unwritten_reads: tuple[UnwrittenRead, ...] = ()
    unused: tuple[UnusedBuffer, ...] = ()
    large: tuple[LargeBuffer, ...] = ()
    on_chip: tuple[OnChip, ...] = ()


NOTHING = Inside()
