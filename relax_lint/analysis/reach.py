"""Which of the tensors that a call is given matter for what it computes, as far as its kernel tells."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.effects import Effect
from relax_lint.analysis.observed_parts import Flow
from relax_lint.model.kernels import Kernel
from relax_lint.model.operations import KernelCall, ValueId
from relax_lint.support.lazy_dataclass import record
from relax_lint.vm.calls import CallKind


@record(frozen=True)
class Matter:
    """A tensor that matters for outputs that are looked at: each element of it does, or some do. Each of a
    large one is only taken to, and `is_surely_each` not.
    """

    path: AccessPath
    is_each: bool
    is_surely_each: bool = False


class Reach:
    """One call, by its kernel or by the one that TVM makes of the operator. Without either, operators are
    taken to read some of all that they are given, and packed functions nothing.
    """

    def __init__(self, op: KernelCall, effect: Effect, flow: Flow) -> None:
        self._op = op
        self._effect = effect
        self._flow = flow
        self._kernel = flow.effects.kernel_of(op)

    def of(self, outputs: Collection[int], whole: frozenset[int], part: frozenset[int]) -> Iterator[Matter]:
        """What matters where of all outputs these are looked at, by position: the `whole` of some, and some
        element of others, nobody knows which.
        """
        is_all = len(whole) == len(outputs)
        if self._kernel is not None:
            yield from self._of_kernel(self._kernel, whole, part, is_all=is_all)
        elif self._op.kind is CallKind.OPERATOR:
            lowered = self._flow.lowered(self._op)
            if lowered.kernel is None:
                yield from self._of_operator() if is_all else ()
                return
            shift = lowered.outputs - len(self._op.arguments)
            whole, part = (frozenset(one + shift for one in some) for some in (whole, part))
            for path, positions in sorted(lowered.given.items()):
                value = self._field(path)
                sure = positions - lowered.kernel.unsure_reads
                is_tuple = len(path) > 1
                unsure = () if is_tuple else self._effect.unsure_reads
                if sure and path[0] not in unsure and path[0] in self._effect.reads:
                    yield from _matter(lowered.kernel, value, positions, whole, part, is_all=is_all)
        elif self._flow.effects.is_seen(self._op) and is_all:
            yield from self._of_operator()

    def _of_kernel(
        self, kernel: Kernel, whole: frozenset[int], part: frozenset[int], *, is_all: bool
    ) -> Iterator[Matter]:
        given: dict[tuple[ValueId | None, int], set[int]] = {}
        identity, arguments = self._flow.aliases.identity, self._op.arguments
        for position in sorted(self._effect.reads - self._effect.opaque):
            if position >= len(arguments) or position in self._effect.writes:
                # What the kernel overwrites is nothing else's contents.
                given[None, position] = {position}
            else:
                given.setdefault((identity(arguments[position]), 0), set()).add(position)
        for positions in given.values():
            if all(self._effect.first_read(one) is Certainty.MAY for one in positions):
                continue
            # One tensor may have several names, and what was overwritten is known by the older one.
            names = {arguments[one] if one < len(arguments) else self._op.result for one in positions}
            for value in sorted(names):
                yield from _matter(
                    kernel, AccessPath(value), frozenset(positions), whole, part, is_all=is_all
                )

    def _of_operator(self) -> Iterator[Matter]:
        for position in sorted(self._effect.reads - self._effect.unsure_reads):
            if position < len(self._op.arguments):
                yield Matter(AccessPath(self._op.arguments[position]), False)

    def _field(self, path: tuple[int, ...]) -> AccessPath:
        """An argument, or what a field of it is."""
        value, fields = self._op.arguments[path[0]], path[1:]
        tuples = self._flow.function.inline_tuples
        while fields and value in tuples:
            value, fields = tuples[value][fields[0]], fields[1:]
        return AccessPath(value, fields)


def _matter(
    kernel: Kernel,
    path: AccessPath,
    positions: frozenset[int],
    whole: frozenset[int],
    part: frozenset[int],
    *,
    is_all: bool,
) -> Iterator[Matter]:
    """A tensor that a kernel is given at some positions, if it matters."""
    first = min(positions)
    alike = positions if len(positions) > 1 else frozenset[int]()
    if whole and ((is_all and not alike) or kernel.is_seen_in(first, whole, alike)):
        is_each = kernel.is_each_seen_in(first, whole, alike)
        yield Matter(path, is_each, is_each and not kernel.is_large(first, whole, alike))
    elif any(kernel.is_seen_in_each(first, one, alike) for one in sorted(whole | part)):
        yield Matter(path, False)
