"""What the stores of a kernel leave in a buffer: each value between two ends, or an element of a buffer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from relax_lint.model.kernel_access.polynomials import Poly
from relax_lint.support.lazy_dataclass import record

Ends: TypeAlias = "tuple[Poly, Poly]"
"""The least and the greatest that a value may be, as the call decides."""

Leaf: TypeAlias = "Ends | int"
"""One of the values that a store may store: between two ends, or what the buffer of this number holds."""

Stored: TypeAlias = "tuple[Leaf, ...] | None"
"""All that one store may store; None where that is not known."""

MAX_LEAVES = 16


@record(frozen=True)
class StoredValues:
    """What a kernel stores to a parameter: integers between the ends of one of `ranges`, in a call in which
    no polynomial of `steps` is negative and in each of `wraps` one is. None of `reductions` is negative
    where every reduction has a step.

    If it is `reached`, then the one range reaches from the smallest to the greatest element of a tensor that
    is not empty.
    """

    ranges: tuple[Ends, ...]
    wraps: tuple[tuple[Poly, ...], ...] = ()
    steps: tuple[Poly, ...] = ()
    reductions: tuple[Poly, ...] = ()
    reached: bool = False


def elements_of(roots: Iterable[int], stored: Mapping[int, Sequence[Stored]]) -> set[int]:
    """The buffers of which elements are stored, as they are, to some buffers."""
    leaves = (leaf for root in roots for one in stored.get(root, ()) for leaf in one or ())
    return {leaf for leaf in leaves if isinstance(leaf, int)}


def closure(
    root: int, stored: Mapping[int, Sequence[Stored]]
) -> tuple[frozenset[int], tuple[Ends, ...]] | None:
    """The buffers whose elements one may hold, itself included, and what was stored to any of them as it is;
    None where some of that is not known.
    """
    reached, todo = {root}, [root]
    found: dict[Ends, None] = {}
    while todo:
        for leaves in stored.get(todo.pop(), (None,)):
            if leaves is None:
                return None
            for leaf in leaves:
                if isinstance(leaf, tuple):
                    found[leaf] = None
                elif leaf not in reached:
                    reached.add(leaf)
                    todo.append(leaf)
    return frozenset(reached), tuple(found)
