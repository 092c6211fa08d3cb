"""What the slots of shape heaps hold at one point of a function: a value for each path that leads there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import sympy

from relax_lint.model.operations import SlotAccess, ValueId, Written
from relax_lint.model.types import DType, TensorType, ValueType
from relax_lint.symbolic.quantity import Size, Unknown

_SLOT = DType("int64", 64)
_UNKNOWN_COUNT = Unknown("the number of slots of the shape heap is not known")


@dataclass(frozen=True)
class Slot:
    """What one slot holds: a value, None where it is not known. It is `certain` where each path writes it."""

    value: sympy.Expr | None
    certain: bool


@dataclass(frozen=True)
class Contents:
    """The slots of one heap. A slot that is not listed was not written, or where the contents are `blurred`
    perhaps by somebody who may write any slot.
    """

    slots: Mapping[int, Slot] = field(default_factory=dict)
    blurred: bool = False

    def read(self, index: int) -> tuple[sympy.Expr | None, Written]:
        """The value of a slot, and on which paths it was written."""
        slot = self.slots.get(index)
        if slot is None:
            return None, Written.PERHAPS if self.blurred else Written.NEVER
        return slot.value, Written.ALWAYS if slot.certain else Written.PERHAPS

    def write(self, index: int, value: sympy.Expr | None) -> Contents:
        """The contents after a write of one slot."""
        return replace(self, slots={**self.slots, index: Slot(value, True)})

    def blur(self) -> Contents:
        """The contents after a write of a slot that is not known, or of several."""
        return Contents({index: replace(slot, value=None) for index, slot in self.slots.items()}, True)

    def join(self, other: Contents) -> Contents:
        """What holds behind two branches: a slot keeps its value where both give it the same."""
        slots = {
            index: _joined(self.slots.get(index), other.slots.get(index))
            for index in sorted({*self.slots, *other.slots})
        }
        return Contents(slots, self.blurred or other.blurred)


def _joined(one: Slot | None, other: Slot | None) -> Slot:
    if one is None or other is None:
        return Slot(None, False)
    certain = one.certain and other.certain
    return Slot(one.value if certain and one.value == other.value else None, certain)


State = Mapping[ValueId, Contents]
"""The contents of every heap of a function."""


@dataclass
class Heaps:
    """The shape heaps of one function under all their names. One that escaped may be written by any call: the
    values of its slots are never known.
    """

    state: dict[ValueId, Contents] = field(default_factory=dict)
    accesses: list[SlotAccess] = field(default_factory=list)
    _roots: dict[ValueId, ValueId] = field(default_factory=dict)
    _counts: dict[ValueId, Size] = field(default_factory=dict)
    _escaped: set[ValueId] = field(default_factory=set)
    _fields: dict[ValueId, tuple[ValueId, ...]] = field(default_factory=dict)
    _given: set[ValueId] = field(default_factory=set)

    def inner(self) -> Heaps:
        """The heaps as an inner function sees them, which is called later, or several times."""
        roots = set(self._roots.values())
        blurred = {root: self.state[root].blur() for root in roots}
        counts, fields = dict(self._counts), dict(self._fields)
        return Heaps(blurred, [], dict(self._roots), counts, roots, fields, set(self._given))

    # -- names ---------------------------------------------------------------------------------

    def allocate(self, value: ValueId, count: Size) -> None:
        """A new heap; a null, which is passed where no slot is needed, has none."""
        self._roots[value] = value
        self._counts[value] = count
        self.state[value] = Contents()

    def rename(self, value: ValueId, source: ValueId) -> None:
        """`value` is `source` under another name."""
        if source in self._roots:
            self._roots[value] = self._roots[source]
        if source in self._fields:
            self._fields[value] = self._fields[source]

    def pack(self, value: ValueId, fields: tuple[ValueId, ...]) -> None:
        """A tuple."""
        self._fields[value] = fields

    def unpack(self, value: ValueId, source: ValueId, index: int) -> None:
        """A field of a tuple."""
        fields = self._fields.get(source, ())
        if index < len(fields):
            self.rename(value, fields[index])

    def meet_at(self, value: ValueId, then: ValueId, other: ValueId) -> None:
        """The result of an `If`: one of two values."""
        if then == other or (then in self._roots and self._roots[then] == self._roots.get(other)):
            self.rename(value, then)
        else:
            self.escape((then, other))

    def among(self, values: set[ValueId]) -> set[ValueId]:
        """The heaps among values, and inside tuples among them."""
        if not self._roots:
            return set()
        found, pending = set(), list(values)
        while pending:
            value = pending.pop()
            pending += self._fields.get(value, ())
            if value in self._roots:
                found.add(self._roots[value])
        return found

    def root(self, value: ValueId, type_: ValueType) -> ValueId:
        """The heap that a value is; one that was not allocated here has been written by somebody else."""
        if value not in self._roots:
            self.allocate(value, count_of(type_))
            self._given.add(value)
            self.escape((value,))
        return self._roots[value]

    def slots(self, root: ValueId) -> Size:
        """How many slots a heap has."""
        return self._counts[root]

    # -- contents ------------------------------------------------------------------------------

    def escape(self, values: tuple[ValueId, ...] | set[ValueId]) -> None:
        """Somebody else has the heaps among these values from now on, and may write them whenever it runs."""
        for root in self.among(set(values)):
            self._escaped.add(root)
            self.blur(root)

    def blur(self, root: ValueId) -> None:
        """Any slot of a heap may have been written."""
        self.state[root] = self.state[root].blur()

    def write(self, root: ValueId, index: int | None, value: sympy.Expr | None) -> None:
        """A slot is written; None is one whose number is not known."""
        known = None if root in self._escaped else value
        contents = self.state[root]
        self.state[root] = contents.blur() if index is None else contents.write(index, known)

    def read(self, root: ValueId, index: int | None) -> tuple[sympy.Expr | None, Written]:
        """The value of a slot, and on which paths it was written."""
        if root in self._given:
            return None, Written.ALWAYS
        return (None, Written.PERHAPS) if index is None else self.state[root].read(index)

    def join(self, one: dict[ValueId, Contents], other: dict[ValueId, Contents]) -> None:
        """Go on behind two branches, in which the contents came to be these."""
        empty = Contents()
        self.state = {root: one.get(root, empty).join(other.get(root, empty)) for root in {**one, **other}}


def type_of_heap(slots: sympy.Expr | None) -> TensorType:
    """The type of the heap that `alloc_shape_heap(slots)` makes."""
    return TensorType(None if slots is None else (slots,), _SLOT, 1)


def count_of(type_: ValueType) -> Size:
    """How many slots a heap of a type has."""
    if isinstance(type_, TensorType) and type_.dtype == _SLOT and type_.shape is not None:
        return sympy.Mul(*type_.shape)
    return _UNKNOWN_COUNT
