"""Where the bytes of a value are, as far as it matters for what else may lie there."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

from relax_lint.model.operations import ValueId
from relax_lint.support.lazy_dataclass import record

if TYPE_CHECKING:
    from relax_lint.totals.frame import Frame

Register: TypeAlias = "tuple[Frame, ValueId]"


class Outside(Enum):
    """Memory that is the same for all functions of a program."""

    CONSTANTS = "constants"


@record(frozen=True)
class Given:
    """What the function that is asked about gets: any tensors of one dtype and rank may be one tensor. None:
    those whose type does not say what they are.
    """

    kind: tuple[str, int] | None


Place: TypeAlias = "int | Register | Outside | Given"
"""An allocation by number, a value that is memory of its own, or what comes from outside."""


@record(frozen=True)
class Known:
    """What somebody who is not known may have kept, or (`returned`) may have had and given back, in a frame
    (None: in some other one). Inside of one frame it is told apart what may be what.
    """

    frame: Frame | None
    returned: bool


@record(frozen=True)
class Memory:
    """The `places` of the bytes of a value, and others that `perhaps` are the same: what may be one of them
    need not be another one. `known` are those to somebody who is not.
    """

    places: frozenset[Place] = frozenset()
    perhaps: frozenset[Place] = frozenset()
    known: frozenset[Known] = frozenset()

    def meets(self, other: Memory) -> bool:
        """Whether two values may share bytes."""
        if not self.places.isdisjoint(other.places):
            return True
        if not self.places.isdisjoint(other.perhaps) or not self.perhaps.isdisjoint(other.places):
            return True
        return any(
            (one.returned or another.returned) and one.frame is not another.frame
            for one, another in product(self.known, other.known)
        )

    def only_perhaps(self) -> Memory:
        """That of something that is perhaps the same."""
        return Memory(perhaps=self.places)


def together(memories: Iterable[Memory]) -> Memory:
    """That of several values."""
    places, perhaps, known = set[Place](), set[Place](), set[Known]()
    for memory in memories:
        places |= memory.places
        perhaps |= memory.perhaps
        known |= memory.known
    return Memory(frozenset(places), frozenset(perhaps), frozenset(known))
