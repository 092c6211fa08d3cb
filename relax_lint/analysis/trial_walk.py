"""One run of a function at some sizes, with some contents: each value is followed twice, as it is and with
some damage, as far as it is known what is called.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import sympy

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.observed_parts import Flow
from relax_lint.analysis.trial_course import Budget, Course
from relax_lint.analysis.trial_sizes import Sizes, number_at, sized, sizes_inside
from relax_lint.analysis.trial_tensors import (
    Seen,
    Stopped,
    TrialTensor,
    Unclear,
    carry_out,
    written_by,
)
from relax_lint.analysis.trial_unfollowed import KNOWN_KINDS, looked_at, require_shown
from relax_lint.analysis.trial_values import Held, fields, joined, leaves, require_equal
from relax_lint.model.kernels import Kernel
from relax_lint.model.operations import (
    Alias,
    AllocTensor,
    Assert,
    Block,
    Constant,
    FunctionCall,
    GetItem,
    If,
    KernelCall,
    MakeTuple,
    MatchCast,
    Op,
    ValueId,
    View,
)
from relax_lint.model.types import (
    OpaqueType,
    PrimType,
    TensorType,
    TupleType,
    ValueType,
)
from relax_lint.symbolic.quantity import Unknown
from relax_lint.vm.calls import CLOSURE_MAKERS, MAKE_CLOSURE, CallKind
from relax_lint.vm.constants import is_omitted, numbers_of

_MOST_NUMBERS = 4_096
"""A constant with more elements is not looked at."""


class Spent(Exception):
    """There were enough steps."""


class Walk:
    """One run of a function with some contents, without damage and with it side by side. A function that it
    calls has a run of its own on the same `course`.
    """

    def __init__(
        self, budget: Budget, flow: Flow, sizes: Sizes, trial: int, course: Course | None = None
    ) -> None:
        self._budget = budget
        self._flow = flow
        self._sizes = dict(sizes)
        self._function = flow.function
        self._trial = trial
        self._held: dict[ValueId, Held] = {}
        self.course = Course(Walk) if course is None else course
        self._number = self.course.next_number()
        self._other_views = set[ValueId]()
        """What shows memory as other numbers."""
        self._stored: list[TrialTensor] = []
        """What the last operation stored, if it was carried out."""

    def gives_back_damage(self) -> bool:
        """Whether what the function returns, or what it was given, is another one with damage in the end."""
        ends = (self._function.result, *self._function.parameters)
        return any(one.differs for end in ends for one in leaves(self._of(end)))

    # -- values --------------------------------------------------------------------------------

    def _of(self, value: ValueId) -> Held:
        if value not in self._held:
            function = self._function
            if value in function.inline_tuples:
                self._held[value] = tuple(map(self._of, function.inline_tuples[value]))
            elif value in function.constant_nodes:
                self._held[value] = self._constant(function.type_of(value), function.constant_nodes[value])
            else:
                self._held[value] = self._anything(self._type_of(value), self._name_of(value))
        return self._held[value]

    def _name_of(self, value: ValueId) -> str:
        """One that no other value has, nor this one in another call of the function."""
        return f"{value} {self._number}" if self._number else f"{value}"

    def _type_of(self, value: ValueId) -> ValueType:
        return sized(self._function.type_of(value), self._sizes)

    def _anything(self, type_: ValueType, name: str) -> Held:
        if isinstance(type_, TupleType):
            return tuple(
                self._anything(field, f"{name}.{number}") for number, field in enumerate(type_.fields)
            )
        if not isinstance(type_, TensorType) or not TrialTensor.fits(type_):
            return None
        return TrialTensor.drawn(type_, f"{name} {self._trial}", self._trial)

    def _constant(self, type_: ValueType, node: Any) -> Held:
        if not isinstance(type_, TensorType) or not TrialTensor.fits(type_):
            return None
        if is_omitted(node) and type_.dtype is not None and type_.dtype.name == "bool":
            # Other ones may be zeros, which hide the most; of these no branch is the one that is taken.
            return self._anything(type_, f"{node.span} {hash(node)}")
        count = math.prod(type_.shape or ())
        numbers = numbers_of(node) if count <= _MOST_NUMBERS else None
        if numbers is None or len(numbers) != count:
            return None
        # Those that are equal, bit by bit, the machine keeps as one (`const_dedup_map_` of its builder).
        made = TrialTensor.constant(type_, numbers)
        return self.course.constants.setdefault((type_, repr(numbers)), made)

    # -- the walk ------------------------------------------------------------------------------

    def _block(self, block: Block) -> None:
        for op in block.ops:
            self._before(op)
            self._stored = []
            self._op(op)
            for one in self.course.watching:
                one.notice(self._stored)
            self._after(op)

    def _before(self, op: Op) -> None:
        """What is done before each operation."""

    def _after(self, op: Op) -> None:
        """What is done behind each operation."""

    def _op(self, op: Op) -> None:
        if isinstance(op, KernelCall):
            self._kernel(op)
        elif isinstance(op, If):
            self._branch(op)
        elif isinstance(op, FunctionCall):
            self._function_call(op)
        elif isinstance(op, Assert):
            self._assert(op)
        elif isinstance(op, MatchCast):
            self._match_cast(op)
        elif isinstance(op, Alias):
            self._held[op.result] = self._of(op.source)
        elif isinstance(op, MakeTuple):
            self._held[op.result] = tuple(map(self._of, op.items))
        elif isinstance(op, GetItem):
            source = self._of(op.tuple)
            field = source[op.item] if isinstance(source, tuple) and op.item < len(source) else None
            self._held[op.result] = field
        elif isinstance(op, View):
            self._view(op)
        elif isinstance(op, Constant):
            self._held[op.result] = self._constant(op.type, op.place.node)
        elif not isinstance(op, AllocTensor):
            self._unknown(op)

    def _match_cast(self, op: MatchCast) -> None:
        held = self._of(op.source)
        if isinstance(held, TrialTensor) and isinstance(op.type, TensorType):
            # It may tell sizes that no parameter of a function tells that is called.
            extents = zip(op.type.shape or (), held.shape, strict=False)
            self._sizes.update(
                (extent, sympy.Integer(number))
                for extent, number in extents
                if extent.is_Symbol and extent not in self._sizes
            )
        type_ = self._type_of(op.result)
        if held is None:
            held = self._anything(type_, self._name_of(op.result))
        if isinstance(held, TrialTensor) and not held.has_shape_of(type_):
            # These are other sizes.
            raise Unclear
        self._held[op.result] = held

    def _assert(self, op: Assert) -> None:
        asked = None if op.condition is None else self._of(op.condition)
        if not isinstance(asked, TrialTensor):
            return
        held = [bool(asked.first(side)) for side in self.course.sides]
        if not all(held):
            # Where only one of them comes to its end they show something else.
            raise Seen if any(held) or self.course.is_on_one_side else Stopped

    def _unknown(self, op: Op) -> None:
        """What is not followed may do anything with what is damaged, and the same with what is not."""
        if any(one.differs for value in looked_at(op, self._flow) for one in leaves(self._of(value))):
            raise Unclear
        if self.course.is_on_one_side:
            require_shown(op, self._flow)
        if isinstance(op, FunctionCall):
            if self.course.is_damaged:
                # It may use what is around it.
                raise Unclear
            # It may be what the function was given.
            self._held[op.result] = None

    def _view(self, op: View) -> None:
        source, type_ = self._of(op.source), self._type_of(op.result)
        is_whole = not isinstance(op.offset, Unknown) and op.offset == 0
        if (
            isinstance(source, TrialTensor)
            and isinstance(type_, TensorType)
            and TrialTensor.fits(type_)
            and is_whole
        ):
            seen = source.seen_as(type_)
            if seen is not None:
                self._held[op.result] = seen
                return
        held = self._anything(type_, self._name_of(op.result))
        if isinstance(held, TrialTensor) and any(one.differs for one in leaves(source)):
            self._other_views.add(op.result)
            held.damage(f"damage of {self._name_of(op.result)} {self._trial}", self._trial)
            self._held[op.result] = held
            return
        self._unknown(op)

    def _branch(self, op: If) -> None:
        condition = self._of(op.condition)
        if not isinstance(condition, TrialTensor):
            raise Unclear
        ways = [bool(condition.first(side)) for side in self.course.sides]
        self.course.taken += ways[:1]
        if len(set(ways)) == 1:
            self._held[op.result] = self._way(op, ways[0])
            return
        made = []
        for side, is_then in zip(self.course.sides, ways, strict=True):
            with self.course.on_side(side):
                made.append(self._way(op, is_then))
        one, other = op.then_result, op.else_result
        self._held[op.result] = joined(*made)
        if one != other and self._held[op.result] is None:
            require_equal(self._type_of(one), self._type_of(other))

    def _way(self, op: If, is_then: bool) -> Held:
        """What one of two branches gives."""
        self._block(op.then_block if is_then else op.else_block)
        return self._of(op.then_result if is_then else op.else_result)

    # -- functions of the module ---------------------------------------------------------------

    def _function_call(self, op: FunctionCall) -> None:
        entered = self._flow.entered(op)
        if entered is None:
            self._unknown(op)
            return
        if self._budget.left <= 0:
            raise Spent
        self._budget.left -= 1
        function = entered.flow.function
        given = {value: self._held_at(path) for value, path in entered.passed.items()}
        # An inner function knows what it uses of that around it by the same names.
        around = entered.flow.captured.difference(given).intersection(function.values)
        given.update((value, self._of(value)) for value in around)
        types = {value: self._type_at(path) for value, path in entered.passed.items()}
        sizes = sizes_inside(function, types)
        inside = self.course.begin(self._budget, entered.flow, sizes, self._trial, self.course)
        with self.course.storing() as stored:
            self._held[op.result] = inside.result_with(given)
        self._stored = stored.tensors

    def result_with(self, given: Mapping[ValueId, Held]) -> Held:
        """What a function gives back that is given something, once it is carried out."""
        self._held.update(given)
        with self.course.deeper():
            self.run()
        return self._of(self._function.result)

    def run(self) -> None:
        """Carry out the function."""
        self._block(self._function.body)
        self._return()

    def _return(self) -> None:
        """What is done behind the last operation."""

    def _held_at(self, path: AccessPath) -> Held:
        return self._field(path.value, path.fields)

    def _type_at(self, path: AccessPath) -> ValueType:
        type_ = self._type_of(path.value)
        for field in path.fields:
            fields_ = type_.fields if isinstance(type_, TupleType) else ()
            type_ = fields_[field] if field < len(fields_) else OpaqueType()
        return type_

    # -- kernels -------------------------------------------------------------------------------

    def _kernel(self, op: KernelCall) -> None:
        if op.callee in CLOSURE_MAKERS:
            held = tuple(map(self._of, op.arguments[1:]))
            self._held[op.result] = held[0] if op.callee == MAKE_CLOSURE and len(held) == 1 else held
            return
        found = self._given(op)
        if found is None:
            self._unknown(op)
            return
        kernel, given = found
        if self._budget.left <= 0:
            raise Spent
        try:
            self._budget.left -= 1 + carry_out(kernel, given, self.course.most, self.course.sides)
            self._stored = written_by(kernel, given)
        except Unclear:
            if self.course.is_on_one_side or any(
                one.differs for one in given if isinstance(one, TrialTensor)
            ):
                raise

    def _given(self, op: KernelCall) -> tuple[Kernel, list[TrialTensor | int]] | None:
        """The kernel that a call runs, and what it is given, in the order of its parameters."""
        kernel = self._flow.effects.kernel_of(op)
        fresh: list[Held] = []
        given: list[Held | int]
        if kernel is not None and op.kind in KNOWN_KINDS:
            types = map(self._function.type_of, op.arguments)
            given = [
                number_at(type_.value, self._sizes) if isinstance(type_, PrimType) else self._of(argument)
                for argument, type_ in zip(op.arguments, types, strict=True)
            ]
            if op.kind is not CallKind.PRIM_FUNC:
                fresh = self._results(op)
        elif op.kind is CallKind.OPERATOR:
            lowered = self._flow.lowered(op)
            kernel = lowered.kernel
            if kernel is None:
                return None
            by_position: dict[int, Held | int] = {
                at: self._constant(*made) for at, made in lowered.constants.items()
            }
            by_position.update(
                (at, number_at(type_.value, self._sizes)) for at, type_ in lowered.numbers.items()
            )
            for path, positions in lowered.given.items():
                held = self._field(op.arguments[path[0]], path[1:])
                by_position.update(dict.fromkeys(positions, held))
            given = [by_position.get(position) for position in range(lowered.outputs)]
            fresh = list(fields(self._of(op.result)))
        else:
            return None
        both = [*given, *fresh]
        known = [one for one in both if isinstance(one, TrialTensor | int)]
        return (kernel, known) if len(known) == len(both) == len(kernel.parameters) else None

    def _results(self, op: KernelCall) -> list[Held]:
        """The results of a call that are new; the others are arguments."""
        made = list(fields(self._of(op.result)))
        if not op.kind.in_place:
            return made
        if len(made) != len(op.inplace):
            return [None]
        pairs = list(zip(made, op.inplace, strict=True))
        held = tuple(new if at < 0 else self._of(op.arguments[at]) for new, at in pairs)
        self._held[op.result] = held if isinstance(self._of(op.result), tuple) else held[0]
        return [new for new, at in pairs if at < 0]

    def _field(self, value: ValueId, path: Sequence[int]) -> Held:
        held = self._of(value)
        for field in path:
            held = held[field] if isinstance(held, tuple) and field < len(held) else None
        return held
