"""Sure reads that a search from the end of the kernel backwards confirms, at some sizes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.intervals import Interval, Steps
from relax_lint.model.kernel_body.origin_reader import OriginReader, Unread
from relax_lint.model.kernel_body.origins import Element, Part, Search
from relax_lint.model.kernel_body.sure_reads import Shape, Sure

_SIZES = (1, 3, 2, 5, 17, 64, 100, 1000)
"""What symbols are, one after the other: all one number, or each by one larger than the one before it."""
_MOST_SIZES = 4
_APART = (1, 3)
"""What one symbol is while all others are the other."""
_MOST_APART = 3
"""Of so many symbols each one is tried as that."""
_DEPTHS = ((4, 600), (12, 3_000), (24, 6_000))
"""How far a search goes, and how much it looks at, one after the other."""
_WORK = 20_000
"""How much is looked at for one parameter at one size."""
_TRIED = 80
"""So many times steps are chosen whose elements are looked at."""


def confirmed(
    prim_func: Any,
    sure: Sure,
    reads: AbstractSet[int],
    written: Sequence[int],
    shapes: Sequence[Shape],
    symbols: Mapping[Any, sympy.Symbol],
    stays: Callable[[int], bool],
) -> Sure:
    """Those of the parameters in `reads` that are read for sure of which something comes to one that is
    `written` and is there in the end, at each of some sizes. Where that cannot be looked for, those of which
    all that is computed from them `stays`.
    Where there is one size only, the search finds those of all `reads` that are read for sure. `reads` are
    the parameters of which contents from before the call may be seen.
    """
    if not reads:
        return sure
    variables = prim_func.params[:]
    try:
        kept = [variables[one] for one in reads if one not in written]
        reader = OriginReader([*symbols, *variables], kept)
        body = reader.statement(prim_func.body)
        names = [reader.numbers.variable(var) for var in variables]
        sizes = {symbol: reader.numbers.variable(var) for var, symbol in symbols.items()}
        kernel = _Kernel(reader, body, names, [names[one] for one in written])
        # Of what else is loaded, such as a sum that the kernel begins itself, nothing from before is there to
        # find, and to find nothing takes the longest.
        said = {one: when for one, when in sure.items() if one in reads}
        if not sizes:
            said = dict.fromkeys(sorted(reads), sympy.true)
        given = {
            when: [_steps(one, sizes) for one in _given(when, shapes, list(sizes))]
            for when in dict.fromkeys(said.values())
        }
        return {
            one: when
            for one, when in said.items()
            if all(kernel.comes_from(one, steps) for steps in given[when])
        }
    except (Unread, RecursionError):
        return {one: when for one, when in sure.items() if stays(one)}


def _steps(given: Mapping[sympy.Symbol, int], names: Mapping[sympy.Symbol, int]) -> Steps:
    return {name: (given[symbol], given[symbol]) for symbol, name in names.items()}


def _given(
    when: Boolean, shapes: Sequence[Shape], symbols: Sequence[sympy.Symbol]
) -> Iterator[Mapping[Any, int]]:
    """Some sizes at which something is said to be read."""
    extents = {extent for shape in shapes for extent in shape or () if not extent.is_Atom}

    def admitted(given: Mapping[sympy.Symbol, int]) -> bool:
        return _holds(when, given) and all(_holds(sympy.Ge(one, 1), given) for one in extents)

    alike = (
        {symbol: size + number % 2 * place for place, symbol in enumerate(symbols)}
        for number, size in enumerate(_SIZES if symbols else (1,))
    )
    yield from islice(filter(admitted, alike), _MOST_SIZES)
    if 1 < len(symbols) <= _MOST_APART:
        for one, other in (_APART, _APART[::-1]):
            apart = ({symbol: one if symbol is odd else other for symbol in symbols} for odd in symbols)
            yield from filter(admitted, apart)


def _holds(condition: Boolean, given: Mapping[sympy.Symbol, int]) -> bool:
    if condition in (sympy.true, sympy.false):
        return bool(condition)
    try:
        return bool(condition.xreplace(given) == sympy.true)
    except (ArithmeticError, TypeError, ValueError):
        # Of a division by a size that is zero, say.
        return False


class _Kernel:
    """The body of a kernel. `names` are those of its parameters, `written` those of some of them."""

    def __init__(
        self,
        reader: OriginReader,
        body: Part,
        names: Sequence[int],
        written: Sequence[int],
    ) -> None:
        self._reader = reader
        self._body = body
        self._names = names
        self._written = written

    def comes_from(self, position: int, steps: Steps) -> bool:
        """Whether something in the end comes from what a parameter held at the beginning."""
        goal = self._reader.goal = self._names[position]

        work = _WORK
        for end in self._ends(steps):

            def at_start(element: Element, end: Element = end) -> bool:
                # Where nothing was stored in the element itself, nothing of what it held was read.
                return (element.memory == goal and element is not end) or element.found

            for depth, most in _DEPTHS:
                search = Search(depth, min(most, work))
                if self._body.after(end, steps, at_start, search):
                    return True
                work -= min(most, work) - search.work
                if work <= 0:
                    return False
        return False

    def _ends(self, steps: Steps) -> Iterator[Element]:
        """Elements that may be asked for: what is stored last, and others."""
        known = {Element(memory): None for memory in self._written}
        yield from known
        chance = random.Random(0)
        limits = sorted({one + shift for one in self._reader.numbers.constants for shift in (-1, 0, 1)})

        def choose(ends: Interval) -> int:
            inside = [one for one in limits if ends[0] <= one <= ends[1]]
            if inside and chance.random() < 0.4:
                return chance.choice(inside)
            return chance.choice((*ends, chance.randint(*ends)))

        for _ in range(_TRIED):
            for element in self._body.elements(steps, choose):
                if element.memory in self._written and element not in known:
                    known[element] = None
                    yield element
