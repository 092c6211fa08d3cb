"""What is saved where a tensor takes the place of another one."""

from __future__ import annotations

import random

from relax_lint.totals.why import Span, _Overlap, peak_of


def test_what_is_saved_is_what_the_peak_falls_by() -> None:
    """A call at `step` needs the source last and writes the target, which is needed longer: on one piece of
    memory they are one tensor, from the begin of the source to the end of the target.
    """
    chance = random.Random(0)
    saving = 0
    for _ in range(300):
        spans = [
            Span(chance.choice((16, 64)), begin, begin + chance.randint(1, 8))
            for begin in (chance.randrange(12) for _ in range(chance.randint(2, 7)))
        ]
        overlap = _Overlap(spans)
        for source, one in enumerate(spans):
            for target, other in enumerate(spans):
                step = one.end - 1
                if source == target or one.size != other.size:
                    continue
                if not (one.begin < step and other.begin < step < other.end):
                    continue
                rest = [span for number, span in enumerate(spans) if number not in (source, target)]
                whole = Span(one.size, one.begin, other.end)
                saved = overlap.saved(source, target)
                assert saved == peak_of(spans)[0] - peak_of([*rest, whole])[0]
                saving += saved > 0
    assert saving > 50
