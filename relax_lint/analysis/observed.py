"""Which operations compute what every run shows: in the result, in what comes from outside, to somebody who
is not known, or by the way that is taken. One walk backwards, from what is shown to what that depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import sympy

from relax_lint.analysis.access_paths import AccessPath, everything, leaves, with_fields
from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.effects import Effect
from relax_lint.analysis.liveness import operands
from relax_lint.analysis.overlaps import TensorMemory
from relax_lint.analysis.summaries import Summary
from relax_lint.analysis.untaken import Untaken
from relax_lint.model.operations import (
    Alias,
    AllocTensor,
    Block,
    FunctionCall,
    GetItem,
    If,
    KernelCall,
    Kill,
    MakeTuple,
    MatchCast,
    Op,
    ValueId,
    View,
)
from relax_lint.model.program import Function
from relax_lint.model.types import TensorType, TupleType
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.vm import versions
from relax_lint.vm.calls import CallKind


class Shown:
    """What is certainly shown later, at one place of the walk: the memory behind `roots`, and of values that
    branches choose (`chosen`) whichever it is.
    """

    def __init__(self, roots: Iterable[ValueId] = (), chosen: Iterable[AccessPath] = ()) -> None:
        self.roots = set(roots)
        self.chosen = set(chosen)

    def copy(self) -> Shown:
        """The same, to be changed apart."""
        return Shown(self.roots, self.chosen)

    def become(self, one: Shown, other: Shown) -> None:
        """What is shown whichever of two branches is taken."""
        self.roots = one.roots & other.roots
        self.chosen = one.chosen & other.chosen


class Observed:
    """The operations of one function of which all that they compute is shown on every path behind them: those
    of others may be read by nobody. `outside` are the values that its callers, or inner functions, know.
    """

    def __init__(
        self,
        function: Function,
        aliases: Aliases,
        memory: TensorMemory,
        effect_of: Callable[[KernelCall], Effect],
        runs_known: Callable[[KernelCall], bool],
        summary_of: Callable[[FunctionCall], Summary | None],
        outside: Iterable[ValueId],
        untaken: Untaken,
    ) -> None:
        self._function = function
        self._aliases = aliases
        self._roots = aliases.roots
        self._memory = memory
        self._effect_of = effect_of
        self._runs_known = runs_known
        self._summary_of = summary_of
        self._untaken = untaken
        self._found = set[int]()
        end = Shown()
        for value in outside:
            end.roots |= everything(self._roots.tree(value))
        self._show(AccessPath(function.result), end)
        self._block(function.body, end)

    def is_shown(self, op: Op | None) -> bool:
        """Whether every run shows what an operation computes; the return (None) shows what it returns."""
        return op is None or op.place.index in self._found

    def _block(self, block: Block, shown: Shown) -> None:
        for op in reversed(block.ops):
            if isinstance(op, KernelCall):
                self._kernel(op, shown)
            elif isinstance(op, FunctionCall):
                self._call(op, shown)
            elif isinstance(op, If):
                self._branches(op, shown)
            elif _is_name(op):
                self._name(op, shown)
            elif not isinstance(op, Kill):
                self._found.add(op.place.index)
                self._show_all(operands(op, self._function), shown)
            if isinstance(op, AllocTensor | View) and op.extents_from is not None:
                self._show(AccessPath(op.extents_from), shown)

    def _show_all(self, values: Iterable[ValueId], shown: Shown) -> None:
        for value in values:
            self._show(AccessPath(value), shown)

    def _show(self, path: AccessPath, shown: Shown) -> None:
        value, fields, tuples = path.value, path.fields, self._function.inline_tuples
        while fields and value in tuples and fields[0] < len(tuples[value]):
            value, fields = tuples[value][fields[0]], fields[1:]
        if value in tuples:
            self._show_all(tuples[value], shown)
            return
        tree = self._roots.tree(value)
        for field in fields:
            tree = tree[field] if isinstance(tree, tuple) and field < len(tree) else everything(tree)
        for more, roots in with_fields(tree, fields):
            if len(roots) == 1:
                shown.roots |= roots
            else:
                shown.chosen.add(AccessPath(value, more))

    # -- operations ----------------------------------------------------------------------------

    def _name(self, op: Op, shown: Shown) -> None:
        """What is shown under one of several names is what had another one."""
        for path in _taken(op.result, shown):
            fields = path.fields
            if isinstance(op, Alias | View | MatchCast):
                self._show(AccessPath(op.source, fields), shown)
            elif isinstance(op, GetItem):
                self._show(AccessPath(op.tuple, (op.item, *fields)), shown)
            elif isinstance(op, MakeTuple) and fields and fields[0] < len(op.items):
                self._show(AccessPath(op.items[fields[0]], fields[1:]), shown)

    def _branches(self, op: If, shown: Shown) -> None:
        self._found.add(op.place.index)
        results = _taken(op.result, shown)
        only, after = self._untaken.taken(op), []
        for is_then, block, result in (
            (True, op.then_block, op.then_result),
            (False, op.else_block, op.else_result),
        ):
            if only in (None, is_then):
                inside = shown.copy()
                for path in results:
                    self._show(AccessPath(result, path.fields), inside)
                self._block(block, inside)
                after.append(inside)
        shown.become(after[0], after[-1])
        self._show(AccessPath(op.condition), shown)

    def _kernel(self, op: KernelCall, shown: Shown) -> None:
        effect, count = self._effect_of(op), len(op.arguments)
        if not effect.known or not self._is_only_computed(op):
            self._found.add(op.place.index)
            self._show_all(op.arguments, shown)
            return
        written = [op.arguments[position] for position in sorted(effect.writes) if position < count]
        is_shown = self._are_shown((*self._made(op.result), *map(self._aliases.roots_of, written)), shown)
        if is_shown or self._is_chosen(op.result, shown):
            self._found.add(op.place.index)
            is_shown = True
        _taken(op.result, shown)
        for position in sorted(effect.writes):
            if position < count and self._may_be_whole(op, position, effect):
                self._hide(self._aliases.roots_of(op.arguments[position]), shown)
        for position in sorted(effect.reads - effect.unsure_reads) if is_shown else ():
            if position < count and effect.first_read(position) is not None:
                self._show(AccessPath(op.arguments[position]), shown)

    def _is_only_computed(self, op: KernelCall) -> bool:
        """Whether a call does nothing but compute what it writes or returns."""
        if self._runs_known(op) or op.pure or op.kind.in_place or op.kind is CallKind.CALL_DPS_PACKED:
            return True
        node = op.place.node
        return op.kind is CallKind.OPERATOR and versions.is_call(node) and versions.is_pure_call(node)

    def _made(self, value: ValueId) -> Iterator[frozenset[ValueId]]:
        """The memory of each field of a result; an empty tuple shows nothing."""
        type_ = self._function.type_of(value)
        if not isinstance(type_, TupleType) or type_.fields:
            yield from leaves(self._roots.tree(value))

    def _are_shown(self, made: Iterable[frozenset[ValueId]], shown: Shown) -> bool:
        """Whether all of several things are shown, and there is one."""
        found = [roots <= shown.roots for roots in made if roots]
        return bool(found) and all(found)

    def _is_chosen(self, value: ValueId, shown: Shown) -> bool:
        return any(path.value == value for path in shown.chosen)

    def _is_part(self, root: ValueId, value: ValueId) -> bool:
        return self._roots.value_of(root) == value

    def _may_be_whole(self, op: KernelCall, position: int, effect: Effect) -> bool:
        """Whether a kernel may write all of the memory of an argument: what was there is not shown then."""
        argument = op.arguments[position]
        if effect.whole.get(position) is sympy.false:
            return False
        if argument not in self._aliases.windows:
            return True
        memory, roots = self._memory, self._aliases.roots_of(argument)
        part = memory.range(argument).length
        return not all(
            root in self._function.values and _is_less(part, memory.range(root).length) for root in roots
        )

    def _hide(self, roots: frozenset[ValueId], shown: Shown) -> None:
        shown.roots -= roots
        if shown.chosen:
            shown.chosen = {p for p in shown.chosen if roots.isdisjoint(self._roots.of(p))}

    def _call(self, op: FunctionCall, shown: Shown) -> None:
        summary = self._summary_of(op)
        if summary is None or summary.passed or summary.handed_on:
            self._found.add(op.place.index)
            self._show_all(operands(op, self._function), shown)
            return
        writes = summary.touched(summary.writes)
        # What it only gives back it has not computed.
        new = [one for one in self._made(op.result) if any(self._is_part(root, op.result) for root in one)]
        made = [*new, *(self._roots.of(path) for path, _ in writes)]
        is_shown = self._are_shown(made, shown) or self._is_chosen(op.result, shown)
        _taken(op.result, shown)
        for path, _ in writes:
            self._hide(self._roots.of(path), shown)
        if is_shown:
            self._found.add(op.place.index)
            for path, certainty in summary.touched(summary.reads):
                if certainty is Certainty.MUST:
                    self._show(path, shown)


def _is_less(one: Size, other: Size) -> bool:
    return not isinstance(one, Unknown) and not isinstance(other, Unknown) and (one < other) == sympy.true


def _is_name(op: Op) -> bool:
    """Whether an operation only gives something another name."""
    if isinstance(op, MatchCast):
        return isinstance(op.type, TensorType | TupleType)
    return isinstance(op, Alias | GetItem | MakeTuple | View)


def _taken(value: ValueId, shown: Shown) -> list[AccessPath]:
    """The parts of a value that are shown, which are gone before it was made."""
    found = [path for path in shown.chosen if path.value == value] if shown.chosen else []
    shown.chosen.difference_update(found)
    return found
