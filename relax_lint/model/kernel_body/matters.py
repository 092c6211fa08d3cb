"""Whether what a parameter held before a kernel matters for what it stores: tried at small sizes, with
several contents, in the machine's arithmetic.

What is loaded for sure may still be of no use: in `x & 0`, in `x % n` where `n` is 1, or where it tells where
to store a number that is there already. Of a kernel that is too large to be tried only some steps of each
loop are. Where it does what is not carried out here, nothing is said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, TypeAlias

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.cells import ENDS_A_TRIAL, Declined, Memory, Outside, Refused, Spent
from relax_lint.model.kernel_body.drawn import KINDS, Drawn
from relax_lint.model.kernel_body.kept import kept_by
from relax_lint.model.kernel_body.machine import ASKS_FOR_NAN, Cells, MachineCompiler, Run

Sizes: TypeAlias = "Mapping[sympy.Symbol, int]"
Given: TypeAlias = "int | tuple[Cells, tuple[int, ...]]"

_MOST_STEPS = 6_000
_MOST_CARRIED = 20_000
"""The same where loops carry values round."""
_MOST_ELEMENTS = 1_000
_USUAL_WORK, _MOST_WORK = 800, 30_000
"""So many steps are gone in a kernel as long as all that is tried matters, and where something does not."""
_TRIALS = 40
"""With so many contents of all other parameters it is asked whether one matters: some of them may hide it."""
_ENOUGH = 3
"""So many of them have to agree that it does not."""
_SMALL = (1, 2, 3)
_OTHERS = (5, 0, 8, 2, 4)
"""Sizes that are tried, the small ones first and each with each; then the others, and both together."""
_MOST_POINTS = 9
"""At so many sizes at most a kernel is tried, at twice as many where it always leaves its memory."""
_LARGEST = 64
_MANY = 256
"""Where loops carry values round, this size is tried too: halved so often every number is zero."""
_MOST_APART = 32
"""Of so many elements at most each one is looked at."""
_REFUSED: list[Cells] = []
"""What a run stores that an assertion ends: nobody sees it."""


class Matters:
    """One PrimFunc. `symbols` are what its variables are called elsewhere, `written` the positions of the
    parameters that it stores to, and that are looked at. Those that are `alike` are given one tensor.
    """

    def __init__(
        self,
        prim_func: Any,
        shapes: Sequence[tuple[sympy.Expr, ...] | None],
        symbols: Mapping[Any, sympy.Symbol],
        written: Sequence[int],
        alike: Iterable[int] = (),
    ) -> None:
        self._prim_func = prim_func
        self._alike = frozenset(alike)
        self._shapes = shapes
        self._symbols = symbols
        self._written = written
        self._compiler = MachineCompiler()
        self._body: Any = None
        self._keeps: list[Any] = []
        self._spent = 0
        self._known: dict[Any, list[Cells] | None] = {}
        self._drawn = Drawn()
        self._is_declined = False

    def where(self, position: int, when: Boolean) -> Boolean:
        """That part of a condition on sizes under which something was not seen to be of no matter."""
        seen: dict[tuple[tuple[sympy.Symbol, int], ...], bool | None] = {}
        for sizes in self._points(position, when):
            answers = set(seen.values())
            # Each size is a small one in one of the first points.
            is_usual = len(seen) >= len(_SMALL) and answers <= {True, None} and True in answers
            if seen and self._spent > (_USUAL_WORK if is_usual else _MOST_WORK):
                break
            if len(seen) >= _MOST_POINTS and answers != {None}:
                break
            seen[tuple(sizes.items())] = self._at(position, sizes)
            if self._is_declined:
                break
        seen.update((tuple(sizes.items()), self._at(position, sizes)) for sizes in self._many(position, when))
        wrong = [dict(sizes) for sizes, found in seen.items() if found is False]
        if not wrong:
            return when
        # Most often it is the smallest size at which all comes to one.
        for symbol in wrong[0]:
            end = max(sizes[symbol] for sizes in wrong) + 1
            if sum(found is True and dict(sizes)[symbol] >= end for sizes, found in seen.items()) > 1:
                region = sympy.And(when, sympy.Ge(symbol, end))
                return region if self._holds_at_the_end(position, region, symbol, end) else sympy.false
        return sympy.false

    def _holds_at_the_end(self, position: int, region: Boolean, symbol: sympy.Symbol, end: int) -> bool:
        """Whether it was not seen to be of no matter where one symbol is the smallest one of a region and the
        others are larger than that.
        """
        points = (
            {**dict.fromkeys(self._sorted_symbols, size), symbol: end} for size in (2 * end + 1, 4 * end + 3)
        )
        possible = (sizes for sizes in points if self._is_possible(position, region, sizes))
        return all(self._at(position, sizes) is not False for sizes in possible)

    def is_seen(self, position: int) -> bool:
        """Whether it was seen to matter, at each of the first sizes at which that was found out."""
        return {self._at(position, sizes) for sizes in self._first_points(position)} - {None} == {True}

    def is_each_seen(self, position: int) -> bool:
        """Whether each element of it was seen to matter, at each of the first sizes; not if it is large."""
        counts = list(self._counts(position))
        return bool(counts) and all(
            count <= _MOST_APART and all(self._differs(position, sizes, cell) for cell in range(count))
            for sizes, count in counts
        )

    def is_large(self, position: int) -> bool:
        """Whether it has too many elements to look at each one."""
        return any(count > _MOST_APART for _, count in self._counts(position))

    def _counts(self, position: int) -> Iterator[tuple[Sizes, int]]:
        """How many elements it has at each of the first sizes."""
        for sizes in islice(self._points(position, sympy.true), len(_SMALL)):
            yield sizes, math.prod(_extents(self._shapes[position] or (), sizes))

    def is_seen_in_each(self, position: int) -> bool:
        """Whether each element that is stored was seen to depend on it, at each of the first sizes: where
        those are too large to be tried, each that was stored in some of the steps.
        """
        points = list(self._first_points(position))
        return bool(points) and all(self._is_in_each(position, sizes) for sizes in points)

    def is_left(self, position: int) -> bool:
        """Whether something of the one parameter that is looked at was left alone, at each of the first
        sizes and with each of some contents.
        """
        shape, found = self._shapes[position] or (), list[bool]()
        for sizes in islice(self._points(position, sympy.true), len(_SMALL)):
            for trial in range(KINDS):
                try:
                    stored = self._begun(sizes, trial, is_sparse=False)
                except ENDS_A_TRIAL:
                    return False
                if stored is _REFUSED:
                    continue
                count = math.prod(_extents(shape, sizes))
                found.append(stored is not None and len(stored[0].stored | stored[0].chosen) < count)
        return bool(found) and all(found)

    def carry_out(self, given: Sequence[Given], *, is_sparse: bool) -> int | None:
        """Carry it out once on these numbers and these cells, each with the shape of a parameter, or only
        some steps of each long loop; how many steps that took, or None where it was not possible. Raises
        `Refused` where an assertion does not hold.
        """
        sizes: dict[sympy.Symbol, int] = {}
        buffers: dict[Any, Memory] = {}
        for variable, shape, one in zip(self._prim_func.params, self._shapes, given, strict=True):
            if isinstance(one, int):
                if shape is not None or variable not in self._symbols:
                    return None
                sizes[self._symbols[variable]] = one
                continue
            cells, extents = one
            if shape is None or len(shape) != len(extents):
                return None
            held: Any = cells
            sizes.update((one, extent) for one, extent in zip(shape, extents, strict=True) if one.is_Symbol)
            buffers[variable] = Memory(held, 0, extents)
        try:
            if self._body is None:
                self._compile()
            # The offset of a buffer is no size: the cells begin where it does.
            scalars = {var: sizes[symbol] for var, symbol in self._symbols.items() if symbol in sizes}
            run = Run(scalars, buffers, self._most_steps)
            run.is_sparse = is_sparse
            self._body(run)
        except ENDS_A_TRIAL:
            return None
        return self._most_steps - run.steps

    def _first_points(self, position: int) -> Iterator[Sizes]:
        """Small sizes at which a parameter has elements, and a large one where loops carry values round."""
        yield from islice(self._points(position, sympy.true), len(_SMALL))
        yield from self._many(position, sympy.true)

    def _many(self, position: int, when: Boolean) -> Iterator[Sizes]:
        """The large size, where it makes a difference and a condition holds."""
        symbols = self._sorted_symbols
        sizes = dict.fromkeys(symbols, _MANY)
        if symbols and self._carries() and self._is_possible(position, when, sizes):
            yield sizes

    @property
    def _sorted_symbols(self) -> list[sympy.Symbol]:
        return sorted(dict.fromkeys(self._symbols.values()), key=lambda one: str(one.name))

    def _points(self, position: int, when: Boolean) -> Iterator[Sizes]:
        """Sizes at which a condition holds and a parameter has elements."""
        symbols = self._sorted_symbols
        own = {int(one) for one in when.atoms(sympy.Integer)}
        beyond = sorted(one + more for one in own for more in (0, 1) if _SMALL[-1] < one < _LARGEST)
        some = (_SMALL, (*_OTHERS, *beyond), (*_SMALL, *_OTHERS, *beyond))
        turns = chain.from_iterable(_in_turn(numbers, len(symbols)) for numbers in some)
        possible = (
            sizes
            for point in dict.fromkeys(turns)
            if self._is_possible(position, when, sizes := dict(zip(symbols, point, strict=True)))
        )
        yield from islice(possible, 2 * _MOST_POINTS)

    def _is_possible(self, position: int, when: Boolean, sizes: Sizes) -> bool:
        try:
            if when.xreplace(sizes) != sympy.true:
                return False
            extents = [_extents(shape, sizes) for shape in self._shapes if shape is not None]
            return min(map(min, filter(None, extents)), default=0) >= 0 and 0 not in _extents(
                self._shapes[position] or (), sizes
            )
        except (ArithmeticError, TypeError, ValueError):
            return False

    def _at(self, position: int, sizes: Sizes) -> bool | None:
        """Whether it matters at some sizes; None where that was not found out."""
        same = failed = outside = 0
        is_sparse = any(
            math.prod(_extents(shape, sizes)) > _MOST_ELEMENTS for shape in self._shapes if shape is not None
        )
        for trial in range(_TRIALS):
            if same >= _ENOUGH and self._spent > _MOST_WORK:
                break
            try:
                results = [self._begun(sizes, trial, is_sparse), self._run(position, sizes, trial, is_sparse)]
            except ENDS_A_TRIAL as ended:
                failed += 1
                is_spent = is_sparse and isinstance(ended, Spent)
                if failed > _ENOUGH or is_spent or self._is_declined:
                    return None
                is_sparse = True
                continue
            if results == [None, None]:
                outside += 1
                if outside >= _ENOUGH > same:
                    # Most often it is left whatever the contents.
                    return None
                continue
            one, other = results
            if one is other is _REFUSED:
                continue
            if one is None or other is None:
                # What leaves the memory is wrong for another reason; what stays inside may be all the same.
                continue
            if not are_alike(one, other, is_sparse=is_sparse):
                return True
            same += 1
        return False if same >= _ENOUGH else None

    def _differs(self, position: int, sizes: Sizes, cell: int) -> bool:
        """Whether something else is stored where one element is another one."""
        for trial in range(_TRIALS // 2):
            both = self._both(position, sizes, trial, is_sparse=False, cell=cell)
            if both is not None and not are_alike(*both, is_sparse=False):
                return True
        return False

    def _is_in_each(self, position: int, sizes: Sizes) -> bool:
        extents = [_extents(self._shapes[place] or (), sizes) for place in self._written]
        is_sparse = any(math.prod(one) > _MOST_ELEMENTS for one in extents)
        left: set[tuple[int, int]] | None = None
        for trial in range(_TRIALS // 2):
            both = self._both(position, sizes, trial, is_sparse=is_sparse)
            if both is None and not is_sparse and not self._is_declined:
                is_sparse, both = True, self._both(position, sizes, trial, is_sparse=True)
            if both is None or any(one is _REFUSED for one in both):
                continue
            if left is None and is_sparse:
                left = {(n, cell) for n, cells in enumerate(both[0]) for cell in cells.stored}
            elif left is None:
                left = {(n, cell) for n, one in enumerate(extents) for cell in range(math.prod(one))}
            left -= {(n, cell) for n, cell in left if _is_other(both[0][n][cell], both[1][n][cell])}
            if not left:
                return True
        return False

    def _both(
        self, position: int, sizes: Sizes, trial: int, *, is_sparse: bool, cell: int | None = None
    ) -> tuple[list[Cells], list[Cells]] | None:
        """What is stored without a change and with one; None where that was not found out."""
        try:
            one, other = (
                self._begun(sizes, trial, is_sparse),
                self._run(position, sizes, trial, is_sparse, cell),
            )
        except ENDS_A_TRIAL:
            return None
        return None if one is None or other is None else (one, other)

    def _carries(self) -> bool:
        """Whether loops carry values round, as far as that is known."""
        try:
            if self._body is None and not self._is_declined:
                self._compile()
        except ENDS_A_TRIAL:
            return False
        return self._compiler.carries

    @property
    def _most_steps(self) -> int:
        return _MOST_CARRIED if self._compiler.carries else _MOST_STEPS

    def _compile(self) -> None:
        self._is_declined = True
        self._keeps = [
            None if shape is None else kept_by(str(var.dtype))
            for var, shape in zip(self._prim_func.params, self._shapes, strict=True)
        ]
        self._body = self._compiler.statement(self._prim_func.body)
        asks = not ASKS_FOR_NAN.isdisjoint(self._compiler.calls)
        self._drawn = Drawn(sorted(self._compiler.constants), asks_for_nan=asks)
        self._is_declined = False

    def _begun(self, sizes: Sizes, trial: int, is_sparse: bool) -> list[Cells] | None:
        """What is stored where without a change."""
        key = (tuple(sizes.values()), trial, is_sparse)
        if key not in self._known:
            self._known[key] = self._run(None, sizes, trial, is_sparse)
        return self._known[key]

    def _run(
        self, changed: int | None, sizes: Sizes, trial: int, is_sparse: bool, cell: int | None = None
    ) -> list[Cells] | None:
        """What is stored where in the end, with other contents of one parameter, or of one `cell` of it; None
        where an element was used that is none, `_REFUSED` where an assertion did not hold. Raises `Declined`.
        """
        if self._is_declined:
            raise Declined
        if self._body is None:
            self._compile()
        variables = self._prim_func.params
        buffers: dict[Any, Memory] = {}
        cells: dict[int, Cells] = {}
        for place, shape in enumerate(self._shapes):
            if shape is not None:
                held = Cells(self._contents(place, trial, changed, cell))
                memory: Any = held
                buffers[variables[place]] = Memory(memory, 0, _extents(shape, sizes))
                cells[place] = held
        run = Run({var: sizes[symbol] for var, symbol in self._symbols.items()}, buffers, self._most_steps)
        run.is_sparse = is_sparse
        try:
            self._body(run)
        except Outside:
            return None
        except Refused:
            return _REFUSED
        finally:
            self._spent += self._most_steps - run.steps
        return [cells[place] for place in self._written if place in cells]

    def _contents(
        self, place: int, trial: int, changed: int | None, only: int | None
    ) -> Callable[[int], Any]:
        """What a parameter holds."""
        is_changed = place == changed or (changed in self._alike and place in self._alike)
        tensor = min(self._alike) if place in self._alike else place
        return self._drawn.of(
            tensor, trial, self._keeps[place], lambda cell: is_changed and only in (None, cell)
        )


def _in_turn(numbers: Sequence[int], count: int) -> Iterator[tuple[int, ...]]:
    """So many of some numbers: each one with the next, with itself, and so on."""
    for shift in (1, 0, *range(2, len(numbers))):
        for start in range(len(numbers)):
            yield tuple(numbers[(start + shift * place) % len(numbers)] for place in range(count))


def _extents(shape: Sequence[sympy.Expr], sizes: Sizes) -> tuple[int, ...]:
    """The extents of a buffer."""
    return tuple(int(one) if one.is_Integer else int(one.xreplace(sizes)) for one in shape)


def are_alike(one: Sequence[Cells], other: Sequence[Cells], *, is_sparse: bool) -> bool:
    """Whether what was stored in one run or in the other is the same after both. Where data chose where to
    store and steps were left out, that is asked of what both have stored: those steps may have stored there.
    """
    if one is _REFUSED or other is _REFUSED:
        return one is other
    for first, second in zip(one, other, strict=True):
        everything = first.stored | first.chosen, second.stored | second.chosen
        asked = everything[0] & everything[1] if is_sparse else everything[0] | everything[1]
        for cell in first.stored | second.stored | asked:
            if _is_other(first[cell], second[cell]):
                return False
    return True


def _is_other(one: Any, other: Any) -> bool:
    return bool(one != other and not (one != one and other != other))
