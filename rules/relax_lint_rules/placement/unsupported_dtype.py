"""RLX404 unsupported-dtype."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.facts.remedies import CheckAtRunTime
from relax_lint.results.verdict import Verdict
from relax_lint.rule import FixAvailability, Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.facts.placement import Placement

_TAKEN_APART = "kernels access a byte per lane of `{}`, where the VM counts bits"


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every tensor: the VM allocates its dtype, and its storage has the bytes that kernels count."""
    for decided in facts.packing.allocatable():
        op = decided.event
        text = f"the VM allocates tensors of dtype {op.dtype.name}"
        if decided.decision.verdict is Verdict.NEEDS_RUNTIME_CHECK:
            text = _TAKEN_APART.format(op.place.binding)
        elif decided.decision.verdict is Verdict.ALWAYS_WRONG:
            text = f"the VM does not allocate tensors of dtype {op.dtype.name}, such as `{op.place.binding}`"
        yield Judgement.of(decided, op.place, Message(text, label=f"dtype {op.dtype.name}"))
    for result in facts.call_results.dtypes():
        place, dtype = result.event.call.place, result.event.type.dtype
        name = "" if dtype is None else dtype.name
        text = f"the VM does not allocate tensors of dtype {name}, such as `{place.binding}`"
        if result.decision.verdict is Verdict.NEEDS_RUNTIME_CHECK:
            text = _TAKEN_APART.format(place.binding)
        elif result.decision.verdict is Verdict.ALWAYS_FINE:
            text = f"`{place.binding}` has room for what kernels access"
        yield Judgement.of(result, place, Message(text, label=f"dtype {name}"))
    for roomy in facts.packing.roomy():
        tensor, decision = roomy.event.tensor, roomy.decision
        message = _message(facts, roomy.event, fine=decision.verdict is Verdict.ALWAYS_FINE)
        # Where no kernel is known to fill the tensor, a check may refuse what works.
        remedy = CheckAtRunTime(safe=facts.packing.is_filled(tensor))
        yield Judgement.of(roomy, tensor.place, message, remedy=remedy)
    for viewed in facts.packing.roomy_views():
        name = viewed.event.place.binding
        text = f"the source of view `{name}` has a byte per lane"
        if viewed.decision.verdict is not Verdict.ALWAYS_FINE:
            text = _TAKEN_APART.format(name)
        yield Judgement.of(viewed, viewed.event.place, Message(text, label="elements of less than a byte"))


def _message(facts: FunctionFacts, placement: Placement, *, fine: bool) -> Message:
    op, storage = placement.tensor, placement.storage
    text = (
        f"the storage of `{op.place.binding}` has a byte per {'element' if op.dtype.lanes == 1 else 'lane'}"
    )
    if not fine:
        text = (
            f"kernels write {facts.packing.unpacked(op)} to `{op.place.binding}`, one per "
            f"{op.dtype.name if op.dtype.lanes == 1 else 'lane'}, but the VM counts {facts.bytes(op.bytes)}"
        )
    related = () if storage is None else ((f"storage of {facts.bytes(storage.size)}", storage.place),)
    return Message(text, label=f"dtype {op.dtype.name}", related=related)


RULE = Rule(
    code="RLX404",
    name="unsupported-dtype",
    family="placement",
    summary="a dtype that the VM does not allocate, or counts differently from kernels",
    since="0.1.0",
    source=__file__,
    check=check,
    fix=FixAvailability.SOMETIMES,
)
