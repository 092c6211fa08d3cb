"""The peak of the live bytes of a walk, and of the bytes that an allocator holds for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

import sympy
from sympy.logic.boolalg import And, Boolean

from relax_lint.model.operations import OperationId
from relax_lint.model.sizes import effective_capacity
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.functions import FloorDiv, Select
from relax_lint.totals.formula import Sizes, Sum, greatest, reaches, total, undominated
from relax_lint.totals.quantities import Indeterminate, Quantity
from relax_lint.totals.walk import Allocation, Walk
from relax_lint.vm.allocators import Allocator

MAX_COINCIDENCES = 4
"""Cases that the formula of the pooled allocator may distinguish."""


@record(frozen=True)
class Peak:
    """The largest sum of bytes alive at one time; `place` is the allocation that reaches it, where
    that does not depend on symbols.
    """

    size: Quantity
    place: OperationId | None


def peak(
    walks: Iterable[Walk],
    positive: frozenset[sympy.Symbol],
    counts: Callable[[Allocation], bool] = lambda allocation: True,
) -> Peak:
    """The peak over all paths of the allocations that count."""
    walks = list(walks)
    sizes = Sizes(a.size for walk in walks for a in walk.allocations if counts(a))
    reached: dict[Sum, OperationId | None] = {}
    for walk in walks:
        for parts, place in _maxima(walk, sizes, counts):
            reached.setdefault(parts, place)
    if not reached:
        return Peak(0, None)
    kept = undominated(reached)
    places = {sizes.quantity(parts): reached[parts] for parts in kept}
    most = greatest(places, positive)
    return Peak(most, places.get(most))


def _maxima(
    walk: Walk, sizes: Sizes, counts: Callable[[Allocation], bool]
) -> Iterable[tuple[Sum, OperationId | None]]:
    """The local maxima of the live sums: after the last allocation before memory is freed."""
    weights = [
        (sizes.index(a.size), a.size if isinstance(a.size, int) else 1) if counts(a) else (0, 0)
        for a in walk.allocations
    ]
    live = [0] * (len(sizes.symbolic) + 1)
    rising: OperationId | None = None
    has_risen = False
    for event in walk.events:
        if event > 0:
            index, weight = weights[event - 1]
            live[index] += weight
            if weight:
                rising, has_risen = walk.allocations[event - 1].place, True
        else:
            if has_risen:
                yield tuple(live), rising
                has_risen = False
            index, weight = weights[-event - 1]
            live[index] -= weight
    if has_risen:
        yield tuple(live), rising


def pooled(walks: Iterable[Walk], page_size: int, positive: frozenset[sympy.Symbol]) -> Quantity:
    """Bytes that the pooled allocator obtains from the device, starting from an empty pool.

    It never gives anything back and reuses a free buffer only for exactly the same rounded size, so it
    obtains, for each rounded size, as many buffers as are alive at one time. Raises Indeterminate where that
    depends on which symbolic sizes happen to be equal in a way too involved to write down.
    """
    return greatest((_pooled_path(walk, page_size, positive) for walk in walks), positive)


def rounded(size: Quantity, page_size: int) -> Quantity:
    """A size in whole pages."""
    if isinstance(size, int):
        return int(Allocator.POOLED.obtains(size, page_size))
    return effective_capacity(Allocator.POOLED, size, page_size)


def _pooled_path(walk: Walk, page_size: int, positive: frozenset[sympy.Symbol]) -> Quantity:
    """Every device has a pool of its own."""
    devices = sorted({allocation.device for allocation in walk.allocations})
    return total(_pool(walk, device, page_size, positive) for device in devices)


def _pool(walk: Walk, device: int, page_size: int, positive: frozenset[sympy.Symbol]) -> Quantity:
    sizes = [rounded(a.size, page_size) if a.device == device else None for a in walk.allocations]
    classes = [size for size in dict.fromkeys(sizes) if size is not None]
    profile = _Profile(walk.events, sizes, classes)
    symbolic = [size for size in classes if not isinstance(size, int)]
    if not symbolic or profile.peaks_together(classes):
        return total(size * profile.most(size) for size in classes)
    return _with_coincidences(profile, classes, page_size, positive)


def _with_coincidences(
    profile: _Profile, classes: Sequence[Quantity], page_size: int, positive: frozenset[sympy.Symbol]
) -> Quantity:
    """Two sizes that may be equal for some values share their buffers there."""
    apart = total(size * profile.most(size) for size in classes)
    mergeable = [(a, b) for a, b in combinations(classes, 2) if _may_be_equal(a, b, page_size, positive)]
    conflicts = [pair for pair in mergeable if not profile.peaks_together(pair)]
    involved = list(dict.fromkeys(size for pair in mergeable for size in pair))
    if not conflicts and profile.peaks_together(involved):
        return apart
    symbolic = [size for size in involved if not isinstance(size, int)]
    if len(symbolic) == 1 and len(conflicts) <= MAX_COINCIDENCES:
        (varying,) = symbolic
        return apart - _saved(
            profile, varying, [min(pair, key=_is_symbolic) for pair in conflicts], page_size
        )
    raise Indeterminate("which buffers the pool reuses depends on which symbolic sizes are equal")


def _is_symbolic(size: Quantity) -> bool:
    return not isinstance(size, int)


def _saved(
    profile: _Profile, varying: sympy.Expr, constants: Iterable[Quantity], page_size: int
) -> sympy.Expr:
    """Bytes that are not obtained where a size equals one of some constant ones; it equals one at most."""
    saved = sympy.Integer(0)
    for constant in sorted(map(int, constants), reverse=True):
        spare = profile.most(varying) + profile.most(constant) - profile.most(varying, constant)
        where = _quotient_is(varying / page_size, constant // page_size)
        saved = Select(where, sympy.Integer(constant * spare), saved)
    return saved


def _quotient_is(pages: sympy.Expr, count: int) -> Boolean:
    """The condition `pages == count`, as a range of the symbol where `pages` is `(a*n + c)//d`."""
    symbols = sorted(pages.free_symbols, key=str)
    if len(symbols) != 1 or not isinstance(pages, FloorDiv) or not pages.args[1].is_Integer:
        return sympy.Eq(pages, count)
    (symbol,) = symbols
    factor, rest = pages.args[0].coeff(symbol), pages.args[0].coeff(symbol, 0)
    if not factor.is_Integer or factor <= 0 or pages.args[0] != factor * symbol + rest:
        return sympy.Eq(pages, count)
    a, c, d = int(factor), int(rest), int(pages.args[1])
    low, high = -((c - d * count) // a), (d * count + d - 1 - c) // a
    if low == high:
        return sympy.Eq(symbol, low)
    return And(symbol >= low, symbol <= high) if low < high else sympy.false


def _may_be_equal(a: Quantity, b: Quantity, page_size: int, positive: frozenset[sympy.Symbol]) -> bool:
    if isinstance(a, int) and isinstance(b, int):
        return False
    one, other = sympy.sympify(a), sympy.sympify(b)
    apart = reaches(one, other + page_size, positive) or reaches(other, one + page_size, positive)
    return not apart


class _Profile:
    """How many buffers of each rounded size are alive over time. Allocations without a size do not count."""

    def __init__(
        self, events: Sequence[int], sizes: Sequence[Quantity | None], classes: Sequence[Quantity]
    ) -> None:
        self._position = {size: i for i, size in enumerate(classes)}
        self._of = [-1 if size is None else self._position[size] for size in sizes]
        self._events = events
        self._most: dict[tuple[int, ...], int] = {}

    def most(self, *classes: Quantity) -> int:
        """The largest number of buffers of these sizes that are alive at one time."""
        key = tuple(sorted(self._position[size] for size in classes))
        if key not in self._most:
            self._most[key] = self._count(frozenset(key))
        return self._most[key]

    def peaks_together(self, classes: Iterable[Quantity]) -> bool:
        """Whether at one moment each of the sizes has as many buffers as it ever has."""
        classes = list(classes)
        return self.most(*classes) == sum(self.most(size) for size in classes)

    def _count(self, members: frozenset[int]) -> int:
        live = highest = 0
        for event in self._events:
            if self._of[abs(event) - 1] in members:
                live += 1 if event > 0 else -1
                highest = max(highest, live)
        return highest
