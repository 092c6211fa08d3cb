"""What a kernel (a PrimFunc of the module) asks of its arguments and does to them.

Sizes and indices are sympy expressions over the kernel's own symbols: those of the buffers' shapes and
of its scalar parameters. A call gives each of them a value. Parameters are named by position.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.types import DType
from relax_lint.symbolic.quantity import Shape


@dataclass(frozen=True)
class BufferParameter:
    """A tensor parameter.

    `offset` (elements of `dtype`) is 0 where the kernel was built for tensors that start at their data
    pointer, and a symbol where it takes any start that is a multiple of `offset_factor` elements. Unless it
    is `compact`, its elements are not known to lie in row-major order.
    """

    name: str
    shape: Shape
    dtype: DType
    offset: sympy.Expr
    offset_factor: int = 1
    compact: bool = True

    @property
    def takes_offset(self) -> bool:
        """Whether a tensor may start after its data pointer."""
        return not self.offset.is_Integer


@dataclass(frozen=True)
class ScalarParameter:
    """A number that the caller passes."""

    name: str
    symbol: sympy.Symbol


@dataclass(frozen=True)
class OpaqueParameter:
    """A raw pointer or anything else whose type says nothing about memory."""

    name: str


KernelParameter: TypeAlias = "BufferParameter | ScalarParameter | OpaqueParameter"


@dataclass(frozen=True)
class Access:
    """Indices `first` to `last` on one axis of a parameter, all of them reached when no extent in
    `loops` is empty.
    """

    parameter: int
    axis: int
    first: sympy.Expr
    last: sympy.Expr
    loops: tuple[sympy.Expr, ...]
    writes: bool


@dataclass(frozen=True)
class Lookup:
    """An index on one axis of `parameter` that is an element of the parameter `indices`."""

    parameter: int
    axis: int
    indices: int


@dataclass(frozen=True)
class Reduction:
    """Elements that are initialised by the first step of a reduction: with an empty `reduced` extent they
    are never written. `kept` are the extents of the axes that stay.
    """

    reduced: tuple[sympy.Expr, ...]
    kept: tuple[sympy.Expr, ...]


Differs: TypeAlias = Callable[[Mapping[sympy.Symbol, int], int, int, int], "bool | None"]
"""Whether a call with these values of the kernel's symbols computes something else when the parameter
`written` starts so many elements behind the parameter `other`, than when they lie apart; None where that is
not known.
"""


@dataclass(frozen=True)
class Kernel:
    """One PrimFunc.

    `reads` are the parameters of which contents from before the call may be seen, `writes` those that may
    be written. In `whole_writes` stands, for each of these, the condition on the kernel's symbols under
    which a call is certain to write every element of it: true, false where that is not proved, or an
    expression.
    `first_reads` are loaded from before anything is stored to them: True where that is certain.
    `elementwise` holds the pairs (read, written) that may be the same memory in whatever order the steps of
    loops come: no element is read after it was overwritten. In `copies` each element that is written is that
    of the read one as it is. The pairs in `read_before` may be the same memory as the kernel is written.
    `opaque` gives, for parameters whose address
    leaves what can be read here, the reason; they count as read and written. `differs` carries the kernel out
    on small numbers, where that is possible.
    """

    name: str
    parameters: tuple[KernelParameter, ...]
    reads: frozenset[int] = frozenset()
    writes: frozenset[int] = frozenset()
    whole_writes: Mapping[int, Boolean] = field(default_factory=dict)
    elementwise: frozenset[tuple[int, int]] = frozenset()
    copies: frozenset[tuple[int, int]] = frozenset()
    read_before: frozenset[tuple[int, int]] = frozenset()
    first_reads: Mapping[int, bool] = field(default_factory=dict)
    opaque: Mapping[int, str] = field(default_factory=dict)
    accesses: tuple[Access, ...] = ()
    lookups: tuple[Lookup, ...] = ()
    reductions: tuple[Reduction, ...] = ()
    differs: Differs | None = field(default=None, compare=False, repr=False)
