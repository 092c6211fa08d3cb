"""What a private function returns is read where a caller uses it, and nothing by what TVM leaves out."""

from __future__ import annotations

from collections.abc import Iterator

from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.events import Reading, Write
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.last_uses import END
from relax_lint.model.operations import FunctionCall, KernelCall, Op, ValueId
from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.decision import certain

UNUSED = certain(Verdict.ALWAYS_FINE, "no caller uses it")
"""The verdict on what is returned to nobody who uses it."""
USED_PERHAPS = "a call does not use what the function returns"
"""Why it is not certain that what is returned does harm."""
LEFT_OUT = "nothing needs what it does: `FoldConstant` and `FuseTIR` leave such operations out"
"""Why it is not certain that an operation does harm that TVM may leave out."""
UNSHOWN = "it is not known that what is computed of it is needed on every path"
"""Why it is not certain that a read does harm of which no run, or not every run, shows anything."""

WHAT_IS_THERE = "what is written may be what is there"
"""Why it is not certain that a write over something does harm."""


def why_not_read(reading: Reading, flow: FunctionFlow, damage: Write) -> str:
    """Why it is not certain that what is read was damaged by a write: only some paths pass the reading, what
    reads may be left out, or somebody may have made it good.
    """
    since = damage[0].place.index
    if flow.is_left_out(reading.op):
        return LEFT_OUT
    why = why_written(reading, flow, since) or _by_reader(reading, flow)
    if not why and reading.op is not None and not flow.is_shown(reading.op, reading.value, damage):
        return by_who_gets_it(reading, flow) or UNSHOWN
    return why or "read later only on some paths"


def by_who_gets_it(reading: Reading, flow: FunctionFlow) -> str:
    """Why it is not certain that who gets something looks at it; nothing where it is known who that is."""
    op = reading.op
    if isinstance(op, KernelCall):
        opaque = flow.effect_of(op).opaque
        is_given = any(p in opaque for p, value in enumerate(op.arguments) if value == reading.value)
        return "" if flow.effects.is_seen(op) and not is_given else _may_not_read(op)
    if isinstance(op, FunctionCall):
        summary = flow.summary_of(op)
        if summary is None:
            return _may_not_read(op)
        roots = flow.aliases.roots_of(reading.value)
        given = (flow.aliases.roots.of(summary.path(path)) for path in summary.passed)
        if any(not roots.isdisjoint(one) for one in given):
            return f"`{op.callee}` gives it to a function that may not read what it is given"
    return ""


def read_perhaps(name: str) -> str:
    """Why it is not certain that it matters what a kernel of this name reads."""
    return f"`{name}` reads it only under a condition, or may not use what it reads"


def may_not_write(op: Op) -> str:
    """Why it is not certain that somebody writes what he is given who is not known, or hands it on."""
    name = f"`{op.callee}`" if isinstance(op, KernelCall | FunctionCall) else "it"
    return f"{name} may not write what it is given"


def _may_not_read(op: KernelCall | FunctionCall) -> str:
    return f"`{op.callee}` may not read what it is given"


def _by_reader(reading: Reading, flow: FunctionFlow) -> str:
    """Why it is not certain that a kernel reads what was there before; nothing where that is not up to it."""
    if not isinstance(reading.op, KernelCall):
        return ""
    effect, name = flow.effect_of(reading.op), reading.op.callee
    at = [p for p, argument in enumerate(reading.op.arguments) if argument == reading.value]
    read = [p for p in at if p in effect.reads]
    if any(effect.may_be_own(p) or effect.first_reads.get(p) is Certainty.MAY for p in read):
        return f"`{name}` may write it before it reads it"
    return read_perhaps(name) if any(p in effect.unsure_reads for p in read) else ""


def why_written(reading: Reading, flow: FunctionFlow, since: int) -> str:
    """Who is only believed not to have written what is read, after the operation with the index
    `since`; nothing where there is nobody.
    """
    end, read = END if reading.op is None else reading.op.place.index, flow.aliases.roots_of(reading.value)
    for call in flow.function.body.of(KernelCall, FunctionCall):
        if since < call.place.index < end and not read.isdisjoint(_believed(call, flow)):
            return f"`{call.callee}` is only believed not to write it"
    return ""


def _believed(call: KernelCall | FunctionCall, flow: FunctionFlow) -> Iterator[ValueId]:
    """The tensors of which only a call itself, or one in its callee, says that it does not write them."""
    if isinstance(call, KernelCall):
        for position in flow.effect_of(call).believed:
            yield from flow.aliases.roots_of(call.arguments[position])
    elif (summary := flow.summary_of(call)) is not None:
        for path in summary.believed:
            yield from flow.aliases.roots.of(summary.path(path))


def use_by_callers(reading: Reading, flow: FunctionFlow) -> Certainty | None:
    """How certain a reading is as far as that is up to callers; None where they do not read."""
    return Certainty.MUST if reading.op is not None else flow.use_at_return(reading.value)
