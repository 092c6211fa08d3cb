"""Whether a write reaches all that is read, for tensors that may have been written only in part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.events import Mending, Reading
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.kernel_operands import operand_types
from relax_lint.analysis.partial_results import partial_results
from relax_lint.analysis.presumption import Presumption
from relax_lint.facts.claims import Claim
from relax_lint.facts.in_parts import has_parts_by_size, reach_together, reads_all, whole_write
from relax_lint.facts.judge import Judge
from relax_lint.facts.kernel_entry import bind
from relax_lint.facts.kernel_match import KernelMatch
from relax_lint.facts.unchecked_types import TypeFacts
from relax_lint.model.operations import KernelCall, ValueId
from relax_lint.symbolic.quantity import Unknown
from relax_lint.symbolic.relations import at_most


def written_again(mended: Sequence[Mending], reading: Reading, flow: FunctionFlow) -> Boolean:
    """One of several writes reaches all bytes of what is read, or all of them together all elements; false
    where that cannot be stated.
    """
    found = _written_again(mended, reading.value, flow)
    return found if found == sympy.true else sympy.Or(found, reach_together(mended, reading, flow))


def _written_again(mended: Iterable[Mending], read: ValueId, flow: FunctionFlow) -> Boolean:
    """One of several writes reaches all bytes of what is read."""
    return sympy.Or(*(_reaches(mending, read, flow) for mending in mended))


def is_exact(mended: Iterable[Mending], reading: Reading, flow: FunctionFlow) -> bool:
    """Whether there is one write, it is known exactly when it reaches everything, and all of it is read."""
    return _is_exact(mended, flow) and reads_all(reading, flow)


def _is_exact(mended: Iterable[Mending], flow: FunctionFlow) -> bool:
    (only, *more) = mended
    if more:
        return False
    if only.branches:
        alike = len({whole_write(write, flow) for write in only.writes}) == 1
        return alike and all(_is_exact(branch, flow) for branch in only.branches)
    if not isinstance(only.op, KernelCall) or only.position is None:
        return False
    kernel = flow.effects.kernel_of(only.op)
    if kernel is not None:
        return only.position in kernel.exact_writes
    return only.position - len(only.op.arguments) in partial_results(only.op, flow.function)


def left_alone(mended: Iterable[Mending], read: ValueId, flow: FunctionFlow) -> Boolean:
    """When the one write leaves something of all that is `read` for certain, if that has elements; false
    where that cannot be stated.
    """
    (only, *more) = mended
    call, position = only.op, only.position
    if more or only.branches or only.presumed or not isinstance(call, KernelCall) or position is None:
        return sympy.false
    kernel = flow.effects.kernel_of(call)
    if kernel is None or not _is_all_of(only.value, read, flow) or _writes_twice(call, position, flow):
        return sympy.false
    condition = kernel.left(position)
    bound = bind(kernel, operand_types(call, flow.function))
    known = condition.free_symbols <= bound.values.keys()
    return condition.xreplace(bound.values) if known else sympy.false


def _is_all_of(value: ValueId, read: ValueId, flow: FunctionFlow) -> bool:
    """Whether a value is a tensor as it was made, and what is read is the same one."""
    windows, roots = flow.aliases.windows, flow.aliases.roots_of(read)
    return windows.isdisjoint((value, read)) and len(roots) == 1 and roots == flow.aliases.roots_of(value)


def _writes_twice(call: KernelCall, position: int, flow: FunctionFlow) -> bool:
    """Whether a call may write the same memory by another argument, too."""
    written = [p for p in flow.effect_of(call).writes if p != position and p < len(call.arguments)]
    if position >= len(call.arguments):
        return False
    ours = flow.memory.range(call.arguments[position])
    return any(ours.disjoint(flow.memory.range(call.arguments[p])) != sympy.true for p in written)


def presumed_writes(
    mended: Iterable[Mending], claim: Claim, reading: Reading, flow: FunctionFlow, judge: Judge
) -> tuple[Presumption, ...]:
    """What is assumed where somebody unknown is assumed to write all that he is given; empty unless that
    reaches all that is read wherever `claim` does not hold, which needs no write.
    """
    assumed = [m for m in mended if m.presumptions]
    if not assumed:
        return ()
    condition = written_again([_as_assumed(m) for m in assumed], reading, flow)
    open_ = sympy.true if isinstance(claim.condition, Unknown) else sympy.Not(claim.condition)
    if not judge.implies(claim.domain, open_, condition):
        return ()
    return tuple(dict.fromkeys(presumed for m in assumed for presumed in m.presumptions))


def relied_types(mended: Iterable[Mending], reading: Reading, flow: FunctionFlow) -> tuple[Presumption, ...]:
    """The types that nobody checks on which it depends what some writes reach, and what is read."""
    found: dict[Presumption, None] = {}
    presumed = TypeFacts(flow).presumed
    if presumed and isinstance(reading.op, KernelCall) and has_parts_by_size(reading.op, None, flow):
        found.update((presumed[one], None) for one in reading.op.arguments if one in presumed)
    for write in (write for mending in mended for write in mending.writes):
        call, position = write.op, write.position
        if presumed and isinstance(call, KernelCall) and position is not None:
            whole = flow.effect_of(call).whole.get(position, sympy.false)
            by_size = whole not in (sympy.true, sympy.false) or has_parts_by_size(call, position, flow)
            if by_size or partial_results(call, flow.function):
                found.update((presumed[one], None) for one in call.arguments if one in presumed)
    return tuple(found)


def _as_assumed(mending: Mending) -> Mending:
    """The same where what is presumed to be written is written."""
    branches = tuple(tuple(_as_assumed(m) for m in branch) for branch in mending.branches)
    whole = mending.whole or mending.presumed is not None
    return replace(mending, presumed=None, whole=whole, branches=branches)


def initialised(mended: Iterable[Mending], flow: FunctionFlow) -> Boolean | None:
    """When no reduction of the kernels that write is empty, which RLX307 is about; None where there is no
    reduction, or where that cannot be stated.
    """
    conditions = [_has_steps(write, flow) for mending in mended for write in mending.writes]
    stated = [condition for condition in conditions if condition is not None]
    return sympy.And(*stated) if len(stated) == len(conditions) else None


def _has_steps(mending: Mending, flow: FunctionFlow) -> Boolean | None:
    call = mending.op
    kernel = flow.effects.kernel_of(call) if isinstance(call, KernelCall) else None
    if kernel is None or not kernel.reductions:
        return None
    assert isinstance(call, KernelCall)
    types = tuple(operand_types(call, flow.function))
    found = KernelMatch(kernel, types).initialises
    return None if isinstance(found, Unknown) else found


def _reaches(mending: Mending, read: ValueId, flow: FunctionFlow) -> Boolean:
    if mending.branches:
        return sympy.And(*(_written_again(branch, read, flow) for branch in mending.branches))
    condition = whole_write(mending, flow)
    if mending.value not in flow.function.values:
        # One tensor of several that a call returns.
        all_of_it = flow.aliases.roots_of(read) == {mending.value} and read not in flow.aliases.windows
        return condition if all_of_it else sympy.false
    written, wanted = flow.memory.range(mending.value), flow.memory.range(read)
    if len(flow.aliases.roots_of(mending.value)) > 1:
        return sympy.false
    if written == wanted or mending.value not in flow.aliases.windows:
        return condition
    start, length, start_2, length_2 = written.start, written.length, wanted.start, wanted.length
    if isinstance(start, Unknown) or isinstance(length, Unknown):
        return sympy.false
    if isinstance(start_2, Unknown) or isinstance(length_2, Unknown):
        return sympy.false
    return sympy.And(condition, at_most(start, start_2), at_most(start_2 + length_2, start + length))
