"""Which operations read what every run shows: in a result, in what comes from outside, or by the way that is
taken. One walk backwards, from what is shown to what that depends on. Who is not known may look at nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import sympy

from relax_lint.analysis.access_paths import AccessPath, at, leaves, with_fields
from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.computed_sizes import ComputedSizes
from relax_lint.analysis.effects import Effect
from relax_lint.analysis.liveness import operands
from relax_lint.analysis.observed_parts import Parts
from relax_lint.analysis.reach import Reach
from relax_lint.analysis.shown import Before, Held, Shown, Sinks
from relax_lint.analysis.ways import Acts, Ways, stronger
from relax_lint.model.operations import (
    Alias,
    AllocStorage,
    AllocTensor,
    Assert,
    Block,
    Constant,
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
from relax_lint.model.types import PrimType, ShapeType, TupleType
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.vm import versions
from relax_lint.vm.calls import CallKind


class Observed:
    """What one function shows where its callers show `sinks`. Of an operation only those reads count that are
    shown on every path behind it: others may be for nobody.
    """

    def __init__(self, parts: Parts, sinks: Sinks) -> None:
        self._parts = parts
        self._flow = parts.flow
        self._function = parts.flow.function
        self._aliases = parts.flow.aliases
        self._roots = parts.flow.aliases.roots
        self._views = {op.result: op.source for op in self._function.body.of(View)}
        self._found: dict[int, set[ValueId]] = {}
        """By operation: the values that it reads for what is shown."""
        self._each: dict[int, set[ValueId]] = {}
        """The same of which it shows each element."""
        self._all = set[int]()
        """The operations that show all that they read."""
        self._computing: dict[int, bool] = {}
        """The operations that compute something that is shown, and whether nothing of that in part only."""
        self.at_calls: dict[int, dict[str, Sinks]] = {}
        """By call and function: what is shown of that which the function gives back."""
        self._unsure = {
            op.result
            for op in self._function.body.of(If)
            if any(
                not roots
                for one in (op.then_result, op.else_result)
                for roots in leaves(self._roots.tree(one))
            )
        }
        """What branches give of which one gives something that has no name here."""
        self._ways = Ways(parts.flow)
        self._sizes = ComputedSizes(parts.flow.function)
        self._end = Shown()
        for path in sinks.outside:
            self._end.show(self._roots.of(path), read=False)
        for fields in sinks.results:
            self._show(AccessPath(self._function.result, fields), self._end, read=False)
        shown = self._end.copy()
        self._block(self._function.body, shown)
        self.before = Before(
            frozenset(path for path in parts.paths if self._is_among(path, shown.all)),
            frozenset(path for path in parts.paths if self._is_among(path, shown.read)),
            frozenset(path for path in parts.paths if shown.is_partly(self._roots.of(path))),
        )
        """What comes from outside and is shown as it comes in."""

    def is_shown(self, op: Op | None, value: ValueId | None, *, each: bool = False) -> bool:
        """Whether every run shows what an operation, or (None) the return, reads of a value, or `each`
        element of it, or (None) some of what it computes.
        """
        if op is None:
            return value is not None and self._is_among(AccessPath(value), self._end.all)
        index = op.place.index
        if value is None:
            return self._computing.get(index, False) if each else index in self._computing
        return index in self._all or value in (self._each if each else self._found).get(index, ())

    def _shows_something(self, op: Op) -> bool:
        index = op.place.index
        return index in self._all or bool(self._found.get(index))

    # -- what is shown -------------------------------------------------------------------------

    def _show_all(self, values: Iterable[ValueId], shown: Shown) -> None:
        for value in values:
            self._show(AccessPath(value), shown)

    def _show(self, path: AccessPath, shown: Shown, *, read: bool = True, part: bool = False) -> None:
        """What a value holds is shown; of a `part` of it nobody knows which."""
        value, fields, tuples = path.value, path.fields, self._function.inline_tuples
        while fields and value in tuples and fields[0] < len(tuples[value]):
            value, fields = tuples[value][fields[0]], fields[1:]
        if value in tuples:
            for one in tuples[value]:
                self._show(AccessPath(one), shown, read=read, part=part)
            return
        for more, roots in self._parts_of(AccessPath(value, fields)):
            if len(roots) == 1 and value not in self._unsure:
                shown.show(roots, read=read, part=part or self._is_window(value))
            elif not part:
                chosen = AccessPath(value, more)
                shown.choose((chosen, self._by_name(chosen)), read=read)

    def _parts_of(self, path: AccessPath) -> Iterator[tuple[tuple[int, ...], frozenset[ValueId]]]:
        """The fields of a part of a value that have none themselves, each with its roots."""
        return with_fields(at(self._roots.tree(path.value), path.fields), path.fields)

    def _by_name(self, path: AccessPath) -> AccessPath:
        """The field of a tuple that is built in the function by the name that it has there."""
        value, fields = path.value, path.fields
        while fields and fields[0] < len(self._aliases.fields.get(value, ())):
            value, fields = self._aliases.fields[value][fields[0]], fields[1:]
        return AccessPath(value, fields)

    def _is_window(self, value: ValueId) -> bool:
        """Whether a value may be less than all of the memory behind it."""
        if value not in self._aliases.windows:
            return False
        memory, known = self._flow.memory, self._function.values
        found = memory.range(value).length
        roots = self._aliases.roots_of(value)
        return not all(root in known and memory.range(root).length == found for root in roots)

    def _is_among(self, path: AccessPath, held: Held) -> bool:
        """Whether all of a value, or of a field of it, is held."""
        found = list[bool]()
        for fields, roots in self._parts_of(path):
            is_one = bool(roots) and roots <= held.roots
            above = (AccessPath(path.value, fields[:end]) for end in range(len(fields) + 1))
            found.append(is_one or (bool(held.chosen) and any(one in held.chosen for one in above)))
        return bool(found) and all(found)

    def _is_seen_in(self, path: AccessPath, held: Held) -> bool:
        """Whether all of a value is held, or all of what it is a view of."""
        while not self._is_among(path, held):
            source = None if path.fields else self._views.get(path.value)
            if source is None:
                return False
            path = AccessPath(source)
        return True

    def _is_all(self, path: AccessPath, shown: Shown) -> bool:
        """Whether all of it is shown, and not only some part."""
        return self._is_among(path, shown.all) and not shown.is_partly(self._roots.of(path))

    def _hide(self, path: AccessPath, shown: Shown) -> None:
        """Something else is where it was."""
        roots = self._roots.of(path)
        shown.hide(roots, self._chosen_of(roots, shown))

    def _chosen_of(self, roots: frozenset[ValueId], shown: Shown) -> list[AccessPath]:
        """What branches choose that may be some memory."""
        return [path for path in shown.all.chosen if not roots.isdisjoint(self._roots.of(path))]

    def _hide_all(self, values: Iterable[ValueId], shown: Shown) -> None:
        for value in values:
            for leaf, _ in self._aliases.leaves_and_held(value):
                self._hide(AccessPath(leaf), shown)

    # -- the walk ------------------------------------------------------------------------------

    def _block(self, block: Block, shown: Shown) -> Acts:
        """Turns what is shown behind a block into what is before it; whether the block does anything that
        somebody sees.
        """
        acts: Acts = None
        for op in reversed(block.ops):
            acts = stronger(acts, self._op(op, shown))
            if isinstance(op, AllocTensor | View) and op.extents_from is not None:
                self._show(AccessPath(op.extents_from), shown)
        return acts

    def _op(self, op: Op, shown: Shown) -> Acts:
        if isinstance(op, KernelCall):
            return self._kernel(op, shown)
        if isinstance(op, FunctionCall):
            return self._call(op, shown)
        if isinstance(op, If):
            return self._branches(op, shown)
        if isinstance(op, Assert):
            # The others are looked at where it fails.
            self._show_read(op, () if op.condition is None else (op.condition,), shown)
            return Certainty.MUST
        if isinstance(op, MatchCast) and isinstance(op.type, ShapeType | PrimType):
            if not self._sizes.is_only_named(op) or self._sizes.is_used(op, self._shows_something):
                self._show_read(op, (op.source,), shown)
            return Certainty.MUST
        if isinstance(op, Alias | GetItem | MakeTuple | MatchCast | View):
            self._name(op, shown)
        elif not isinstance(op, Kill | AllocTensor | AllocStorage | Constant):
            self._show_read(op, operands(op, self._function), shown)
        return None

    def _show_read(self, op: Op, values: Iterable[ValueId], shown: Shown) -> None:
        self._all.add(op.place.index)
        self._show_all(values, shown)

    def _name(self, op: Alias | GetItem | MakeTuple | MatchCast | View, shown: Shown) -> None:
        """What is shown under one of several names is what had another one."""
        for fields, read in self._take(op.result, shown):
            if isinstance(op, GetItem):
                self._show(AccessPath(op.tuple, (op.item, *fields)), shown, read=read)
            elif not isinstance(op, MakeTuple):
                self._show(AccessPath(op.source, fields), shown, read=read)
            elif fields and fields[0] < len(op.items):
                self._show(AccessPath(op.items[fields[0]], fields[1:]), shown, read=read)

    def _take(self, value: ValueId, shown: Shown) -> list[tuple[tuple[int, ...], bool]]:
        """The fields of a name that are shown, and whether each is read: also where the name has a root of
        its own, as nothing is known of what it names.
        """
        found = shown.take(value)
        for fields, roots in with_fields(self._roots.tree(value)):
            own = {root for root in roots if self._roots.value_of(root) == value}
            if own and roots <= shown.all.roots and roots.isdisjoint(shown.partly):
                found.append((fields, roots <= shown.read.roots))
        return found

    def _branches(self, op: If, shown: Shown) -> Acts:
        results, only = self._take(op.result, shown), self._flow.untaken.taken(op)
        after, acts = list[Shown](), list[Acts]()
        for is_then, block, result in (
            (True, op.then_block, op.then_result),
            (False, op.else_block, op.else_result),
        ):
            if only in (None, is_then):
                inside = shown.copy()
                for fields, read in results:
                    self._show(AccessPath(result, fields), inside, read=read)
                acts.append(self._block(block, inside))
                after.append(inside)
        shown.become(after[0], after[-1])
        # Where both branches come to the same it does not matter which one is taken.
        if only is None and self._ways.differ(op, acts, [fields for fields, _ in results]):
            self._show_read(op, (op.condition,), shown)
        return stronger(*acts)

    def _kernel(self, op: KernelCall, shown: Shown) -> Acts:
        effect, count = self._flow.effect_of(op), len(op.arguments)
        if not effect.known and not effect.opaque:
            # Who is not known may not look at it, and may write it.
            self._hide_all(op.arguments, shown)
            return Certainty.MAY
        if not self._is_only_computed(op):
            self._show_read(op, op.arguments, shown)
            return Certainty.MUST
        given_away = Certainty.MAY if effect.opaque else None
        outputs = [one for one in self._outputs(op, effect) if one[0] not in effect.opaque]
        seen = {p: path for p, path in outputs if self._is_seen_in(path, shown.all)}
        part = frozenset(p for p, path in seen.items() if shown.is_partly(self._roots.of(path)))
        # Of a part of what is shown in part nothing may be shown.
        hidden = {p for p in part if seen[p].value in self._aliases.windows}
        shown.take(op.result)
        for position in sorted(effect.writes):
            if position < count:
                self._write(op, position, effect, shown)
        if hidden == seen.keys():
            return given_away
        self._computing[op.place.index] = not part
        found = self._found.setdefault(op.place.index, set())
        matters = Reach(op, effect, self._flow).of(dict(outputs), frozenset(seen) - part, part - hidden)
        each = self._each.setdefault(op.place.index, set())
        for one in list(matters):
            names = [leaf for leaf, _ in self._aliases.leaves_and_held(self._aliases.leaf(one.path))]
            found.update(names)
            each.update(names if one.is_surely_each else ())
            if not self._is_among(one.path, shown.read) or shown.is_partly(self._roots.of(one.path)):
                self._show(one.path, shown, part=not one.is_each)
        return Certainty.MUST

    def _outputs(self, op: KernelCall, effect: Effect) -> list[tuple[int, AccessPath]]:
        """What a call computes, by position."""
        count = len(op.arguments)
        found = [(p, AccessPath(op.arguments[p])) for p in sorted(effect.writes) if p < count]
        type_ = self._function.type_of(op.result)
        if isinstance(type_, TupleType) and not type_.fields:
            return found
        for number, (fields, _) in enumerate(with_fields(self._roots.tree(op.result))):
            given = op.inplace[number] if op.kind.in_place and number < len(op.inplace) else -1
            if given < 0 or given not in effect.writes:
                # Those that are allocated are counted behind the arguments.
                fresh = sum(one < 0 for one in op.inplace[:number]) if op.kind.in_place else number
                found.append((count + fresh, AccessPath(op.result, fields)))
        return found

    def _is_only_computed(self, op: KernelCall) -> bool:
        """Whether a call does nothing but compute what it writes or returns."""
        if self._flow.effects.kernel_of(op) is not None or op.pure or op.kind.in_place:
            return True
        node = op.place.node
        is_operator = op.kind is CallKind.OPERATOR and versions.is_call(node)
        return op.kind is CallKind.CALL_DPS_PACKED or (is_operator and versions.is_pure_call(node))

    def _write(self, op: KernelCall, position: int, effect: Effect, shown: Shown) -> None:
        """What a kernel may have written is not shown as it was before."""
        path = AccessPath(op.arguments[position])
        roots = self._roots.of(path)
        if self._is_part(op, position, effect) and roots.isdisjoint(shown.partly):
            # Of two parts the one may be what the other leaves.
            shown.leave_part(roots, self._chosen_of(roots, shown))
        else:
            self._hide(path, shown)

    def _is_part(self, op: KernelCall, position: int, effect: Effect) -> bool:
        """Whether a kernel certainly leaves something of what an argument was before."""
        argument, kernel = op.arguments[position], self._flow.effects.kernel_of(op)
        if effect.whole.get(position) == sympy.false and kernel is not None and kernel.leaves(position):
            return True
        if argument not in self._aliases.windows:
            return False
        memory, roots = self._flow.memory, self._aliases.roots_of(argument)
        part = memory.range(argument).length
        return all(
            root in self._function.values and _is_less(part, memory.range(root).length) for root in roots
        )

    def _call(self, op: FunctionCall, shown: Shown) -> Acts:
        summary, callees = self._flow.summary_of(op), self._flow.callees_of(op)
        if summary is None or not callees:
            self._hide_all(operands(op, self._function), shown)
            return Certainty.MAY
        fields = self._parts.fields_of(op.result)
        results = frozenset(f for f in fields if self._is_all(AccessPath(op.result, f), shown))
        shown.take(op.result)
        written = sorted({summary.path(path) for path in (*summary.writes, *summary.superseded)})
        acts, found = bool(results), list[Before]()
        for callee in callees:
            names = self._parts.passed(op, callee)
            outside = {path: _named(path, names) for path in self._parts.outside_of(callee)}
            seen = frozenset(p for p, ours in outside.items() if self._is_all(ours, shown))
            sinks = self.at_calls.setdefault(op.place.index, {})[callee.name] = Sinks(results, seen)
            before = self._parts.before(callee, sinks)
            acts |= bool(before.read) or any(outside[path] in written for path in seen)
            found.append(before.named(outside))
        together = found[0]
        for before in found[1:]:
            together = together.common(before)
        read_later = {path for path in together.shown if self._is_among(path, shown.read)}
        all_later = {path for path in together.shown if self._is_all(path, shown)}
        for path in written:
            self._hide(path, shown)
        for path in sorted(together.shown):
            if not self._is_written_otherwise(path, written):
                is_part = path in together.partly and (path in written or path not in all_later)
                is_read = path in together.read or path in read_later
                self._show(path, shown, read=is_read, part=is_part)
                if path in together.read:
                    is_each = path not in together.partly and path not in all_later
                    for known in (self._found, self._each) if is_each else (self._found,):
                        known.setdefault(op.place.index, set()).add(self._aliases.leaf(path))
        if acts:
            return Certainty.MUST
        return Certainty.MAY if summary.passed or summary.handed_on else None

    def _is_written_otherwise(self, path: AccessPath, written: Iterable[AccessPath]) -> bool:
        """Whether a function writes what it is given under another name as well: what it shows of the one
        name may be what it wrote.
        """
        roots = self._roots.of(path)
        return any(other != path and not roots.isdisjoint(self._roots.of(other)) for other in written)


def _named(path: AccessPath, names: Mapping[ValueId, AccessPath]) -> AccessPath:
    """What comes from outside as the caller knows it."""
    passed = names.get(path.value)
    return path if passed is None else AccessPath(passed.value, (*passed.fields, *path.fields))


def _is_less(one: Size, other: Size) -> bool:
    return not isinstance(one, Unknown) and not isinstance(other, Unknown) and (one < other) == sympy.true
