"""DMA101 unaligned-tensor."""

from __future__ import annotations

from collections.abc import Iterator

from relax_lint.rules import WARNINGS, Claim, FunctionFacts, Judgement, Message, Rule, Unknown, multiple_of

LINE_BYTES = 64
"""What the engine moves at once."""


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every tensor on a storage: its offset is a whole number of lines."""
    for placement in facts.placements:
        place, offset = placement.tensor.place, placement.tensor.offset
        aligned = offset if isinstance(offset, Unknown) else multiple_of(offset, LINE_BYTES)
        message = Message(
            f"tensor `{place.binding}` starts at {facts.bytes(offset)}, not at a line of its own",
            label="starts here",
            help=(f"round the offset up to a multiple of {LINE_BYTES} bytes",),
        )
        yield Judgement(place, facts.judge(Claim(aligned, placement.domain)), message)


RULE = Rule(
    code="DMA101",
    name="unaligned-tensor",
    family="dma",
    summary="a tensor that does not start at a multiple of 64 bytes of its storage",
    since="1.0.0",
    source=__file__,
    severity=WARNINGS,
    check=check,
)
