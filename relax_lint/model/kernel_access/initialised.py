"""When everything that is loaded from a kernel's own buffer was stored before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations, takewhile

from relax_lint.model.kernel_access.accesses import KernelAccess, LoopRange
from relax_lint.model.kernel_access.atoms import Kind
from relax_lint.model.kernel_access.conditions import AtLeastZero, Condition, Every, atoms_of, is_unread
from relax_lint.model.kernel_access.outside import reach
from relax_lint.model.kernel_access.polynomials import Poly
from relax_lint.model.kernel_access.terms import Terms
from relax_lint.support.lazy_dataclass import record

MAX_STORES = 16
"""So many stores to one buffer are looked at."""
_IN_ORDER = ("serial", "unrolled")


@record(frozen=True)
class Needs:
    """What must not be negative for all loads to see what was stored: by loops that must have a step, those
    that reduce apart.
    """

    steps: tuple[Poly, ...] = ()
    reductions: tuple[Poly, ...] = ()
    is_told: bool = True
    """Whether all of them are about reductions of blocks, of which RLX307 tells."""


def needs_of(terms: Terms, accesses: Sequence[KernelAccess], root: int, outer: int | None) -> Needs | None:
    """What the loads from a buffer of the kernel need; None where that is not known. Each step of the `outer`
    loops around its allocation makes it anew. Where that is None TVM allocates it as far inside as it can,
    but outside of the loops that blocks reduce.
    """
    own = [access for access in accesses if access.buffer.root == root]
    around = _common_loops(own) if outer is None else own[0].loops[:outer] if own else ()
    stores = [access for access in own if access.writes and not access.unread]
    steps: dict[Poly, None] = {}
    reductions: dict[Poly, None] = {}
    is_told = True
    if len(stores) > MAX_STORES:
        return None
    stores += _either(stores)
    for load in own:
        if load.writes:
            continue
        found = _covered(terms, load, stores, around, may_move=outer is None)
        if found is None:
            return None
        for loop in found:
            if loop.extent is None or not terms.is_static(loop.extent):
                return None
            need = loop.extent.shift(-1)
            if not terms.is_not_negative(need):
                starting = _starting(loop, stores)
                (reductions if starting else steps)[need] = None
                is_told = is_told and any(region.starts for store in starting for region in store.regions)
    return Needs(tuple(steps), tuple(reductions), is_told)


def _common_loops(accesses: Sequence[KernelAccess]) -> tuple[LoopRange, ...]:
    """The loops that are around all accesses."""
    nests = [access.loops for access in accesses]
    alike = takewhile(lambda loops: all(loop is loops[0] for loop in loops), zip(*nests, strict=False))
    return tuple(loops[0] for loops in alike)


def _covered(
    terms: Terms,
    load: KernelAccess,
    stores: Sequence[KernelAccess],
    around: Sequence[LoopRange],
    *,
    may_move: bool,
) -> tuple[LoopRange, ...] | None:
    """The loops that must have a step for some store to come before a load; None where that is not known."""
    known = []
    for store in stores:
        reduces = may_move and any(region.starts for region in store.regions)
        found = _before(terms, load, store, () if reduces else around)
        if found is not None:
            known.append(found)
    return min(known, key=len) if known else None


def _before(
    terms: Terms, load: KernelAccess, store: KernelAccess, around: Sequence[LoopRange]
) -> tuple[LoopRange, ...] | None:
    """The loops that must have a step for a store to fill what is loaded afterwards; those `around` its
    memory have a memory for each step.
    """
    if store.order > load.order or store.buffer.number != load.buffer.number:
        return None
    common = [loop for loop in store.loops if any(loop is other for other in load.loops)]
    inner = [loop for loop in store.loops if not any(loop is other for other in common)]
    if any(loop.variable is None for loop in inner):
        return None
    left = _not_filling(terms, load, store, inner)
    if left is None:
        return None
    # What holds where the part of the kernel is entered that both are in holds of both.
    more = [*_parts(store.conditions[_shared(store, load) :])]
    there = list(_parts(load.conditions))
    # Two conditions that cannot be read are not known to be one.
    more = [one for one in more if is_unread(one) or one not in there]
    first = [loop for condition in more if (loop := _first_step(condition, store))]
    if len(first) != len(more):
        return None
    moved = {atom for loop in first if loop.variable is not None for atom in loop.variable.atoms()}
    if any(loop is one for loop in around for one in first):
        return None
    used = {atom for index in store.where if index is not None for atom in index.atoms()}
    earlier = [loop for loop in first if any(loop is one for one in common)]
    if moved & used or any(loop.kind not in _IN_ORDER for loop in earlier):
        return None
    if earlier and not _holds_in_first_step(terms, store, earlier):
        return None
    return tuple(left)


def _shared(store: KernelAccess, load: KernelAccess) -> int:
    """How many conditions of a store hold wherever a later load in the same step comes."""
    for place, region in enumerate(store.regions):
        if place >= len(load.regions) or load.regions[place].number != region.number:
            return region.facts
    return len(store.conditions)


def _holds_in_first_step(terms: Terms, store: KernelAccess, earlier: Sequence[LoopRange]) -> bool:
    """Whether the conditions of a store are the same in the first step of some loops as in a later one."""
    depth = min(place for place, loop in enumerate(store.loops) if any(loop is one for one in earlier))
    inside = next((region.facts for region in store.regions if region.loops > depth), len(store.conditions))
    moved = {atom for loop in earlier if loop.variable is not None for atom in loop.variable.atoms()}
    for condition in _parts(store.conditions[inside:]):
        if _first_step(condition, store) is not None:
            continue
        atoms = reach(terms, atoms_of((condition,)))
        moves = any(terms[number].kind in (Kind.LOADED, Kind.OPAQUE) for number in atoms)
        if is_unread(condition) or moves or moved & atoms:
            return False
    return True


def _either(stores: Sequence[KernelAccess]) -> Iterator[KernelAccess]:
    """Stores to one element on both ways of a branch, as one store without its condition."""
    for one, other in permutations(stores, 2):
        if (
            one.regions
            and other.regions
            and other.regions[-1].other == one.regions[-1].number
            and (one.buffer.number, one.where) == (other.buffer.number, other.where)
            and len(one.loops) == len(other.loops) == one.regions[-1].loops
        ):
            before = other.regions[-1].facts
            yield replace(other, conditions=other.conditions[:before], regions=other.regions[:-1])


def _not_filling(
    terms: Terms, load: KernelAccess, store: KernelAccess, inner: Sequence[LoopRange]
) -> list[LoopRange] | None:
    """The inner loops of a store that only repeat it; None unless the others come to what is loaded."""
    left = list(inner)
    if store.fills:
        return left
    own = {atom for loop in inner if loop.variable is not None for atom in loop.variable.atoms()}
    for loaded, stored in zip(load.where, store.where, strict=True):
        if loaded is None or stored is None:
            return None
        if not stored.atoms() & own:
            if loaded != stored:
                return None
            continue
        loop = next((one for one in left if one.variable == stored), None)
        if loop is None or loop.first is None or loop.extent is None:
            return None
        last = loop.first + loop.extent.shift(-1)
        if not (terms.is_not_negative(loaded - loop.first) and terms.is_not_negative(last - loaded)):
            return None
        left.remove(loop)
    return left


def _parts(conditions: Sequence[Condition]) -> Iterator[Condition]:
    for condition in conditions:
        if isinstance(condition, Every):
            yield from _parts(condition.parts)
        else:
            yield condition


def _first_step(condition: Condition, store: KernelAccess) -> LoopRange | None:
    """The loop of whose first step a condition is a part."""
    if not isinstance(condition, AtLeastZero):
        return None
    for loop in store.loops:
        if loop.variable is None or loop.first is None:
            continue
        if condition.value in (loop.variable - loop.first, loop.first - loop.variable):
            return loop
    return None


def _starting(loop: LoopRange, stores: Sequence[KernelAccess]) -> list[KernelAccess]:
    """The stores that are made in the first step of a loop only."""
    if loop.variable is None or loop.first is None:
        return []
    first = AtLeastZero(loop.first - loop.variable)
    return [store for store in stores if loop in store.loops and first in list(_parts(store.conditions))]
