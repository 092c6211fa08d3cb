"""Whether it is known that a call writes what it is given: the body of a packed function is not visible, nor
that of what a kernel hands an address to.
"""

from __future__ import annotations

import sympy

from relax_lint.analysis.access_paths import with_fields
from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.events import Overwriting
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.model.operations import FunctionCall, KernelCall


def is_known_to_write(event: Overwriting, flow: FunctionFlow) -> bool:
    """Whether a write is known to be one, or what it is to fill is read by every run afterwards: that is as
    wrong where nobody filled it.
    """
    return _is_known(event, flow) or _is_needed(event, flow)


def _is_known(event: Overwriting, flow: FunctionFlow) -> bool:
    call, roots = event.write, flow.aliases.roots_of(event.written)
    if isinstance(call, KernelCall):
        effect = flow.effect_of(call)
        at = [position for position, value in enumerate(call.arguments) if value == event.written]
        return effect.known or any(effect.whole.get(position) == sympy.true for position in at)
    if not isinstance(call, FunctionCall):
        return True
    summary = flow.summary_of(call)
    if summary is None:
        return False
    unknown = {root for path in map(summary.path, summary.passed) for root in flow.aliases.roots.of(path)}
    written = {
        root
        for path, certainty in summary.touched(summary.writes)
        if certainty is Certainty.MUST
        for root in flow.aliases.roots.of(path)
    }
    return not roots & unknown or bool(roots & written)


def _is_needed(event: Overwriting, flow: FunctionFlow) -> bool:
    """Whether what was written is read for sure before somebody else writes it, and every run shows that."""
    aliases, function = flow.aliases, flow.function
    write = event.write, event.written
    roots = aliases.roots_of(event.written)
    for call in sorted(flow.calls, key=lambda one: one.place.index):
        given = [at for at, one in enumerate(call.arguments) if aliases.roots_of(one) & roots]
        if not given or call.place.index <= event.write.place.index:
            continue
        effect = flow.effect_of(call)
        if not effect.known or not flow.paths.always_with(call, event.write):
            return False
        read = effect.reads - effect.writes - effect.unsure_reads
        # Whoever fills it may leave alone what nobody looks at.
        if any(at in read and flow.is_shown(call, call.arguments[at], write) for at in given):
            return True
        if not effect.writes.isdisjoint(given):
            return False
    returned = with_fields(aliases.roots.tree(function.result))
    return not function.private and any(found == roots for _, found in returned)
