"""RLX404 unsupported-dtype."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.facts.placements import Placement


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every tensor: the VM allocates its dtype, and its storage has the bytes that kernels count."""
    for op in facts.tensors:
        fine = facts.packing.is_allocatable(op)
        message = f"the VM allocates tensors of dtype {op.dtype.name}"
        if not fine:
            message = (
                f"the VM does not allocate tensors of dtype {op.dtype.name}, such as `{op.place.binding}`"
            )
        decision = facts.certain(
            Verdict.ALWAYS_FINE if fine else Verdict.ALWAYS_WRONG, f"{op.dtype.bits} bits"
        )
        yield Judgement(op.place, decision, message, label=f"dtype {op.dtype.name}")
    for placement in facts.packing.packed:
        yield _packed(facts, placement)


def _packed(facts: FunctionFacts, placement: Placement) -> Judgement:
    decision, op = facts.judge(*facts.packing.has_room(placement)), placement.tensor
    message = f"the storage of `{op.place.binding}` has a byte for each of its elements"
    if decision.verdict is not Verdict.ALWAYS_FINE:
        message = (
            f"kernels write {facts.packing.unpacked(op)} to `{op.place.binding}`, one for each "
            f"{op.dtype.name}, the VM counts {facts.bytes(op.bytes)}"
        )
    storage = placement.storage
    return Judgement(
        op.place,
        decision,
        message,
        label=f"dtype {op.dtype.name}",
        related=() if storage is None else ((f"storage of {facts.bytes(storage.size)}", storage.place),),
        remedies=facts.remedies.assertion(decision, op.place),
    )


RULE = Rule(
    code="RLX404",
    name="unsupported-dtype",
    family="placement",
    summary="a dtype that the VM refuses to allocate, or counts differently from kernels",
    since="0.1.0",
    source=__file__,
    check=check,
)
