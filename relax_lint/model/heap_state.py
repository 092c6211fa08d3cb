"""The shape heaps of one function under all their names, and what their slots hold at each point of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import sympy

from relax_lint.model.heap_contents import UNSURE, Contents, Given, SlotAccess, Ways
from relax_lint.model.operations import ValueId
from relax_lint.model.types import DType, OpaqueType, TensorType, TupleType, ValueType
from relax_lint.symbolic.quantity import Size, Unknown

_SLOT = DType("int64", 64)
_UNKNOWN_COUNT = Unknown("the number of slots of the shape heap is not known")
_UNUSED = Contents(UNSURE)


@dataclass
class Following:
    """Whether the values of a function are followed that somebody else may have made as a heap. No function
    that TVM lowers has one, so this is `asked` for where one is used.
    """

    outside: bool = False
    asked: bool = False


@dataclass
class Heaps:
    """The shape heaps of one function. A value that is one of several is followed as a heap of its own, which
    shares its `bases` with them. One that escaped may be written by any call: the values of its slots are
    never known.
    """

    following: Following = field(default_factory=Following)
    function: str = ""
    state: dict[ValueId, Contents] = field(default_factory=dict)
    calls: dict[int, dict[ValueId, Contents]] = field(default_factory=dict)
    """The contents before each call of a function that is given a heap, by the index of the operation."""
    accesses: list[tuple[ValueId, SlotAccess]] = field(default_factory=list)
    _roots: dict[ValueId, ValueId] = field(default_factory=dict)
    _counts: dict[ValueId, Size] = field(default_factory=dict)
    _bases: dict[ValueId, frozenset[ValueId]] = field(default_factory=dict)
    _escaped: set[ValueId] = field(default_factory=set)
    _fields: dict[ValueId, tuple[ValueId, ...]] = field(default_factory=dict)
    _given: dict[ValueId, Given] = field(default_factory=dict)
    _outside: set[ValueId] = field(default_factory=set)
    """Those that this function did not allocate: two of them may be one."""
    _kept: set[ValueId] = field(default_factory=set)
    """Those that somebody may go on to write who was given them here."""
    _known: set[ValueId] = field(default_factory=set)
    """Those that are heaps by their allocation, or because something uses them as one."""
    _unnamed: int = 0

    def inner(self) -> Heaps:
        """The heaps as an inner function sees them, which is called later, or several times."""
        roots = set(self._roots.values())
        blurred = {root: contents.blur() for root, contents in self.state.items()}
        return replace(
            self,
            state=blurred,
            calls={},
            accesses=[],
            _roots=dict(self._roots),
            _counts=dict(self._counts),
            _bases=dict(self._bases),
            _escaped=roots,
            _fields=dict(self._fields),
            _given=dict(self._given),
            _outside=set(roots),
            _kept=set(self._kept),
            _known=set(self._known),
        )

    # -- names ---------------------------------------------------------------------------------

    def allocate(self, value: ValueId, count: Size) -> None:
        """A new heap; a null, which is passed where no slot is needed, has none."""
        self.add(value, count, Contents(), known=True)

    def add(
        self,
        value: ValueId,
        count: Size,
        contents: Contents,
        *,
        known: bool,
        bases: Iterable[ValueId] | None = None,
    ) -> None:
        """A heap of its own, or one of those that have the same bases."""
        self._roots[value] = value
        self._counts[value] = count
        self._bases[value] = frozenset((value,) if bases is None else bases)
        self.state[value] = contents
        if known:
            self._known.add(value)
        if not self._escaped.isdisjoint(self._bases[value]):
            self._escaped.add(value)

    def receive(self, parameter: ValueId, type_: ValueType) -> None:
        """A parameter, which is a heap or holds one if a caller gives it one."""
        if self.following.outside:
            self._from_outside(parameter, type_, Given(self.function, parameter))

    def result_of(self, value: ValueId, type_: ValueType, ways: Ways) -> None:
        """What an operation gives that allocates no heap, in case that it is used as one."""
        if self.following.outside and value not in self._roots and value not in self._fields:
            self._from_outside(value, type_, ways)

    def _from_outside(self, value: ValueId, type_: ValueType, origin: Given | Ways) -> None:
        if isinstance(type_, TupleType):
            self._fields[value] = tuple(self.unnamed() for _ in type_.fields)
            for index, (name, field_type) in enumerate(zip(self._fields[value], type_.fields, strict=True)):
                inside = (
                    replace(origin, fields=(*origin.fields, index)) if isinstance(origin, Given) else origin
                )
                self._from_outside(name, field_type, inside)
        elif _may_be_heap(type_):
            ways: Ways = frozenset((origin,)) if isinstance(origin, Given) else origin
            self.add(value, count_of(type_), Contents(ways), known=False)
            if isinstance(origin, Given):
                self._given[value] = origin
            self._outside.add(value)
            self._escaped.add(value)

    def unnamed(self) -> ValueId:
        """A name for a heap that no value is: a field of a tuple that was made elsewhere."""
        self._unnamed -= 1
        return self._unnamed

    def rename(self, value: ValueId, source: ValueId) -> None:
        """`value` is `source` under another name."""
        if source in self._roots:
            self._roots[value] = self._roots[source]
        if source in self._fields:
            self._fields[value] = self._fields[source]

    def pack(self, value: ValueId, fields: tuple[ValueId, ...]) -> None:
        """A tuple."""
        self._fields[value] = fields

    def unpack(self, value: ValueId, source: ValueId, index: int) -> None:
        """A field of a tuple."""
        fields = self._fields.get(source, ())
        if index < len(fields):
            self.rename(value, fields[index])

    def meet_at(self, value: ValueId, results: tuple[ValueId, ValueId], states: Iterable[State]) -> None:
        """The result of an `If`: one of two values, with the contents behind each branch."""
        if self.among(set(results)):
            self._meet(value, results, tuple(states), {})

    def _meet(
        self,
        value: ValueId,
        results: tuple[ValueId, ValueId],
        states: tuple[State, ...],
        met: dict[tuple[ValueId, ValueId], ValueId],
    ) -> None:
        one, other = results
        if one == other or results in met:
            self.rename(value, met.get(results, one))
            return
        met[results] = value
        roots = [self._roots.get(each) for each in results]
        fields = [self._fields.get(each) for each in results]
        if None not in roots:
            self._either(value, [root for root in roots if root is not None], states)
        elif None not in fields and len(fields[0] or ()) == len(fields[1] or ()):
            pairs = list(zip(fields[0] or (), fields[1] or (), strict=True))
            self._fields[value] = tuple(self.unnamed() for _ in pairs)
            for name, pair in zip(self._fields[value], pairs, strict=True):
                self._meet(name, pair, states, met)
        else:
            self.escape(set(results))

    def _either(self, value: ValueId, roots: list[ValueId], states: tuple[State, ...]) -> None:
        one, other = roots
        if one == other:
            self._roots[value] = one
            return
        counts = [self._counts[root] for root in roots]
        # A heap of somebody else that only the other branch used is not in the state of this one.
        contents = states[0].get(one, _UNUSED).join(states[1].get(other, _UNUSED))
        known = not self._known.isdisjoint(roots)
        bases = self._bases[one] | self._bases[other]
        self.add(
            value, counts[0] if counts[0] == counts[1] else _UNKNOWN_COUNT, contents, known=known, bases=bases
        )

    def among(self, values: Iterable[ValueId]) -> set[ValueId]:
        """The heaps among values, and inside tuples among them."""
        if not self._roots:
            return set()
        pending = list(values)
        seen = set(pending)
        for value in pending:
            more = [each for each in self._fields.get(value, ()) if each not in seen]
            seen.update(more)
            pending += more
        return {self._roots[value] for value in seen if value in self._roots}

    def known_among(self, values: Iterable[ValueId]) -> set[ValueId]:
        """Those of them that are heaps for certain, and not only values that may be."""
        return {root for root in self.among(values) if self.is_known(root)}

    def root(self, value: ValueId, type_: ValueType) -> ValueId:
        """The heap that a value is, which is used as one."""
        if value not in self._roots:
            self.following.asked = True
            self.add(value, count_of(type_), Contents(UNSURE), known=True)
            self._outside.add(value)
            self._escaped.add(value)
        root = self._roots[value]
        self.use(root)
        return root

    def use(self, root: ValueId | None) -> None:
        """A value is used as a heap; None is one that is not followed."""
        if root is None:
            self.following.asked = True
        else:
            self._known |= self._bases[root]

    def heap_of(self, value: ValueId, fields: tuple[int, ...] = ()) -> ValueId | None:
        """The heap that a value, or a field of it, is known to be."""
        for index in fields:
            inside = self._fields.get(value, ())
            if index >= len(inside):
                return None
            value = inside[index]
        return self._roots.get(value)

    def fields(self, value: ValueId) -> tuple[ValueId, ...]:
        """The fields of a tuple, as far as they are known."""
        return self._fields.get(value, ())

    def received(self, parameter: ValueId) -> Iterator[tuple[ValueId, Given]]:
        """The heaps that a parameter is or holds."""
        return ((root, given) for root, given in self._given.items() if given.parameter == parameter)

    # -- heaps ---------------------------------------------------------------------------------

    def slots(self, root: ValueId) -> Size:
        """How many slots a heap has."""
        return self._counts[root]

    def bases(self, root: ValueId) -> frozenset[ValueId]:
        """The heaps one of which it is: itself, or those that branches chose from."""
        return self._bases[root]

    def given(self, root: ValueId) -> tuple[Given, ...]:
        """The parameters that a heap may be."""
        return tuple(self._given[base] for base in sorted(self._bases[root]) if base in self._given)

    def is_given(self, root: ValueId) -> bool:
        """Whether a heap is one of the parameters."""
        return self._bases[root] <= self._given.keys()

    def is_known(self, root: ValueId) -> bool:
        """Whether it is a heap for certain, and not only a value that may be one."""
        return root in self._known or not self._known.isdisjoint(self._bases[root])

    def is_kept(self, root: ValueId) -> bool:
        """Whether somebody may go on to write a heap who was given it in this function."""
        return root in self._kept

    @property
    def keeps_any(self) -> bool:
        """Whether that is so of any heap."""
        return bool(self._kept)

    def keep(self, root: ValueId) -> None:
        """Somebody has a heap from now on, and may write it whenever it runs."""
        same = (root, *self._may_be(root))
        self._escaped.update(same)
        self._kept.update(same)

    def _may_be(self, root: ValueId) -> Iterator[ValueId]:
        """The other heaps that may be the same."""
        bases = self._bases[root]
        is_outside = not bases.isdisjoint(self._outside)
        for other, others in self._bases.items():
            if other != root and other in self.state:
                shared = not bases.isdisjoint(others)
                if shared or (is_outside and not others.isdisjoint(self._outside)):
                    yield other

    def found(self) -> tuple[SlotAccess, ...]:
        """The accesses, in program order, with what is known of the heaps in the end."""
        return tuple(
            replace(access, known=self.is_known(root), given=self.given(root), is_given=self.is_given(root))
            for root, access in self.accesses
        )

    # -- contents ------------------------------------------------------------------------------

    def escape(self, values: Iterable[ValueId]) -> None:
        """Somebody else has the heaps among these values from now on, and may write them whenever it runs."""
        for root in self.among(values):
            self.keep(root)
            self.blur(root)

    def contents(self, root: ValueId) -> Contents:
        """What is known of the slots of a heap. Code that is not well-formed uses one of the other branch."""
        return self.state.get(root) or Contents()

    def put(self, root: ValueId, contents: Contents, after: Contents) -> None:
        """A call came between: what the heap holds now, and what the call did to it."""
        self.state[root] = contents
        for other in self._may_be(root):
            self.state[other] = self.state[other].meet(after)

    def blur(self, root: ValueId) -> None:
        """Any slot of a heap may have been written."""
        for each in (root, *self._may_be(root)):
            self.state[each] = self.contents(each).blur()

    def write(self, root: ValueId, index: int | None, value: sympy.Expr | None) -> None:
        """A slot is written; None is one whose number is not known."""
        if index is None:
            self.blur(root)
            return
        known = None if root in self._escaped else value
        self.state[root] = self.contents(root).write(index, known)
        for other in self._may_be(root):
            self.state[other] = self.state[other].write_perhaps(index, known)

    def read(self, root: ValueId, index: int | None) -> tuple[sympy.Expr | None, Ways]:
        """The value of a slot, and what was done to it."""
        return self.contents(root).value(index), self.ways(root, index, self.state)

    def ways(self, root: ValueId, index: int | None, state: State) -> Ways:
        """What was done to a slot: what is known of the heap itself, and of those one of which it is."""
        own, bases = (state.get(root) or Contents()).ways(index), self._bases[root]
        if len(bases) == 1 or not bases <= state.keys():
            return own
        return own.intersection(frozenset[object]().union(*(state[base].ways(index) for base in bases)))

    def join(self, one: State, other: State) -> None:
        """Go on behind two branches, in which the contents came to be these. Behind them a heap that only
        one of them allocated can be named as their result, and not otherwise.
        """
        self.state = {
            root: one[root].join(other[root])
            if root in one and root in other
            else (one.get(root) or other[root])
            for root in {**one, **other}
        }

    def before_call(self, index: int, values: Iterable[ValueId]) -> None:
        """Keep the contents before a call of a function that is given these values."""
        if self.among(values):
            self.calls[index] = dict(self.state)


State = dict[ValueId, Contents]
"""The contents of every heap of a function."""


def type_of_heap(slots: sympy.Expr | None) -> TensorType:
    """The type of the heap that `alloc_shape_heap(slots)` makes."""
    return TensorType(None if slots is None else (slots,), _SLOT, 1)


def count_of(type_: ValueType) -> Size:
    """How many slots a heap of a type has."""
    if isinstance(type_, TensorType) and type_.dtype == _SLOT and type_.shape is not None:
        return sympy.Mul(*type_.shape)
    return _UNKNOWN_COUNT


def _may_be_heap(type_: ValueType) -> bool:
    """Whether a heap passes for a value of this type."""
    if isinstance(type_, TensorType):
        return type_.dtype in (None, _SLOT) and type_.ndim in (-1, 1)
    return isinstance(type_, OpaqueType)
