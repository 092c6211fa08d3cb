"""Sure reads that a search from the end of the kernel backwards confirms, at all sizes: these are left open,
or told apart into cases that are all of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.growing import Growing, Whole
from relax_lint.model.kernel_body.intervals import Interval, Steps
from relax_lint.model.kernel_body.open_sizes import Case, bounds_of, confirmed_where
from relax_lint.model.kernel_body.origin_reader import OriginReader, Unfound, Unread
from relax_lint.model.kernel_body.origins import Element, Part, Search
from relax_lint.model.kernel_body.sure_reads import Shape, Sure

_DEPTHS = ((4, 600), (12, 3_000), (24, 6_000))
"""How far a search goes, and how much it looks at, one after the other."""
_WORK = 20_000
"""How much is looked at for one parameter where there is one size only."""
_WORK_OF_A_CASE = 6_000
"""How much is looked at for one parameter and a case of sizes."""
_WORK_OF_ALL = 10_000
"""How much is looked at for one parameter in all cases."""
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
    ends: Sequence[int] | None = None,
) -> Sure:
    """Those of the parameters in `reads` that are read for sure of which something comes to one that is
    `written` and is there in the end, with the sizes at which that is so. Where that cannot be looked for,
    those of which all that is computed from them `stays`. Where there is one size only, the search finds
    those of all `reads` that are read for sure. `reads` are the parameters of which contents from before the
    call may be seen, `ends` those of the `written` ones that somebody looks at afterwards, if not all.
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
        kernel = _Kernel(reader, body, names, [names[one] for one in (written if ends is None else ends)])
        # Of what else is loaded, such as a sum that the kernel begins itself, nothing from before is there to
        # find, and to find nothing takes the longest.
        said = {one: when for one, when in sure.items() if one in reads}
        if not sizes:
            return {one: sympy.true for one in sorted(reads) if kernel.comes_from(one, {}, _WORK)}
        return {
            one: confirmed
            for one, when in said.items()
            if (confirmed := _confirmed_for(one, when, kernel, shapes, sizes)) != sympy.false
        }
    except Unfound:
        return {}
    except (Unread, RecursionError):
        return {one: when for one, when in sure.items() if stays(one)}


def _confirmed_for(
    one: int, when: Boolean, kernel: _Kernel, shapes: Sequence[Shape], sizes: Mapping[sympy.Symbol, int]
) -> Boolean:
    """When something comes from a parameter that is said to be read under a condition."""
    left = _WORK_OF_ALL

    def holds(case: Case) -> bool:
        nonlocal left
        most = min(left, _WORK_OF_A_CASE)
        steps = {sizes[symbol]: ends for symbol, ends in case.items()}
        found = most > 0 and kernel.comes_from(one, steps, most)
        left -= kernel.work
        return found

    found: list[Boolean] = []
    for way in sympy.Or.make_args(when):
        bounds = bounds_of(way, sizes, [shape or () for shape in shapes], one)
        found.append(confirmed_where(way, bounds, kernel.constants, holds))
    return sympy.Or(*found)


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
        self.work = 0

    @property
    def constants(self) -> AbstractSet[int]:
        """The constants of its expressions."""
        return self._reader.numbers.constants

    def comes_from(self, position: int, steps: Steps, most: int) -> bool:
        """Whether something in the end comes from what a parameter held at the beginning, as far as `most`
        tells that is looked at; `work` says afterwards how much was.
        """
        goal, parameters = self._names[position], frozenset(self._names)
        self._reader.goal = goal
        self.work = 0
        for end in self._ends(steps):

            def at_start(element: Element, end: Element = end) -> bool:
                # Where nothing was stored in the element itself, nothing of what it held was read. What was
                # stored in another one of a parameter it is not, where nobody knows which element it is.
                if element.memory in parameters:
                    return element.memory == goal and element is not end
                return element.found

            for depth, work in _DEPTHS:
                allowed = min(work, most - self.work)
                search = Search(depth, allowed)
                found = self._body.after(end, steps, at_start, search)
                self.work += allowed - search.work
                if found:
                    return True
                if self.work >= most:
                    return False
        return False

    def _ends(self, steps: Steps) -> Iterator[Element]:
        """Elements that may be asked for: what is stored last, and others."""
        known = {Element(memory): None for memory in self._written}
        yield from known
        chance = random.Random(0)
        limits: list[Whole] = [*sorted({one + shift for one in self.constants for shift in (-1, 0, 1)})]
        limits += [ends[0] for ends in steps.values() if ends is not None and isinstance(ends[0], Growing)]

        def choose(ends: Interval) -> Whole:
            inside = [one for one in limits if ends[0] <= one <= ends[1]]
            if inside and chance.random() < 0.4:
                return chance.choice(inside)
            first, last = ends
            if isinstance(first, int) and isinstance(last, int):
                return chance.choice((first, last, chance.randint(first, last)))
            return chance.choice(ends)

        for _ in range(_TRIED):
            for element in self._body.elements(steps, choose):
                if element.memory in self._written and element not in known:
                    known[element] = None
                    yield element
