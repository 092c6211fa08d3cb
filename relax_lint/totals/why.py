"""Why a function needs what it needs, at one assignment of its symbols: the tensors that are alive when most
is, and what changes would save. Every figure is computed from the walk with the change made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, combinations

from relax_lint.model.operations import KernelCall, ValueId
from relax_lint.model.program import Function, Program
from relax_lint.results.memory_why import LiveTensor, Saving, Why
from relax_lint.support.byte_text import bytes_text
from relax_lint.support.lazy_dataclass import record
from relax_lint.totals.compute import symbols_of
from relax_lint.totals.inlined import paths_of
from relax_lint.totals.plans import Plans
from relax_lint.totals.quantities import Indeterminate
from relax_lint.totals.walk import Inventory, Walk
from relax_lint.totals.writers import dtype_name, first_writer, shape_text

SHOWN = 5
"""Tensors that are listed."""
_STORAGES_TRIED = 48
_WORTH = 100
"""A change is worth a sentence if it saves at least this fraction of the peak."""


@record(frozen=True)
class Span:
    """A piece of memory of so many bytes, alive from step `begin` to before step `end`."""

    size: int
    begin: int
    end: int

    def meets(self, other: Span) -> bool:
        """Whether both are alive at one step."""
        return self.begin < other.end and other.begin < self.end


def why(program: Program, function: Function, values: Mapping[str, int]) -> Why | None:
    """The reasons at these values; None where a symbol has none, or a size is not known there."""
    binding = symbols_of(function, values)
    plans = Plans.of(program)
    try:
        storages = paths_of(plans, function, Inventory.STORAGES, binding)
        tensors = paths_of(plans, function, Inventory.TENSORS, binding)
    except (Indeterminate, KeyError):
        return None
    pairs = [(held, used) for held, used in zip(storages, tensors, strict=False) if used.allocations]
    if not pairs:
        return None
    held, used = pairs[0] if len(pairs) == 1 else max(pairs, key=_planned)
    return _Reasons(program, held, used).found({name: values[name] for name in map(str, binding)})


def _planned(pair: tuple[Walk, Walk]) -> int:
    """The most bytes of storages along a path."""
    return peak_of(spans_of(pair[0]))[0]


def spans_of(walk: Walk) -> list[Span]:
    """The allocations of a walk with numbers for sizes."""
    begins = [0] * len(walk.allocations)
    ends = [len(walk.operations)] * len(walk.allocations)
    for event, step in zip(walk.events, walk.steps, strict=True):
        if event > 0:
            begins[event - 1] = step
        else:
            ends[-event - 1] = step + 1
    sizes = [int(allocation.size) for allocation in walk.allocations]
    return [Span(*each) for each in zip(sizes, begins, ends, strict=True)]


def peak_of(spans: Sequence[Span]) -> tuple[int, int]:
    """The most bytes alive at one step, and the first step that reaches them."""
    changes: dict[int, int] = {}
    for span in spans:
        changes[span.begin] = changes.get(span.begin, 0) + span.size
        changes[span.end] = changes.get(span.end, 0) - span.size
    most = live = at = 0
    for step in sorted(changes):
        live += changes[step]
        if live > most:
            most, at = live, step
    return most, at


class _Overlap:
    """What less is alive where a tensor takes the place of another one."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans
        changes = [0] * (max((span.end for span in spans), default=0) + 1)
        for span in spans:
            changes[span.begin] += span.size
            changes[span.end] -= span.size
        self._alive = list(accumulate(changes))
        """By step."""
        self._before = list(accumulate(self._alive, max, initial=0))
        """The most before each step."""
        self._from = list(accumulate(reversed(self._alive), max, initial=0))[::-1]
        """The most from each step on."""

    def saved(self, source: int, target: int) -> int:
        """The bytes that the peak falls by if tensor number `target` is in the memory of `source`, which ends
        where `target` is written: they are then not both alive.
        """
        size, begin, end = self._spans[source].size, self._spans[target].begin, self._spans[source].end
        inside = max(self._alive[begin:end]) - size
        return self._from[0] - max(self._before[begin], inside, self._from[end])


class _Reasons:
    """One path: its storages, its tensors, and when each is needed."""

    def __init__(self, program: Program, held: Walk, used: Walk) -> None:
        self._program = program
        self._held = held
        self._used = used
        self._storages = spans_of(held)
        self._tensors = spans_of(used)
        self._peak = peak_of(self._storages)[0]
        self._needed, self._step = peak_of(self._tensors)
        self._of_value: dict[ValueId, list[int]] = {}
        """The tensors that an operation makes, by its result: it may be run more than once."""
        for number, span in enumerate(self._tensors):
            self._of_value.setdefault(used.operations[span.begin].result, []).append(number)

    def found(self, at: Mapping[str, int]) -> Why:
        """Everything that can be said."""
        live = [n for n, span in enumerate(self._tensors) if span.begin <= self._step < span.end]
        live.sort(key=lambda number: self._tensors[number].size, reverse=True)
        place = self._used.operations[self._step].place
        changes = [*self._shared_storages(), *self._in_place()]
        return Why(
            at=at,
            planned=self._peak,
            needed=self._needed,
            binding=place.binding,
            line=None if place.location is None else place.location.line,
            number=len(live),
            tensors=tuple(self._live(number) for number in live[:SHOWN]),
            changes=tuple(sorted(changes, key=lambda change: change.saves, reverse=True)),
        )

    def _live(self, number: int) -> LiveTensor:
        span = self._tensors[number]
        op = self._used.operations[span.begin]
        writer = first_writer(self._used.operations, span.begin, span.end)
        place = op.place if writer is None else writer.place
        return LiveTensor(
            name=op.place.binding,
            operator=None if writer is None else writer.callee,
            shape=shape_text(op),
            dtype=dtype_name(op),
            line=None if place.location is None else place.location.line,
            bytes=span.size,
        )

    # -- changes -------------------------------------------------------------------------------

    def _is_worth(self, saved: int, of: int) -> bool:
        return saved * _WORTH >= of and saved > 0

    def _needs(self) -> list[list[Span]]:
        """When the tensors on each storage are needed."""
        last = {span.begin: span for span in self._tensors}
        found: list[list[Span]] = [[] for _ in self._storages]
        for placed in self._held.placed:
            begin = placed.step
            found[placed.allocation].append(last.get(begin, Span(0, begin, begin + 1)))
        return found

    def _shared_storages(self) -> Iterator[Saving]:
        """The two storages that are never needed at one time and save most as one."""
        needs, best = self._needs(), (0, 0, 0)
        largest = sorted(range(len(needs)), key=lambda n: self._storages[n].size, reverse=True)
        for one, other in combinations(largest[:_STORAGES_TRIED], 2):
            if min(self._storages[one].size, self._storages[other].size) <= best[0]:
                continue
            if not needs[one] or not needs[other] or not self._alike(one, other):
                continue
            if any(a.meets(b) for a in needs[one] for b in needs[other]):
                continue
            saved = self._peak - peak_of(self._as_one(one, other))[0]
            best = max(best, (saved, one, other))
        saved, one, other = best
        if self._is_worth(saved, self._peak):
            names = " and ".join(f"`{self._name(number)}`" for number in sorted((one, other)))
            left = bytes_text(self._peak - saved)
            yield Saving(
                "storage",
                f"{names} are never used at the same time: on one storage the function needs {left}",
                saved,
            )

    def _as_one(self, one: int, other: int) -> list[Span]:
        spans = [span for number, span in enumerate(self._storages) if number not in (one, other)]
        pair = (self._storages[one], self._storages[other])
        size = max(span.size for span in pair)
        return [*spans, Span(size, min(s.begin for s in pair), max(s.end for s in pair))]

    def _alike(self, one: int, other: int) -> bool:
        a, b = self._held.allocations[one], self._held.allocations[other]
        return (a.scope, a.device) == (b.scope, b.device)

    def _name(self, number: int) -> str:
        place = self._held.allocations[number].place
        return "" if place is None else place.binding

    def _in_place(self) -> Iterator[Saving]:
        """The call that saves most if it overwrites an input that nothing needs afterwards."""
        best: tuple[int, str] = (0, "")
        for step, op in self._after_peak():
            ending = self._ending(op, step)
            # To read a kernel takes longer than all of this.
            if not any(self._overlap.saved(*pair) > best[0] for pair in ending.values()):
                continue
            kernel = self._program.kernels.get(op.callee)
            for pair in () if kernel is None else kernel.elementwise:
                saved = self._overlap.saved(*ending[pair]) if pair in ending else 0
                if saved > best[0]:
                    line = "" if op.place.location is None else f", {op.place.location.line_in_words}"
                    name = self._used.operations[self._tensors[ending[pair][0]].begin].place.binding
                    best = saved, f"`{op.callee}`{line} over its input `{name}`"
        saved, what = best
        if self._is_worth(saved, self._needed):
            left = bytes_text(self._needed - saved)
            yield Saving("in place", f"{what}: the tensors then need {left} at one time", saved)

    @cached_property
    def _overlap(self) -> _Overlap:
        return _Overlap(self._tensors)

    def _after_peak(self) -> Iterator[tuple[int, KernelCall]]:
        """The calls that are given what is alive at the peak, from there on, with their steps. Less is needed
        there only if one of them has its output in the memory of an input: no other kernel has to be read.
        """
        alive = {
            self._used.operations[span.begin].result
            for span in self._tensors
            if span.begin <= self._step < span.end
        }
        for step in range(self._step, len(self._used.operations)):
            op = self._used.operations[step]
            if isinstance(op, KernelCall) and op.kind.runs_kernel and not alive.isdisjoint(op.arguments):
                yield step, op

    def _ending(self, op: KernelCall, step: int) -> dict[tuple[int, int], tuple[int, int]]:
        """By two positions, an input that a call needs last, and what is as large and may take its place."""
        alive = {
            value: number
            for value in op.arguments
            for number in self._of_value.get(value, ())
            if self._tensors[number].begin < step < self._tensors[number].end
        }
        given = [(position, alive[value]) for position, value in enumerate(op.arguments) if value in alive]
        ending = [(position, one) for position, one in given if self._tensors[one].end == step + 1]
        return {
            (read, written): (source, target)
            for read, source in ending
            for written, target in given
            if source != target and self._tensors[source].size == self._tensors[target].size
        }
