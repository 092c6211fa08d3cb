"""What a kernel (a PrimFunc of the module) asks of its arguments and does to them.

Sizes and indices are sympy expressions over the kernel's own symbols: those of the buffers' shapes and
of its scalar parameters. A call gives each of them a value. Parameters are named by position.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, Protocol, TypeAlias, TypeVar

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_access.accesses import KernelAccess, KernelAccesses
from relax_lint.model.kernel_access.terms import Terms
from relax_lint.model.kernel_inside.findings import NOTHING, Inside
from relax_lint.model.kernel_parts import Parts
from relax_lint.model.positions import NoPositions, Positions
from relax_lint.model.types import DType
from relax_lint.results.location import Location
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.quantity import Shape


@record(frozen=True)
class BufferParameter:
    """A tensor parameter.

    `offset` (elements of `dtype`) is 0 where the kernel was built for tensors that start at their data
    pointer, another number or an expression where it takes this start only, and a symbol of its own where it
    takes any start that is a multiple of `offset_factor` elements. Unless it is `compact`, its elements are
    not known to lie in row-major order; `strides` are those it declares, None where they cannot be read.
    """

    name: str
    shape: Shape
    dtype: DType
    offset: sympy.Expr
    offset_factor: int = 1
    compact: bool = True
    strides: tuple[sympy.Expr, ...] | None = ()


@record(frozen=True)
class ScalarParameter:
    """A number that the caller passes."""

    name: str
    symbol: sympy.Symbol
    dtype: str


@record(frozen=True)
class OpaqueParameter:
    """A raw pointer or anything else whose type says nothing about memory. `dtype` is that of a number."""

    name: str
    dtype: str = ""


KernelParameter: TypeAlias = "BufferParameter | ScalarParameter | OpaqueParameter"


@record(frozen=True)
class Lookup:
    """An index on one axis of `parameter` that is an element of the parameter `indices`, to which the kernel
    stores nothing, with `added` added to it: each of them is one, where every one of `steps` is positive.
    With a `span` this is known of elements between its ends: others do not fit into a type on the way.
    """

    parameter: int
    axis: int
    indices: int
    steps: tuple[sympy.Expr, ...] = ()
    added: int = 0
    span: tuple[int, int] | None = None

    def fits(self, ends: tuple[int, int] | None) -> bool:
        """Whether elements between these ends fit into every type on the way."""
        span = self.span
        return span is None or (ends is not None and span[0] <= ends[0] and ends[1] <= span[1])


@record(frozen=True)
class Reduction:
    """Elements that are initialised by the first step of a reduction: with an empty `reduced` extent they
    are never written. `kept` are the extents of the axes that stay. Where not `begins`, the loops may
    leave that step out.
    """

    reduced: tuple[sympy.Expr, ...]
    kept: tuple[sympy.Expr, ...]
    begins: bool = field(default=True, repr=False)


Differs: TypeAlias = Callable[[Mapping[sympy.Symbol, int], int, int, int], "bool | None"]
"""Whether a call with these values of the kernel's symbols computes something else when the parameter
`written` starts so many elements behind the parameter `other`, than when they lie apart; None where that is
not known.
"""


Repeated: TypeAlias = Callable[[int, int], frozenset[sympy.Symbol]]
"""The symbols whose values only say how often the kernel does one and the same thing, also where the
parameters `written` and `other` start at one byte.
"""


def _none_repeated(written: int, other: int) -> frozenset[sympy.Symbol]:
    return frozenset()


_TOO_DEEP = "its expressions are nested too deeply to be read"


T = TypeVar("T")
Given: TypeAlias = "int | tuple[Any, tuple[int, ...]]"
"""What a kernel is carried out on: a number, or cells with the shape of a parameter."""


class Tried(Protocol):
    """A kernel that is carried out at small sizes, with several contents; some outputs are looked at."""

    def is_seen(self, position: int) -> bool:
        """Whether what a parameter holds was seen to matter for these outputs."""

    def is_each_seen(self, position: int) -> bool:
        """Whether each element of a parameter was seen to matter for them."""

    def is_large(self, position: int) -> bool:
        """Whether a parameter has too many elements to look at each one."""

    def is_seen_in_each(self, position: int) -> bool:
        """Whether each element of them was seen to depend on what a parameter holds."""

    def is_left(self, position: int) -> bool:
        """Whether something of an output was left alone, at each of the first sizes."""

    def carry_out(self, given: Sequence[Given], *, is_sparse: bool) -> int | None:
        """Carry it out once on these numbers and these cells, each with the shape of a parameter, or only
        some steps of each long loop; how many steps that took, or None where it was not possible.
        """


def _nothing() -> KernelAccesses:
    return KernelAccesses((), Terms(), ())


@record(frozen=True)
class Kernel:
    """One PrimFunc.

    `reads` are the parameters of which contents from before the call may be seen, `writes` those that may
    be written. In `whole_writes` stands, for each of these, the condition on the kernel's symbols under
    which a call is certain to write every element of it: true, false where that is not proved, or an
    expression; for those in `exact_writes` it is not written as a whole otherwise.
    `first_reads` are loaded from before anything is stored to them: True where that is certain. Those in
    `unsure_reads` are read only where the data, or a size, says so: where they have elements, and `read_if`
    tells a condition on the kernel's symbols and it holds, they are read. Of both nobody asks where all is
    written before it is read: `sure` finds when parameters are read once somebody does. `tried` carries
    the kernel out for some of those that are written, where others are given one tensor.
    `elementwise` holds the pairs (read, written) that may be the same memory in whatever order the steps of
    loops come: no element is read after it was overwritten. In `copies` each element that is written is that
    of the read one as it is. The pairs in `read_before` may be the same memory as the kernel is written.
    `opaque` gives, for parameters whose address leaves what can be read here, the reason; they count as read
    and written. `differs` carries the kernel out on small numbers, where that is possible, and `repeated`
    says for which symbols one number tells of all; `read` reads its accesses, which stand in the text at
    `positions`, and `look` what is wrong inside it.
    """

    name: str
    parameters: tuple[KernelParameter, ...]
    reads: frozenset[int] = frozenset()
    writes: frozenset[int] = frozenset()
    whole_writes: Mapping[int, Boolean] = field(default_factory=dict)
    exact_writes: frozenset[int] = frozenset()
    elementwise: frozenset[tuple[int, int]] = frozenset()
    copies: frozenset[tuple[int, int]] = frozenset()
    read_before: frozenset[tuple[int, int]] = frozenset()
    first_reads: Mapping[int, bool] = field(default_factory=dict)
    opaque: Mapping[int, str] = field(default_factory=dict)
    lookups: tuple[Lookup, ...] = ()
    reductions: tuple[Reduction, ...] = ()
    differs: Differs | None = field(default=None, compare=False, repr=False)
    is_stub: bool = False
    """Whether the body does nothing at all, as that of a kernel which is still to be written."""
    read: Callable[[], KernelAccesses] = field(default=_nothing, compare=False, repr=False)
    positions: Positions = field(default_factory=NoPositions, compare=False, repr=False)
    look: Callable[[], Inside] = field(default=lambda: NOTHING, compare=False, repr=False)
    reshapes: Callable[[], bool] = field(default=lambda: False, compare=False, repr=False)
    repeated: Repeated = field(default=_none_repeated, compare=False, repr=False)
    lent: Mapping[int, bool] = field(default_factory=dict)
    """The parameters whose address goes to somebody else, who is told what for; True: to read only."""
    sure: Callable[[], Mapping[int, Boolean]] = field(default=dict, compare=False, repr=False)
    tried: Callable[[frozenset[int], frozenset[int]], Tried | None] = field(
        default=lambda *_: None, compare=False, repr=False
    )
    loads: Callable[[], frozenset[int]] = field(default=frozenset, compare=False, repr=False)
    """The parameters of which every element is loaded."""
    left: Callable[[int], Boolean] = field(default=lambda _: sympy.false, compare=False, repr=False)
    """When a call is certain to leave some element of a parameter that has elements as it was: true, false
    where nothing is known, or a condition on the kernel's symbols.
    """

    part_by_part: Callable[[], Parts] = field(default=Parts, compare=False, repr=False)

    @cached_property
    def parts(self) -> Parts:
        """What of each parameter is stored to at least, and what is loaded at most."""
        try:
            return self.part_by_part()
        except RecursionError:
            return Parts()

    @cached_property
    def sure_reads(self) -> Mapping[int, Boolean]:
        """The parameters that are read for sure where they have elements, each with the condition on the
        kernel's symbols.
        """
        try:
            return self.sure()
        except RecursionError:
            return {}

    @cached_property
    def unsure_reads(self) -> frozenset[int]:
        """The parameters that may not be read at all."""
        return frozenset(p for p in self.reads if self.sure_reads.get(p) != sympy.true)

    @cached_property
    def read_if(self) -> Mapping[int, Boolean]:
        """When some of these are read."""
        given = sorted(self.sure_reads.items())
        return {p: when for p, when in given if when not in (sympy.true, sympy.false)}

    def is_seen_in(
        self, parameter: int, outputs: frozenset[int], alike: frozenset[int] = frozenset()
    ) -> bool:
        """Whether what a parameter holds was seen to matter for what is stored to some of the others; those
        that are `alike` are given one tensor.
        """
        return self._try(outputs, alike, lambda tried: tried.is_seen(parameter))

    def is_each_seen_in(
        self, parameter: int, outputs: frozenset[int], alike: frozenset[int] = frozenset()
    ) -> bool:
        """Whether each element of a parameter matters for some of the others: was seen to, or is loaded."""
        return self._try(
            outputs,
            alike,
            lambda tried: (
                tried.is_each_seen(parameter) or (parameter in self.loads() and tried.is_large(parameter))
            ),
        )

    def is_large(self, parameter: int, outputs: frozenset[int], alike: frozenset[int] = frozenset()) -> bool:
        """Whether a parameter has too many elements for a trial to look at each one."""
        return self._try(outputs, alike, lambda tried: tried.is_large(parameter))

    def is_seen_in_each(self, parameter: int, output: int, alike: frozenset[int] = frozenset()) -> bool:
        """Whether each element of an output was seen to depend on what a parameter holds."""
        if self.whole_writes.get(output) != sympy.true:
            return False
        return self._try(frozenset((output,)), alike, lambda tried: tried.is_seen_in_each(parameter))

    def leaves(self, parameter: int) -> bool:
        """Whether something of a parameter that is written was seen to be left alone, at all sizes tried."""
        return self._try(frozenset((parameter,)), frozenset(), lambda tried: tried.is_left(parameter))

    def carry_out(self, given: Sequence[Given], *, is_sparse: bool) -> int | None:
        """Carry it out once on numbers and cells, each with the shape of a parameter, or only some steps of
        each long loop; how many steps that took, or None where it was not possible. Raises `Refused` where
        an assertion does not hold.
        """
        return self._ask(frozenset(), frozenset(), lambda tried: tried.carry_out(given, is_sparse=is_sparse))

    def _try(self, outputs: frozenset[int], alike: frozenset[int], asked: Callable[[Tried], bool]) -> bool:
        return bool(self._ask(outputs, alike, asked))

    def _ask(
        self, outputs: frozenset[int], alike: frozenset[int], asked: Callable[[Tried], T | None]
    ) -> T | None:
        """What a trial answers; None where the kernel is not tried, or nested too deeply."""
        try:
            tried = self.tried(outputs, alike)
            return None if tried is None else asked(tried)
        except RecursionError:
            return None

    @cached_property
    def is_reshape(self) -> bool:
        """Whether TVM finds that it only gives its first buffer another shape."""
        return self.reshapes()

    @cached_property
    def accesses(self) -> KernelAccesses:
        """Every access, and what is left to be shown for it to stay inside its buffer."""
        try:
            return self.read()
        except RecursionError:
            return KernelAccesses((), Terms(), (), (_TOO_DEEP,))

    @cached_property
    def inside(self) -> Inside:
        """What is wrong with its own buffers and its parallel loops."""
        return self.look()

    def place_of(self, access: KernelAccess) -> Location | None:
        """An access in the text of the kernel, where that is known."""
        alike = [
            other
            for other in self.accesses.accesses
            if other.node is not None
            and (other.buffer.name, other.writes) == (access.buffer.name, access.writes)
        ]
        if access not in alike:
            return None
        number = alike.index(access)
        return self.positions.access(
            self.name, access.buffer.name, writes=access.writes, number=number, of=len(alike)
        )

    def place_of_node(self, node: Any) -> Location | None:
        """The same of the node of an access."""
        accesses = self.accesses.accesses
        one = next((one for one in accesses if one.node is not None and one.node.same_as(node)), None)
        return None if one is None else self.place_of(one)
