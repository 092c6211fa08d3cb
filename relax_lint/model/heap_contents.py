"""What the slots of one shape heap hold at one point of a function, and what was last done to each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypeAlias

import sympy

from relax_lint.model.operations import OperationId, ValueId
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.quantity import Size


class Written(Enum):
    """On which paths something was written."""

    NEVER = "never"
    PERHAPS = "perhaps"
    ALWAYS = "always"


class Last(Enum):
    """What was last done to a slot on a path: it was written, or nothing since the allocation."""

    WRITTEN = "written"
    NOTHING = "nothing"


@record(frozen=True)
class Given:
    """Nothing was done to a slot since the call of `function`, which was given the heap as `parameter`, or as
    a field of it.
    """

    function: str
    parameter: ValueId
    fields: tuple[int, ...] = ()


Ways: TypeAlias = "frozenset[Last | Given]"
"""What may have been done last to a slot, over all paths."""

WRITTEN: Ways = frozenset({Last.WRITTEN})
UNWRITTEN: Ways = frozenset({Last.NOTHING})
UNSURE = WRITTEN | UNWRITTEN


def written_on(ways: Ways) -> Written:
    """On which paths a slot was written; what was given counts as written."""
    if Last.NOTHING not in ways:
        return Written.ALWAYS
    return Written.NEVER if ways == UNWRITTEN else Written.PERHAPS


@record(frozen=True)
class SlotAccess:
    """An operation reads or writes one slot of a shape heap of `slots` slots. `ways` says what was done to it
    before. `known`: it is a heap in this function, by its allocation or by a builtin that uses it as one.
    `given` are the parameters that the heap may be, and if `is_given` it is one of them.
    """

    op: OperationId
    heap: str
    slot: Size
    slots: Size
    writes: bool
    ways: Ways
    known: bool = True
    given: tuple[Given, ...] = ()
    is_given: bool = False

    @property
    def written(self) -> Written:
        """On which paths it was written before."""
        return written_on(self.ways)


@dataclass(frozen=True)
class Slot:
    """What one slot holds: a value, None where it is not known, or not on each path."""

    value: sympy.Expr | None
    ways: Ways


@dataclass(frozen=True)
class Contents:
    """The slots of one heap; `others` is what was done to those that are not listed."""

    others: Ways = UNWRITTEN
    slots: Mapping[int, Slot] = field(default_factory=dict)

    def slot(self, index: int) -> Slot:
        """One slot."""
        return self.slots.get(index) or Slot(None, self.others)

    def ways(self, index: int | None) -> Ways:
        """What was done to a slot; None is one whose number is not known."""
        if index is not None:
            return self.slot(index).ways
        found = self.others.union(*(slot.ways for slot in self.slots.values()))
        return found | WRITTEN if Last.NOTHING in found else found

    def value(self, index: int | None) -> sympy.Expr | None:
        """The value of a slot."""
        return None if index is None else self.slot(index).value

    def write(self, index: int, value: sympy.Expr | None) -> Contents:
        """The contents after a write of one slot."""
        return replace(self, slots={**self.slots, index: Slot(value, WRITTEN)})

    def write_perhaps(self, index: int, value: sympy.Expr | None) -> Contents:
        """The contents after a write of one slot, if it was of this heap."""
        old = self.slot(index)
        kept = old.value if old.value == value else None
        return replace(self, slots={**self.slots, index: Slot(kept, old.ways | WRITTEN)})

    def blur(self) -> Contents:
        """The contents after a write of a slot that is not known, or of several."""
        slots = {index: Slot(None, slot.ways | WRITTEN) for index, slot in self.slots.items()}
        return Contents(self.others | WRITTEN, slots)

    def join(self, other: Contents) -> Contents:
        """What holds behind two branches: a slot keeps its value where both give it the same."""
        slots = {
            index: _joined(self.slot(index), other.slot(index))
            for index in sorted({*self.slots, *other.slots})
        }
        return Contents(self.others | other.others, slots)

    def meet(self, after: Contents) -> Contents:
        """These contents behind a call of a function that perhaps did that to this heap."""
        slots = {
            index: Slot(None, self.ways(index) | WRITTEN)
            if Last.WRITTEN in after.ways(index)
            else self.slot(index)
            for index in sorted({*self.slots, *after.slots})
        }
        return Contents(self.others | WRITTEN if Last.WRITTEN in after.others else self.others, slots)

    def behind(self, before: Mapping[Given, Contents]) -> Contents:
        """What these contents at the end of a function are for the caller, by what it gave it."""
        indices = {index for contents in (self, *before.values()) for index in contents.slots}
        slots = {}
        for index in sorted(indices):
            ways = self.ways(index)
            given = next(iter(ways)) if len(ways) == 1 else None
            kept = before[given].value(index) if isinstance(given, Given) and given in before else None
            slots[index] = Slot(kept, _seen(ways, {one: each.ways(index) for one, each in before.items()}))
        others = _seen(self.others, {one: each.others for one, each in before.items()})
        return Contents(others, slots)


def _joined(one: Slot, other: Slot) -> Slot:
    return Slot(one.value if one.value == other.value else None, one.ways | other.ways)


def _seen(ways: Ways, before: Mapping[Given, Ways]) -> Ways:
    return frozenset[Last | Given]().union(
        *(before.get(way, UNSURE) if isinstance(way, Given) else (way,) for way in ways)
    )
