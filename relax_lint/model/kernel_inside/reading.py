"""From the loads and stores of a kernel to what is wrong inside it. In doubt nothing is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import sympy
import tvm
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_inside.findings import (
    NOTHING,
    Inside,
    LargeBuffer,
    OnChip,
    OwnBuffer,
    PartlyWritten,
    Race,
    UnusedBuffer,
    UnwrittenRead,
)
from relax_lint.model.kernel_inside.same_values import Same, is_same_at_first, when_neutral, when_same
from relax_lint.model.kernel_inside.values import (
    changes,
    may_keep,
    neutral,
    repeats,
    same_element,
)
from relax_lint.model.kernel_inside.walk import Access, Internal, Loop, Walk, key_of
from relax_lint.symbolic.relations import at_most
from relax_lint.symbolic.translate import Translator, Untranslatable
from relax_lint.vm import nodes

_ZERO, _ONE = sympy.Integer(0), sympy.Integer(1)
_LIMITS = {"shared": "max_shared_memory_per_block", "local": "max_local_memory_per_block"}


def read_inside(
    prim_func: Any,
    symbols: Mapping[Any, sympy.Symbol],
    fits: Callable[[sympy.Expr, int], bool] | None = None,
    partly_written: Callable[[Sequence[OwnBuffer]], Iterable[PartlyWritten]] = lambda own: (),
) -> Inside:
    """What is found in a PrimFunc; `symbols` are those of its signature, `fits` tells what its arithmetic in
    less than 64 bits may come to, `partly_written` of which of its buffers something unwritten is read.
    """
    walk = Walk()
    walk.statement(prim_func.body)
    on_chip, target = _on_chip(walk), _named_target(prim_func)
    large = () if target is None else tuple(beyond(on_chip, target))
    more = on_chip if target is None else ()
    reader = _Reader(walk, prim_func, symbols, fits)
    unwritten = () if walk.irregular else tuple(reader.unwritten_reads())
    if not (walk.has_unknown or walk.has_threads):
        unwritten += tuple(reader.partly(partly_written, unwritten))
    if walk.irregular:
        return Inside(unwritten_reads=unwritten, large=large, on_chip=more)
    found = Inside(tuple(reader.races()), unwritten, tuple(reader.unused()), large, more)
    return NOTHING if found == NOTHING else found


class _Reader:
    def __init__(
        self,
        walk: Walk,
        prim_func: Any,
        symbols: Mapping[Any, sympy.Symbol],
        fits: Callable[[sympy.Expr, int], bool] | None,
    ) -> None:
        self._walk = walk
        self._parameters = {int(var.__chandle__()) for var in prim_func.params[:]}
        known = dict(symbols)
        self._translator = Translator(lambda var: _symbol(known, var), fits=fits)

    # -- races ---------------------------------------------------------------------------------

    def races(self) -> Iterator[Race]:
        """Stores that each step of a parallel loop, or its first two, make to the same element."""
        for store in self._walk.accesses:
            if store.stores and store.surely and store.buffer not in self._walk.escaped:
                for loop in store.loops:
                    race = self._race(store, loop)
                    if race is not None:
                        yield race
                        break

    def _race(self, store: Access, loop: Loop) -> Race | None:
        if not self._is_shared(store, loop) or store.depends.contents:
            return None
        around, short = store.loops, loop
        if loop in store.depends.loops:
            # The first two steps are enough, if they store to one element.
            around, short = _first_steps(store.loops, loop)
            indices = store.node.indices
            if not all(is_same_at_first(index, short, around, self._walk.bound) for index in indices):
                return None
        value = store.node.value
        reads = any(same_element(load.node, store.node) for load in store.loads)
        if reads:
            stored = {access.buffer for access in self._walk.accesses if access.stores}
            reads = not repeats(value, store.node, stored)
        moves = loop in store.value.loops and changes(value, short, around, self._walk.bound)
        if short is not loop and is_same_at_first(value, short, around, self._walk.bound):
            moves = False
        if not (reads or moves):
            return None
        harmless = self._not_made(store, 2, loop)
        if harmless is None or harmless == sympy.true:
            return None
        same = self._same(value, store, short, around, reads=reads)
        condition = sympy.false if same is None else self._all_zero(same.differences)
        text, name = _text(store.node), _name(store.node)
        surely = same is None or (same.exact and condition is not None)
        if surely and condition == sympy.true:
            return None
        condition = sympy.true if condition is None else condition
        each = short is loop
        return Race(text, name, loop.name, loop.kind, reads, harmless, store.node, condition, surely, each)

    def _same(
        self, value: Any, store: Access, loop: Loop, loops: Sequence[Loop], *, reads: bool
    ) -> Same | None:
        """When the steps of a loop store the same; of what `reads` the element, when each leaves it alone."""
        if not reads:
            return when_same(value, loop, loops, self._walk.bound)
        found = neutral(value, store.node)
        if found is None:
            return Same() if may_keep(value, store.node) else None
        other, numbers = found
        each = [when_neutral(other, number, loop, loops, self._walk.bound) for number in numbers]
        possible = [same for same in each if same is not None]
        return next(iter(possible), None) if len(possible) < 2 else Same()

    def _all_zero(self, differences: Sequence[Any]) -> Boolean | None:
        """When each of these numbers is 0; None where that cannot be said."""
        try:
            found = [self._translator.expr(difference) for difference in differences]
        except (Untranslatable, AttributeError):
            return None
        return sympy.And(*(sympy.Eq(one, _ZERO) for one in found))

    def _is_shared(self, store: Access, loop: Loop) -> bool:
        """Whether the steps of a loop have the buffer together, and come in any order."""
        if loop.kind.startswith("threadIdx"):
            # TVM lowers a reduction over threads to one across threads.
            if loop in store.reducing:
                return False
        elif loop.kind != "parallel" and not loop.kind.startswith("blockIdx"):
            return False
        if store.buffer in self._parameters:
            return True
        internal = self._walk.internals.get(store.buffer)
        if internal is None or internal.moves or loop in internal.loops:
            return False
        return _scope(internal.buffer) == "global"

    # -- buffers of the kernel -----------------------------------------------------------------

    def unwritten_reads(self) -> Iterator[UnwrittenRead]:
        """The first load from a buffer that no store precedes."""
        for key, internal in self._plain():
            loads, stores = self._accesses(key)
            for load in loads:
                if not load.surely or any(not _comes_before(load, store, internal) for store in stores):
                    continue
                harmless = self._not_made(load, 1, None)
                if harmless is not None and harmless != sympy.true:
                    name = str(internal.buffer.name)
                    yield UnwrittenRead(_text(load.node), name, not stores, harmless, load.node)
                    break

    def partly(
        self,
        partly_written: Callable[[Sequence[OwnBuffer]], Iterable[PartlyWritten]],
        told: Sequence[UnwrittenRead],
    ) -> Iterator[UnwrittenRead]:
        """Loads of elements that no store precedes, from other buffers, and from those where what is told of
        them is not so.
        """
        known = {key_of(_buffer(read.node)): read.harmless for read in told}
        own = []
        for key, internal in self._plain():
            loads, _ = self._accesses(key)
            asked = known.get(key, sympy.true)
            if loads and asked != sympy.false:
                unloaded = sympy.And(*(self._left_out(load) for load in loads))
                own.append(OwnBuffer(internal.buffer, unloaded, asked))
        safe = {key_of(one.buffer): one.unloaded for one in own}
        for found in partly_written(own) if own else ():
            yield UnwrittenRead(
                _text(found.node),
                str(found.buffer.name),
                ever=False,
                harmless=sympy.Not(found.wrong),
                node=found.node,
                partly=True,
                safe=safe[key_of(found.buffer)],
                seen=found.seen,
            )

    def unused(self) -> Iterator[UnusedBuffer]:
        """Buffers that nothing reads."""
        for key, internal in self._plain():
            loads, stores = self._accesses(key)
            if not loads:
                yield UnusedBuffer(str(internal.buffer.name), _scope(internal.buffer), bool(stores))

    def _plain(self) -> Iterator[tuple[int, Internal]]:
        """The buffers of the kernel that only loads and stores use."""
        return (
            (key, internal) for key, internal in self._walk.internals.items() if key not in self._walk.escaped
        )

    def _accesses(self, key: int) -> tuple[list[Access], list[Access]]:
        own = [access for access in self._walk.accesses if access.buffer == key]
        return [one for one in own if not one.stores], [one for one in own if one.stores]

    # -- conditions ----------------------------------------------------------------------------

    def _left_out(self, access: Access) -> Boolean:
        """When an access is not made, as far as that is known."""
        found: list[Boolean] = []
        for loop in access.loops:
            if not loop.varies and loop.step is None and loop.extent is not None:
                with suppress(Untranslatable, AttributeError):
                    found.append(at_most(self._translator.expr(loop.extent), _ZERO))
        for guard in access.guards:
            if not (guard.depends.loops or guard.depends.contents):
                with suppress(Untranslatable, AttributeError):
                    condition = self._translator.condition(guard.condition)
                    found.append(condition if guard.negated else sympy.Not(condition))
        return sympy.Or(*found)

    def _not_made(self, access: Access, steps: int, loop: Loop | None) -> Boolean | None:
        """When an access is not made, or in fewer than so many steps of a loop; None if that is unknown."""
        found: list[Boolean] = []
        try:
            for one in access.loops:
                if one.varies or one.step is not None or one.extent is None:
                    return None
                least = steps if one is loop else 1
                found.append(at_most(self._translator.expr(one.extent), sympy.Integer(least - 1)))
            for guard in access.guards:
                if guard.depends.loops or guard.depends.contents:
                    return None
                condition = self._translator.condition(guard.condition)
                found.append(condition if guard.negated else sympy.Not(condition))
        except (Untranslatable, AttributeError):
            return None
        return sympy.Or(*found)


def _symbol(known: Mapping[Any, sympy.Symbol], var: Any) -> sympy.Symbol:
    if var not in known:
        raise Untranslatable("a variable of the kernel")
    return known[var]


def _first_steps(loops: Sequence[Loop], loop: Loop) -> tuple[tuple[Loop, ...], Loop]:
    """The loops around an access with two steps of one of them, and that one."""
    short = replace(loop, extent=tvm.tirx.IntImm(str(loop.var.ty.dtype), 2))
    return tuple(short if one is loop else one for one in loops), short


def _comes_before(load: Access, store: Access, internal: Internal) -> bool:
    """Whether no run of a store comes before the first run of a load."""
    if load.order > store.order:
        return False
    common = [loop for loop in load.loops if loop in store.loops and loop not in internal.loops]
    return all(loop.kind == "serial" for loop in common)


def _buffer(node: Any) -> Any:
    return nodes.loaded_buffer(node) if nodes.is_load(node) else node.buffer


def _name(node: Any) -> str:
    return str(_buffer(node).name)


def _text(node: Any) -> str:
    return f"{_name(node)}[{', '.join(map(str, node.indices))}]"


def _scope(buffer: Any) -> str:
    return str(buffer.scope() if callable(buffer.scope) else buffer.scope)


# -- targets -----------------------------------------------------------------------------------


def _named_target(prim_func: Any) -> Any:
    return prim_func.attrs.get("target", None) if prim_func.attrs else None


def _on_chip(walk: Walk) -> tuple[OnChip, ...]:
    """The buffers in shared and local memory. Those of blocks TVM may still make smaller."""
    found = []
    for internal in walk.internals.values():
        scope = _scope(internal.buffer)
        size = None if internal.moves or scope.partition(".")[0] not in _LIMITS else _bytes(internal.buffer)
        if size is not None:
            found.append(OnChip(str(internal.buffer.name), scope, size))
    return tuple(found)


def beyond(buffers: Sequence[OnChip], target: Any) -> Iterator[LargeBuffer]:
    """The buffers that are larger than a target allows in their scope."""
    for one in buffers:
        limit = None if _grows(one.scope, target) else _limit(target, _LIMITS[one.scope.partition(".")[0]])
        if limit is not None and one.bytes > limit:
            yield LargeBuffer(one.buffer, one.scope, one.bytes, limit, str(target.kind.name))


def _grows(scope: str, target: Any) -> bool:
    """Whether TVM asks the driver for more than a target declares: CUDA's limit for dynamic shared memory is
    that of the device. Source: TVM's `CUDAWrappedFunc`, which sets `MAX_DYNAMIC_SHARED_SIZE_BYTES`.
    """
    return scope == "shared.dyn" and str(target.kind.name) == "cuda"


def _limit(target: Any, key: str) -> int | None:
    find: Callable[[str, Any], Any] = target.attrs.get
    found = find(key, None) if key else None
    return None if found is None else int(found)


def _bytes(buffer: Any) -> int | None:
    extents = list(buffer.shape)
    if not all(type(extent).__name__ == "IntImm" for extent in extents):
        return None
    dtype = buffer.dtype
    return math.prod(int(extent.value) for extent in extents) * int(dtype.bits) * int(dtype.lanes) // 8
