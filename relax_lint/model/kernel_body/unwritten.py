"""Whether an output tells of what was in a buffer of a kernel where nothing is stored before it is loaded:
tried at small sizes, with several contents of the parameters and of that buffer, which stands among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import chain, islice
from typing import Any

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.cells import ENDS_A_TRIAL, Frame, key_of
from relax_lint.model.kernel_body.compiling import Value
from relax_lint.model.kernel_body.drawn import KINDS
from relax_lint.model.kernel_body.machine import Cells, MachineCompiler
from relax_lint.model.kernel_body.matters import Matters, Sizes, are_alike
from relax_lint.vm import nodes

_TRIALS = 2 * KINDS
_ZEROS = _TRIALS - 1
"""In this trial all parameters hold zeros: they may hide what they are multiplied by."""
_POINTS = 9
"""At so many sizes it is tried."""
_ENOUGH = 3
"""At so many of them it has to be seen for it to be likely at others."""
_MOST_WORK = 60_000
_LARGE = 4
_SEVERAL = 2


class Seen(Enum):
    """Whether an output is other with other contents of the buffer."""

    NEVER = "with no contents that were tried"
    SOMETIMES = "with some contents of the parameters"
    ALWAYS = "with all of them"
    UNKNOWN = "it could not be carried out"


class _Noting(MachineCompiler):
    """Notes the loads of one buffer from cells that nobody wrote."""

    def __init__(self, buffer: Any) -> None:
        super().__init__()
        self._noted = key_of(buffer)
        self.early: dict[int, Any] = {}

    def _load(self, node: Any) -> Value:
        usual, buffer = super()._load(node), key_of(nodes.loaded_buffer(node))
        if buffer != self._noted:
            return usual
        indices = [self.value(index) for index in node.indices]

        def run(frame: Frame) -> Any:
            memory = frame.buffers[buffer]
            cells: Any = memory.cells
            cell = memory.cell([index(frame) for index in indices])
            if cell not in cells.stored and cell not in cells.chosen:
                self.early.setdefault(key_of(node), node)
            return cells[cell]

        return run


class Unwritten(Matters):
    """A PrimFunc whose last parameter is a buffer of its own. `written` are the positions of its outputs."""

    def __init__(
        self,
        prim_func: Any,
        shapes: Sequence[tuple[sympy.Expr, ...] | None],
        symbols: Mapping[Any, sympy.Symbol],
        written: Sequence[int],
    ) -> None:
        super().__init__(prim_func, shapes, symbols, written)
        self._position = len(shapes) - 1
        self._noting = self._compiler = _Noting(prim_func.params[self._position])
        self._variant = 0
        self._takes_empty = False
        self._found: dict[tuple[tuple[sympy.Symbol, int], ...], Seen] = {}

    @property
    def node(self) -> Any | None:
        """The first load from a cell that nobody wrote."""
        return next(iter(self._noting.early.values()), None)

    def seen(self, when: Boolean) -> Boolean:
        """Of some sizes, those at which an output is likely to be another one, with some contents. If it
        is said of these that something is fine, the ones at which a parameter is empty are tried as well.
        """
        self._takes_empty = when != sympy.true
        found = dict(self._at_sizes(when))
        self._takes_empty = False
        known = {sizes: one for sizes, one in found.items() if one is not Seen.UNKNOWN}
        where = [sizes for sizes, one in known.items() if one is not Seen.NEVER]
        if where and len(where) == len(known) and (len(where) >= _ENOUGH or () in known):
            return sympy.true
        if len({symbol for sizes in known for symbol, _ in sizes}) == 1:
            return _of_one_symbol(known)
        return sympy.Or(*map(_are, where))

    def always(self, wrong: Boolean) -> Boolean:
        """That condition on sizes, if with all contents an output is another one wherever it holds, as far as
        that was tried; else none.
        """
        found = dict(self._at_sizes(wrong))
        known = set(found.values()) - {Seen.UNKNOWN}
        if not known:
            # Where it is known what is loaded, some steps of long loops tell whether it matters.
            sizes = next(self._sizes(wrong), None)
            known = set() if sizes is None else {self._looked_at(sizes, is_sparse=True)}
        return wrong if known == {Seen.ALWAYS} else sympy.false

    def _sizes(self, when: Boolean) -> Iterator[Sizes]:
        """Sizes at which a condition holds. Where a parameter is empty most kernels store nothing, which is
        told where their outputs are read.
        """
        shapes = [shape for shape in self._shapes if shape is not None]
        for sizes in self._small_and_large(when):
            extents = (extent.xreplace(dict(sizes)) for shape in shapes for extent in shape)
            if self._takes_empty or 0 not in extents:
                yield sizes

    def _small_and_large(self, when: Boolean) -> Iterator[Sizes]:
        """Three small sizes, some of which no symbol is small, or not each is, and more small ones: what is
        written in part is often whole, and what is read left out, while a size is small.
        """
        large = [sympy.Ge(symbol, _LARGE) for symbol in self._sorted_symbols]
        if len(large) < _SEVERAL:
            yield from self._points(self._position, when)
            return
        conditions = (when, sympy.And(when, *large), sympy.And(when, sympy.Or(*large)))
        points = (islice(self._points(self._position, one), _ENOUGH) for one in conditions)
        told = set[tuple[int, ...]]()
        for sizes in chain(chain.from_iterable(points), self._points(self._position, when)):
            if (key := tuple(sizes.values())) not in told:
                told.add(key)
                yield sizes

    def _at_sizes(self, when: Boolean) -> Iterator[tuple[tuple[tuple[sympy.Symbol, int], ...], Seen]]:
        for sizes in islice(self._sizes(when), _POINTS):
            key = tuple(sizes.items())
            if key not in self._found:
                if self._spent > _MOST_WORK or self._is_declined:
                    return
                self._found[key] = self._looked_at(sizes, is_sparse=False)
            yield key, self._found[key]

    def _looked_at(self, sizes: Sizes, *, is_sparse: bool) -> Seen:
        """Whether it was seen at some sizes."""
        before, answers = dict(self._noting.early), list[bool]()
        self._noting.early.clear()
        for trial in range(_TRIALS):
            try:
                begun = self._begun(sizes, trial, is_sparse)
                if begun and (self._noting.early or is_sparse):
                    answers.append(self._differs_with(begun, sizes, trial, is_sparse))
                elif begun is not None:
                    answers.append(False)
            except ENDS_A_TRIAL:
                break
            if trial + 1 >= _ENOUGH and not any(answers) and not self._noting.early:
                break
        if not any(answers):
            self._noting.early.clear()
        self._noting.early = before | self._noting.early
        if len(answers) < _ENOUGH:
            return Seen.UNKNOWN
        return Seen.ALWAYS if all(answers) else Seen.SOMETIMES if any(answers) else Seen.NEVER

    def _differs_with(self, begun: Sequence[Cells], sizes: Sizes, trial: int, is_sparse: bool) -> bool:
        """Whether other contents of the buffer give something else than what `begun` stored."""
        for self._variant in range(KINDS):
            other = self._run(self._position, sizes, trial, is_sparse)
            if other and not are_alike(begun, other, is_sparse=is_sparse):
                return True
        return False

    def _contents(
        self, place: int, trial: int, changed: int | None, only: int | None
    ) -> Callable[[int], Any]:
        is_other = place == changed
        if trial == _ZEROS and place != self._position:
            keep = self._keeps[place]
            return lambda cell: keep(0)
        return super()._contents(place, trial + self._variant if is_other else trial, changed, only)


def _are(sizes: tuple[tuple[sympy.Symbol, int], ...]) -> Boolean:
    return sympy.And(*(sympy.Eq(symbol, number) for symbol, number in sizes))


def _of_one_symbol(known: Mapping[tuple[tuple[sympy.Symbol, int], ...], Seen]) -> Boolean:
    """Where it was seen, and from some size on if it was at all that are larger."""
    numbers = sorted((sizes[0][1], one is not Seen.NEVER) for sizes, one in known.items())
    symbol = next(chain.from_iterable(known))[0]
    tail = next((place for place in range(len(numbers), 0, -1) if not numbers[place - 1][1]), 0)
    found = [sympy.Eq(symbol, number) for number, seen in numbers[:tail] if seen]
    if len(numbers) - tail >= _ENOUGH:
        return sympy.Or(*found, sympy.Ge(symbol, numbers[tail][0]))
    return sympy.Or(*found, *(sympy.Eq(symbol, number) for number, _ in numbers[tail:]))
