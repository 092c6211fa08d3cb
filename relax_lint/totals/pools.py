"""The bytes that the pooled allocator holds for a walk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import sympy
from sympy.logic.boolalg import And, Boolean

from relax_lint.symbolic.functions import FloorDiv, Select
from relax_lint.totals.cases import by_cases
from relax_lint.totals.formula import greatest, reaches, total
from relax_lint.totals.peaks import require_known, scopes_of
from relax_lint.totals.pool_profile import Profile, pools_of, profile_of
from relax_lint.totals.quantities import Indeterminate, Quantity
from relax_lint.totals.walk import Events, Pool
from relax_lint.vm.scopes import SHARED_BUFFER_BYTES, refused_by_pool

MAX_COINCIDENCES = 4
"""Cases that the formula of the pooled allocator may distinguish."""
COINCIDENCES = "which buffers the pool reuses depends on which symbolic sizes are equal"


def pooled(walks: Iterable[Events], page_size: int, positive: frozenset[sympy.Symbol]) -> Quantity:
    """Bytes that the pooled allocator obtains from the device, starting from an empty pool.

    It never gives anything back and reuses a free buffer only for exactly the same rounded size, so it
    obtains, for each rounded size, as many buffers as are alive at one time. Raises Indeterminate where that
    depends on which symbolic sizes happen to be equal in a way too involved to write down, or where it is not
    known what a storage takes.
    """
    walks = list(walks)
    require_pooled(walks)

    def of_case(alike: list[Events]) -> Quantity:
        return greatest((_pooled_path(walk, page_size, positive) for walk in alike), positive)

    return by_cases(walks, of_case)


def require_pooled(walks: Iterable[Events]) -> None:
    """Raises Indeterminate where the pool refuses a storage, or it is not known what one of them takes."""
    walks = list(walks)
    refused = sorted(scope for walk in walks for scope in scopes_of(walk) if refused_by_pool(scope))
    if refused:
        raise Indeterminate(f"the pooled allocator refuses scope `{refused[0]}`")
    require_known(walks)


def is_pooled(walks: Iterable[Events]) -> bool:
    """Whether `require_pooled` raises nothing."""
    try:
        require_pooled(walks)
    except Indeterminate:
        return False
    return True


def _pooled_path(walk: Events, page_size: int, positive: frozenset[sympy.Symbol]) -> Quantity:
    """Every device has a pool of its own."""
    return total(_pool(walk, pool, page_size, positive) for pool in sorted(pools_of(walk)))


def _pool(walk: Events, pool: Pool, page_size: int, positive: frozenset[sympy.Symbol]) -> Quantity:
    profile = profile_of(walk, pool, page_size)
    symbolic = [size for size in profile.classes if not isinstance(size, int)]
    if not symbolic or profile.peaks_together(profile.classes):
        besides = SHARED_BUFFER_BYTES if pool[1] else 0
        return total((size + besides) * profile.most(size) for size in profile.classes)
    if pool[1]:
        raise Indeterminate(COINCIDENCES)
    return _with_coincidences(profile, profile.classes, page_size, positive)


def _with_coincidences(
    profile: Profile, classes: Sequence[Quantity], page_size: int, positive: frozenset[sympy.Symbol]
) -> Quantity:
    """Two sizes that may be equal for some values share their buffers there."""
    apart = total(size * profile.most(size) for size in classes)
    mergeable = [(a, b) for a, b in combinations(classes, 2) if may_be_equal(a, b, page_size, positive)]
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
    raise Indeterminate(COINCIDENCES)


def _is_symbolic(size: Quantity) -> bool:
    return not isinstance(size, int)


def _saved(
    profile: Profile, varying: sympy.Expr, constants: Iterable[Quantity], page_size: int
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


def may_be_equal(a: Quantity, b: Quantity, page_size: int, positive: frozenset[sympy.Symbol]) -> bool:
    """Whether two different sizes in whole pages are the same for some values of the symbols."""
    if isinstance(a, int) and isinstance(b, int):
        return False
    one, other = sympy.sympify(a), sympy.sympify(b)
    apart = reaches(one, other + page_size, positive) or reaches(other, one + page_size, positive)
    return not apart
