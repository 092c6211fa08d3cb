"""What is known at a point of a kernel: loops, conditions, values of variables, buffers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from relax_lint.model.kernel_access.accesses import KernelAccess, LoopRange, Obligation, Region
from relax_lint.model.kernel_access.conditions import Condition
from relax_lint.model.kernel_access.conversions import Conversions
from relax_lint.model.kernel_access.filled import Filled
from relax_lint.model.kernel_access.invariants import Guesses, Put
from relax_lint.model.kernel_access.layouts import (
    Buffer,
    MemoryPointer,
    narrow_claims,
)
from relax_lint.model.kernel_access.outside import Around, Claim, is_data, obligations
from relax_lint.model.kernel_access.polynomials import Poly, constant
from relax_lint.model.kernel_access.stored import Stored
from relax_lint.model.kernel_access.survey import Survey
from relax_lint.model.kernel_access.terms import Terms


class Scope:
    """What is known while a kernel is read: loops, conditions, values of variables, buffers."""

    def __init__(self, survey: Survey) -> None:
        self.terms = Terms()
        self.survey = survey
        self.accesses: list[KernelAccess] = []
        self.not_read: dict[str, None] = {}
        self.facts: tuple[Condition, ...] = ()
        self.sides: tuple[Condition, ...] = ()
        """The conditions left of each `and` or `or` that something stands right of, under `BOTH_SIDES`."""
        self.promises: tuple[tuple[Condition, str], ...] = ()
        self.nest: tuple[LoopRange, ...] = ()
        self.regions: tuple[Region, ...] = ()
        self._regions = 0
        self.allocated: dict[int, int | None] = {}
        """By buffer of the kernel: how many loops are around its allocation, None where TVM decides that."""
        self.known: dict[int, Any] = {}
        """The values of variables by their addresses."""
        self.buffers: dict[int, Buffer] = {}
        self.pointers: dict[int, MemoryPointer] = {}
        """The buffers whose memory variables point to, by the addresses of the variables."""
        self.wraps: list[Poly] = []
        self.wide: dict[Poly, None] = {}
        """The integers of 64 bits that must not have wrapped around for what is stored to be known."""
        self.unsure: set[int] = set()
        """The atoms that stand for arithmetic of at most 32 bits that may have wrapped around."""
        self.in_few_bits: set[int] = set()
        """Those of them that fewer bits, or a type without a sign, do not hold: TVM takes each for the number
        that it would be, and leaves out remainders and comparisons that this one makes superfluous.
        """
        self.unsigned: set[int] = set()
        """The atoms that stand for integers of 64 bits without a sign, which with one may be below zero."""
        self.unsure_roots: set[int] = set()
        """The kernel's own buffers that hold such numbers."""
        self.callee = ""
        self.contents: dict[int, tuple[Poly, Poly]] = {}
        """For each parameter bounds on the integers that it holds."""
        self._judged: dict[tuple[tuple[Claim, ...], Around], tuple[Obligation, ...]] = {}
        """What is left to be shown of claims: one expression may stand in many places."""
        self._lanes: dict[int, LoopRange] = {}
        self._lane_of: dict[Poly, Poly] = {}
        self._versions: dict[int, int] = {}
        self._loads: dict[tuple[Any, ...], Poly] = {}
        self.held: dict[int, tuple[float, float]] = {}
        """For each of the kernel's own buffers bounds on what is stored to it."""
        self.sources: dict[int, set[tuple[int, int] | None]] = {}
        """For each of them of which parameters its elements are copies, and what is added to them."""
        self.copied: Mapping[int, tuple[int, int]] = {}
        self.learned: Mapping[int, tuple[float, float]] = {}
        """What an earlier reading found to be held."""
        self.ends: dict[int, list[Stored]] = {}
        """For each buffer, of each store to it, what may be stored."""
        self.stores: Mapping[int, int] = {}
        """To how many stores an earlier reading came."""
        self.filled_with: dict[int, Filled] = {}
        """The buffers that one store fills with what the indices of the element decide."""
        self.origins: dict[int, set[int | None]] = {}
        """For each of them the buffers on which what is stored to it depends; None is data."""
        self.counted: frozenset[int] = frozenset()
        """Those that an earlier reading found to depend on no data."""
        self.handed: set[int] = set()
        """The buffers whose memory what the kernel calls may write."""
        self.shared: frozenset[int] = frozenset()
        """Those that an earlier reading found."""
        self.unwritten: frozenset[int] = frozenset()
        """Those that an earlier reading found to be loaded from where nothing may have been stored."""
        self.shown: Mapping[int, int] = {}
        """Whose memory each buffer shows, by its address: an earlier reading came to all declarations."""
        self._roots: dict[int, int] = {}
        self.conversions = Conversions()
        self.puts: list[Put] = []
        """What is stored to them."""
        self.guesses = Guesses({})
        """Bounds on what they hold that each store keeps, or that are tried out."""
        self.is_careful = False
        """Whether an expression is read again, for what is so whether or not 32 bits are enough."""
        self.tries = False
        """Whether guesses are tried out, and nothing else is asked."""
        self._wraps_of: dict[int, dict[tuple[Poly, ...], None]] = {}
        """For each parameter of integers that is stored to, the calls in which a value may wrap around."""
        self.beyond: dict[tuple[Poly, ...], None] = {}
        """Of all 32-bit arithmetic that may wrap around: what is not negative in the calls where it does."""
        self._reached: set[int] = set()
        """The parameters with a store whose value comes to both of its ends."""
        self.scalars: dict[tuple[int, tuple[Poly | None, ...]], Poly] = {}
        """What is known to stand in elements of the kernel's own buffers."""

    def region(self, other: Region | None = None, *, starts: bool = False) -> Region:
        """A part of the kernel that is entered here; `other` is the one that runs where it does not."""
        self._regions += 1
        beside = None if other is None else other.number
        return Region(self._regions, len(self.facts), len(self.nest), beside, starts)

    def unread(self, why: str) -> None:
        """Something of the kernel that nothing is said of."""
        self.not_read[why] = None

    def promise(self, condition: Condition, text: str) -> None:
        """What the kernel claims from here on, and nobody checks."""
        self.promises = (*self.promises, (condition, text))

    def bind(self, var: Any, value: Any) -> None:
        """From here on a variable has a value."""
        if value is None:
            dtype = str(getattr(var.ty, "dtype", ""))
            if not dtype.startswith(("int", "uint")):
                return
            value = self.terms.opaque(str(var.name))
        self.known[var.__chandle__()] = value

    def left_of(self, claims: Iterable[Claim], around: Around) -> tuple[Obligation, ...]:
        """What is left to be shown for claims."""
        key = tuple(claims), around
        found = self._judged.get(key)
        if found is None:
            found = self._judged[key] = obligations(self.terms, key[0], around)
        return found

    def may_wrap(self) -> bool:
        """Whether the 32-bit arithmetic that was read last may wrap around; it is settled then."""
        wraps, self.wraps = tuple(dict.fromkeys(self.wraps)), []
        return self.wraps_around(wraps)

    def wraps_around(self, values: Sequence[Poly]) -> bool:
        """Whether some values may be beyond 32 bits here."""
        return bool(self.wrapping(Around(self.facts, self._steps), values))

    def wrapping(self, around: Around, values: Sequence[Poly]) -> tuple[Obligation, ...]:
        """What is left to be shown for values to be within 32 bits."""
        left = self.left_of(narrow_claims(values), around) if values else ()
        self.beyond.update(dict.fromkeys(one.outside for one in left))
        return left

    def is_from_data(self, values: Iterable[Poly]) -> bool:
        """Whether a value was computed from data."""
        return is_data(self.terms, [atom for value in values for atom in value.atoms()])

    @property
    def _steps(self) -> tuple[int, ...]:
        """The atoms of the loops."""
        return tuple(
            number for loop in self.nest if loop.variable is not None for number in loop.variable.atoms()
        )

    def lane(self, lanes: Poly) -> Poly:
        """The lanes of a vector, as a loop; operations on vectors go lane by lane."""
        lane = self._lane_of.get(lanes)
        if lane is None:
            lane = self._lane_of[lanes] = self.terms.loop("lane", constant(0), lanes)
            (number,) = lane.atoms()
            self._lanes[number] = LoopRange("lanes", lane, constant(0), lanes)
        return lane

    def declare(self, var: Any) -> Buffer:
        """A buffer that nothing is known of but its type. `Expressions` overrides how extents are read."""
        raise NotImplementedError
