"""Whether a kernel writes over a tensor what another kernel has left there: the same constants, or the same
of the same arguments. Both are carried out for this, as far as their tensors are small.
"""

from __future__ import annotations

import random

from relax_lint.analysis.events import Overwriting
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.small_tensors import Small, Unclear, carry_out
from relax_lint.model.operations import KernelCall, ValueId
from relax_lint.model.types import TensorType
from relax_lint.vm.calls import CallKind

_TRIALS = 3
"""So many contents of the arguments are tried."""


def may_be_the_same(event: Overwriting, flow: FunctionFlow) -> bool:
    """Whether a write was seen to store what was there, with all contents that were tried."""
    call, tensor = event.write, event.tensor.result
    if not isinstance(call, KernelCall) or call.kind is not CallKind.PRIM_FUNC:
        return False
    before = _last_writer(call, tensor, flow)
    if before is None:
        return False
    earlier, filled = before
    if not flow.memory.range(event.written).same_start(flow.memory.range(filled)):
        return False
    try:
        return all(_same(earlier, filled, call, event.written, trial, flow) for trial in range(_TRIALS))
    except Unclear:
        return _is_repeated(earlier, call, flow)


def _last_writer(call: KernelCall, tensor: ValueId, flow: FunctionFlow) -> tuple[KernelCall, ValueId] | None:
    """The last kernel in the text that wrote a tensor before a call, and the name that it had there."""
    found = None
    for earlier in flow.calls:
        if earlier.place.index >= call.place.index:
            break
        written = flow.effect_of(earlier).writes
        for position in sorted(written):
            if position < len(earlier.arguments):
                name = earlier.arguments[position]
                if flow.aliases.roots_of(name) == {tensor}:
                    found = earlier, name
    return None if found is None or found[0].kind is not CallKind.PRIM_FUNC else found


def _is_repeated(earlier: KernelCall, call: KernelCall, flow: FunctionFlow) -> bool:
    """Whether one kernel does the same twice, of tensors of any size."""
    kernel, roots = flow.effects.kernel_of(call), flow.aliases.roots_of
    if kernel is None or kernel is not flow.effects.kernel_of(earlier):
        return False
    read = flow.effect_of(call).reads - flow.effect_of(call).writes
    return all(roots(call.arguments[p]) == roots(earlier.arguments[p]) for p in read)


def _same(
    earlier: KernelCall, filled: ValueId, call: KernelCall, written: ValueId, trial: int, flow: FunctionFlow
) -> bool:
    """Whether both leave the same, with some contents of what they read."""
    held: dict[frozenset[ValueId], Small] = {}
    _run(earlier, held, trial, flow)
    _run(call, held, trial, flow)
    one, other = (held[flow.aliases.roots_of(value)] for value in (filled, written))
    return one.shape == other.shape and not one.with_other(other).differs


def _run(call: KernelCall, held: dict[frozenset[ValueId], Small], trial: int, flow: FunctionFlow) -> None:
    """Carry out a call on tensors that hold anything, unless they are known."""
    kernel = flow.effects.kernel_of(call)
    given = []
    for value in call.arguments:
        type_, key = flow.function.tensor_type(value), flow.aliases.roots_of(value)
        if type_ is None or not Small.fits(type_):
            raise Unclear
        if key not in held:
            held[key] = Small.drawn(type_, random.Random(f"{sorted(key)} {trial}"), trial)
        given.append(_as(held[key], type_))
    if kernel is None or len(given) != len(kernel.parameters):
        raise Unclear
    carry_out(kernel, given)


def _as(small: Small, type_: TensorType) -> Small:
    seen = small.seen_as(type_)
    if seen is None:
        raise Unclear
    return seen
