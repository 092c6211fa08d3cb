"""What tensors of indices hold that kernels of the module compute: the integers between which they lie."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.access_paths import everything, leaves
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.partial_results import positions
from relax_lint.analysis.presumption import Presumption
from relax_lint.facts.claims import Claim
from relax_lint.facts.held import Held, any_integers, bits_of, dtype_of, positions_below
from relax_lint.facts.inplace import overlaps_of
from relax_lint.facts.judge import Judge
from relax_lint.facts.kernels import KernelFacts, KernelUse
from relax_lint.model.kernel_access.polynomials import Poly
from relax_lint.model.kernel_access.stored import StoredValues
from relax_lint.model.operations import FunctionCall, KernelCall, Op, ValueId, View
from relax_lint.model.types import TupleType, ValueType
from relax_lint.results.verdict import Verdict
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.quantity import Unknown

NOT_EMPTY = Presumption("no reduction is empty")
_INT64 = 2**63
MAX_DEPTH = 16
"""So many kernels are followed, each with what another one has computed."""


@record(frozen=True)
class _Write:
    """The operation at `index` writes a tensor: a kernel its parameter `position`, an operator positions on
    an axis (`held`, in a tensor of a type), or who knows.
    """

    index: int
    use: KernelUse | None = None
    position: int = 0
    held: Held | None = None
    type: ValueType | None = None

    @property
    def dtype(self) -> str | None:
        """The type of the elements that are written, if that is known."""
        if self.use is not None:
            return dtype_of(self.use.operands[self.position].type)
        return None if self.type is None else dtype_of(self.type)


@record(frozen=True)
class _Given:
    """What the arguments of a kernel hold, and the values of the kernel's symbols for that."""

    bounds: Mapping[sympy.Symbol, sympy.Expr]
    held: tuple[Held, ...]


class IndexValues:
    """What the tensors of one function hold, as far as constants and kernels decide it."""

    def __init__(
        self,
        flow: FunctionFlow,
        judge: Judge,
        kernels: KernelFacts,
        constants: Mapping[ValueId, tuple[int, int]],
    ) -> None:
        self._flow = flow
        self._judge = judge
        self._kernels = kernels
        self._constants = constants
        self._written: dict[ValueId, list[_Write]] | None = None
        self._damaged: frozenset[ValueId] = frozenset()
        self._known: dict[tuple[int, int], Held | None] = {}
        self._depth = 0

    def of(self, use: KernelUse, position: int) -> Held | None:
        """What an argument holds when a kernel is called; None where that is not known."""
        value = use.operands[position].value
        return None if value is None else self._held(value, use.call.place.index)

    def _held(self, value: ValueId, before: int) -> Held | None:
        """What a value holds before an operation."""
        constant = self._constants.get(value)
        if constant is not None:
            return Held(sympy.Integer(constant[0]), sympy.Integer(constant[1]), reached=True)
        tree = self._flow.aliases.roots.tree(value)
        if isinstance(tree, tuple):
            return None
        found = [self._held_by(root, self._flow.function.type_of(value), before) for root in sorted(tree)]
        whole = value not in self._flow.aliases.windows
        return _joined(found, reached=whole)

    def _held_by(self, root: ValueId, seen: ValueType, before: int) -> Held | None:
        """What a tensor holds before an operation, as somebody sees it."""
        constant = self._constants.get(root)
        if constant is not None and dtype_of(self._flow.function.type_of(root)) == dtype_of(seen):
            return Held(sympy.Integer(constant[0]), sympy.Integer(constant[1]), reached=True)
        writes = [one for one in self._writes.get(root, ()) if one.index < before]
        made = self._flow.paths.definitions.get(root)
        if not writes and isinstance(made, View) and root not in self._damaged:
            # A reshape may be a copy.
            return self._held(made.source, before) if dtype_of(made.type) == dtype_of(seen) else None
        if not writes or root in self._damaged or self._flow.aliases.roots.presumed_new(root) is not None:
            return None
        if any(one.dtype != dtype_of(seen) for one in writes):
            return None
        return _joined([self._left(one) for one in writes], reached=len(writes) == 1)

    # -- who writes what -----------------------------------------------------------------------

    @property
    def _writes(self) -> Mapping[ValueId, list[_Write]]:
        if self._written is None:
            self._written = defaultdict(list)
            uses = {use.call.place.index: use for use in self._kernels.matching}
            for op in self._flow.function.body.of(FunctionCall, KernelCall):
                for root, write in self._writes_of(op, uses.get(op.place.index)):
                    self._written[root].append(write)
                    for other in self._perhaps_with(root, op):
                        self._written[other].append(_Write(op.place.index))
            contents = self._flow.contents
            hurt = [(event.reading.value, event.tensor) for event in contents.unwritten_reads]
            hurt += [(event.reading.value, event.tensor) for event in contents.overwritings]
            hurt += [(event.reading.value, event.call) for event in contents.stale_reads]
            values = {value for name, op in hurt for value in (name, op.result)} | self._flow.used_inside
            self._damaged = frozenset(root for value in values for root in self._roots_of(value))
        return self._written

    def _roots_of(self, value: ValueId) -> frozenset[ValueId]:
        return everything(self._flow.aliases.roots.tree(value))

    def _perhaps_with(self, root: ValueId, op: Op) -> Iterator[ValueId]:
        """The other roots that may be written where one is."""
        roots = self._flow.aliases.roots
        if roots.path(root).value == op.result:
            return
        yield from (other for other, _ in roots.perhaps_of(root))
        yield from self._on_storage.get(root, ())
        if root in self._outside:
            yield from self._outside - {root}

    @cached_property
    def _on_storage(self) -> Mapping[ValueId, list[ValueId]]:
        """The tensors that may be on each storage."""
        found: dict[ValueId, list[ValueId]] = defaultdict(list)
        for root, storages in self._flow.aliases.roots.storages.items():
            for storage in storages:
                found[storage].append(root)
        return found

    @cached_property
    def _outside(self) -> frozenset[ValueId]:
        """The tensors whose memory a caller may pass twice."""
        roots, parameters = self._flow.aliases.roots, self._flow.function.parameters
        given = frozenset(root for value in parameters for root in self._roots_of(value))
        return given.union(root for root, storages in roots.storages.items() if storages & given)

    def _writes_of(self, op: Op, use: KernelUse | None) -> Iterator[tuple[ValueId, _Write]]:
        unknown = _Write(op.place.index)
        if isinstance(op, FunctionCall):
            held = () if op.value is None else (op.value,)
            for value in (*op.arguments, *held, op.result):
                yield from ((root, unknown) for root in self._roots_of(value))
            return
        assert isinstance(op, KernelCall)
        effect = self._flow.effect_of(op)
        known = positions(op, self._flow.function)
        if known:
            yield from self._positions(op, known)
            return
        if use is None or not effect.known:
            touched = effect.writes if effect.known else range(len(op.arguments))
            values = [op.arguments[position] for position in touched if position < len(op.arguments)]
            for value in (*values, op.result):
                yield from ((root, unknown) for root in self._roots_of(value))
            return
        outputs = list(leaves(self._flow.aliases.roots.tree(op.result)))
        for position in sorted(effect.writes):
            fresh = position - len(op.arguments)
            if fresh < 0:
                roots = self._roots_of(op.arguments[position])
                plain = len(roots) == 1 and op.arguments[position] not in self._flow.aliases.windows
            else:
                roots = outputs[fresh] if fresh < len(outputs) else frozenset()
                plain = position not in effect.reads
            write = _Write(op.place.index, use, position) if plain else unknown
            yield from ((root, write) for root in roots)

    def _positions(
        self, op: KernelCall, extents: Mapping[int, sympy.Expr]
    ) -> Iterator[tuple[ValueId, _Write]]:
        """What an operator that sorts writes."""
        types = op.type.fields if isinstance(op.type, TupleType) else (op.type,)
        outputs = leaves(self._flow.aliases.roots.tree(op.result))
        for place, (roots, type_) in enumerate(zip(outputs, types, strict=True)):
            write = _Write(op.place.index)
            extent, bits = extents.get(place), bits_of(type_)
            if extent is not None and bits is not None:
                held = positions_below(extent, bits, op.callee)
                write = write if held is None else _Write(op.place.index, held=held, type=type_)
            yield from ((root, write) for root in roots)

    # -- what a kernel writes ------------------------------------------------------------------

    def _left(self, write: _Write) -> Held | None:
        """What a kernel leaves in one of its arguments."""
        if write.held is not None:
            return write.held
        key = write.index, write.position
        if key not in self._known:
            self._known[key] = None
            self._depth += 1
            # Of any other write the type of the elements is not known.
            assert write.use is not None
            if self._depth <= MAX_DEPTH:
                self._known[key] = self._stored(write.use, write.position)
            self._depth -= 1
        return self._known[key]

    def _stored(self, use: KernelUse, position: int) -> Held | None:
        values = use.kernel.accesses.values.get(position)
        whole = use.kernel.whole_writes.get(position, sympy.false)
        if values is None or position in self._flow.effect_of(use.call).reads:
            return None
        given = self._given(use, values)
        if given is None or not self._is_certain(use, whole) or self._is_read_over(use, position):
            return None
        ends = self._ends(use, values, given)
        if ends is None or not self._fits(use, *ends):
            return None
        presumed = self._presumed(use, values, given)
        if presumed is None:
            return None
        before = [(p, c) for one in given.held for p, c in zip(one.presumptions, one.given, strict=True)]
        everything_presumed = dict.fromkeys(
            (*before, *presumed, *((p, sympy.true) for p in use.presumptions))
        )
        return Held(
            *ends,
            tuple(presumption for presumption, _ in everything_presumed),
            tuple(condition for _, condition in everything_presumed),
            values.reached and not given.held and not presumed,
        )

    def _ends(
        self, use: KernelUse, values: StoredValues, given: _Given
    ) -> tuple[sympy.Expr, sympy.Expr] | None:
        """The least and the greatest of what is stored."""
        ends = [(self._bound(use, low, given), self._bound(use, high, given)) for low, high in values.ranges]
        known = [(low, high) for low, high in ends if low is not None and high is not None]
        if not known or len(known) < len(ends):
            return None
        return sympy.Min(*(low for low, _ in known)), sympy.Max(*(high for _, high in known))

    def _presumed(
        self, use: KernelUse, values: StoredValues, given: _Given
    ) -> tuple[tuple[Presumption, Boolean], ...] | None:
        """What is taken for granted for a kernel to store what is said of it; None where that is too much."""
        if not all(self._holds(use, self._not_negative(use, p, given)) for p in values.steps):
            return None
        found: dict[tuple[Presumption, Boolean], None] = {}
        for group in values.wraps:
            condition = _some_negative(self._bound(use, p, given) for p in group)
            if not self._holds(use, condition):
                if not condition.free_symbols:
                    return None
                found[Presumption(f"no integer that `{use.kernel.name}` stores wraps around"), condition] = (
                    None
                )
        for p in values.reductions:
            room = self._bound(use, p, given)
            # Of what nobody knows the size nothing follows from its being presumed.
            condition = sympy.true if room is None else sympy.Ge(room, 0)
            if room is None or not self._holds(use, condition):
                found[NOT_EMPTY, condition] = None
        return tuple(found)

    def _fits(self, use: KernelUse, low: sympy.Expr, high: sympy.Expr) -> bool:
        """Whether all between two ends are integers of 64 bits."""
        condition = sympy.And(sympy.Ge(low, -_INT64), sympy.Lt(high, _INT64))
        return self._holds(use, condition)

    def _not_negative(self, use: KernelUse, p: Poly, given: _Given) -> Boolean:
        found = self._bound(use, p, given)
        return sympy.false if found is None else sympy.Ge(found, 0)

    def _given(self, use: KernelUse, values: StoredValues) -> _Given | None:
        """The values of the bounds on what the kernel's arguments hold: of any integers, if nothing is known
        of them.
        """
        terms = use.kernel.accesses.terms
        found: dict[sympy.Symbol, sympy.Expr] = {}
        held: list[Held] = []
        for symbol, position in terms.contents_in(_polynomials(values)).items():
            known = self.of(use, position) or any_integers(use.operands[position].type)
            if known is None:
                return None
            found[symbol] = known.low if symbol.name.startswith("min(") else known.high
            held.append(known)
        return _Given(found, tuple(held))

    def _is_read_over(self, use: KernelUse, position: int) -> bool:
        """Whether a kernel may overwrite what it has still to read: it then reads what it has stored."""
        arguments = use.call.arguments
        if position >= len(arguments):
            return False
        written = self._roots_of(arguments[position])
        read = [self._roots_of(arguments[other]) for other in self._flow.effect_of(use.call).reads]
        if written & self._outside and any(roots & self._outside - written for roots in read):
            return True
        return any(
            found.event.written == arguments[position]
            and (found.decision.verdict is not Verdict.ALWAYS_FINE or found.presumptions)
            for found in overlaps_of(use.call, self._flow, self._judge)
        )

    def _bound(self, use: KernelUse, p: Poly, given: _Given) -> sympy.Expr | None:
        """A polynomial of the kernel in the symbols of the caller."""
        found = use.match.binding.expr(use.kernel.accesses.terms.expression(p), given.bounds)
        return None if isinstance(found, Unknown) else found

    def _is_certain(self, use: KernelUse, whole: Boolean) -> bool:
        """Whether a condition on the kernel's symbols holds in a call."""
        values = use.match.binding.values
        return whole.free_symbols <= values.keys() and self._holds(use, whole.xreplace(values))

    def _holds(self, use: KernelUse, condition: Boolean) -> bool:
        return self._judge.judge(Claim(condition, use.entered)).verdict is Verdict.ALWAYS_FINE


def _polynomials(values: StoredValues) -> Iterator[Poly]:
    for pair in values.ranges:
        yield from pair
    for group in (*values.wraps, values.steps, values.reductions):
        yield from group


def _some_negative(group: Iterable[sympy.Expr | None]) -> Boolean:
    return sympy.Or(*(sympy.Lt(p, 0) for p in group if p is not None))


def _joined(found: Iterable[Held | None], *, reached: bool) -> Held | None:
    """What holds of tensors of which one is seen."""
    known = list(found)
    if not known or None in known:
        return None
    every = [one for one in known if one is not None]
    if len(every) == 1:
        one = every[0]
        return replace(one, reached=one.reached and reached)
    presumed = dict.fromkeys(pair for one in every for pair in zip(one.presumptions, one.given, strict=True))
    return Held(
        sympy.Min(*(one.low for one in every)),
        sympy.Max(*(one.high for one in every)),
        tuple(presumption for presumption, _ in presumed),
        tuple(condition for _, condition in presumed),
    )
