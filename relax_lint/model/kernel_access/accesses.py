"""What is said of one access of a kernel, and of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

import sympy

from relax_lint.model.kernel_access.conditions import Condition
from relax_lint.model.kernel_access.polynomials import Poly
from relax_lint.model.kernel_access.stored import StoredValues
from relax_lint.model.kernel_access.terms import Terms
from relax_lint.support.lazy_dataclass import record

_LONGEST = 100
"""Characters of indices that a message quotes."""


@record(frozen=True)
class BufferRef:
    """A buffer: the position of the parameter whose memory it shows, None for the kernel's own buffers.

    `number` tells the buffers of a kernel apart, `root` is the number of the one whose memory it shows
    (its own, unless it is a window or another view).
    """

    number: int
    root: int
    name: str
    parameter: int | None
    scope: str
    dtype: str


@record(frozen=True, eq=False)
class LoopRange:
    """A loop around an access: `extent` integers from `first` on. `kind` is serial, parallel, vectorized,
    unrolled, thread_binding, while (without a variable) or lanes (of a vector); `thread` is the tag of a
    thread binding. What is not known is None. A loop of one step has a number as its `variable`.
    """

    kind: str
    variable: Poly | None = None
    first: Poly | None = None
    extent: Poly | None = None
    thread: str = ""


@record(frozen=True)
class Region:
    """A part of a kernel, such as a branch or the body of a loop. So many `facts` hold, and so many `loops`
    are around, where it is entered. `other` is the region that runs where this one does not. What `starts`
    a reduction initialises a block.
    """

    number: int
    facts: int
    loops: int
    other: int | None = None
    starts: bool = False


@record(frozen=True)
class Obligation:
    """What must not happen: all polynomials `outside` are >= 0, which only the call decides.

    If `exact`, then in each such call an access is made there; otherwise `why` says what stands in the way.
    `axis` is None for a flat position; `below` tells the two ends apart. `holds` are the parameters on whose
    contents it depends; `data` says that the index is computed from what some buffer holds.
    """

    axis: int | None
    below: bool
    outside: tuple[Poly, ...]
    exact: bool
    why: str = ""
    holds: frozenset[int] = frozenset()
    data: bool = False
    is_limit: bool = False
    """Whether it is a size beyond which 32-bit arithmetic may wrap around, and nothing else is known."""


@record(frozen=True)
class MemoryBounds:
    """What tells whether an access leaves the memory of its buffer, where an index beyond its axis may be an
    element of another row. All `claims` are negative where it stays inside; with none, nothing is known.
    `obligations` are what is left to be shown for that.
    """

    claims: tuple[Poly, ...] = ()
    obligations: tuple[Obligation, ...] = ()


@record(frozen=True, eq=False)
class KernelAccess:
    """One access. `where` are its indices in the order of the axes, lanes of vectors as loops; None where an
    index is not an integer expression of loops, symbols and loaded values. `shape` are the extents.

    `conditions` all hold where it is made. `unread` is why nothing can be said of it, `assumed` what the
    kernel promises (`T.assume`) and the proof needs. `obligations` are what is left to be shown; with none,
    and not `unread`, it was proved for every call.
    """

    terms: Terms
    buffer: BufferRef
    writes: bool
    order: int
    where: tuple[Poly | None, ...]
    shape: tuple[Poly | None, ...]
    loops: tuple[LoopRange, ...]
    conditions: tuple[Condition, ...]
    obligations: tuple[Obligation, ...] = ()
    unread: str = ""
    assumed: tuple[str, ...] = ()
    node: Any = field(default=None, repr=False)
    claims: tuple[Poly, ...] = field(default=(), repr=False)
    """What must be negative for all of it to stay inside, the memory that the buffer only shows included."""
    wraps: tuple[Poly, ...] = field(default=(), repr=False)
    """What is not negative in steps in which its index arithmetic wraps around: its indices are others."""
    fills: bool = False
    """Whether it is made to every element of the buffer at once."""
    regions: tuple[Region, ...] = field(default=(), repr=False)
    """Those around it, the outermost one first."""
    memory: MemoryBounds | None = None
    """None where an access that leaves an axis leaves the memory too."""

    @property
    def proved(self) -> bool:
        """Whether it stays inside its buffer in every call."""
        return not self.obligations and not self.unread

    @property
    def indices(self) -> tuple[sympy.Expr | None, ...]:
        """The indices as sympy expressions."""
        return tuple(None if index is None else self.terms.expression(index) for index in self.where)

    @property
    def extents(self) -> tuple[sympy.Expr | None, ...]:
        """The extents as sympy expressions."""
        return tuple(None if extent is None else self.terms.expression(extent) for extent in self.shape)

    @property
    def text(self) -> str:
        """As TVMScript writes it, if that is not too long to read."""
        indices = "" if self.node is None else ", ".join(map(str, self.node.indices))
        return f"{self.buffer.name}[{indices if len(indices) <= _LONGEST else '...'}]"


@record(frozen=True, eq=False)
class KernelAccesses:
    """Every access of a kernel in the order of the text, a value's loads before its store.

    `symbols` are those of the signature in their order; `unread` says which statements could not be read.
    """

    accesses: tuple[KernelAccess, ...]
    terms: Terms
    symbols: tuple[sympy.Symbol, ...]
    unread: tuple[str, ...] = ()
    values: Mapping[int, StoredValues] = field(default_factory=dict)
    """What is stored to parameters of integers, where that is known."""

    @cached_property
    def open(self) -> tuple[KernelAccess, ...]:
        """Those that were not proved for every call, or only with a promise of the kernel."""
        return tuple(access for access in self.accesses if not access.proved or access.assumed)
