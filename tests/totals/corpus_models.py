"""Models: a decoder."""

from __future__ import annotations

from functools import partial

import numpy as np

from tests.programs import transformer
from tests.totals.cases import Case, Run

CASES: list[Case] = []

BATCHES_AND_LENGTHS = ((1, 1), (2, 16), (3, 100), (8, 33))


def _decoder_runs(
    layers: int, sizes: tuple[tuple[int, int], ...], *, symbolic_batch: bool
) -> tuple[Run, ...]:
    function = transformer.exported(layers, bounded=False)["forward"]
    weights = [np.full([int(d) for d in p.ty.shape.values], 0.1, "float32") for p in function.params[1:]]

    def binding(batch: int, length: int) -> dict[str, int]:
        return {"batch": batch, "n": length} if symbolic_batch else {"n": length}

    return tuple(Run((np.zeros((b, n), "int32"), *weights), binding(b, n)) for b, n in sizes)


for _bounded in (True, False):
    CASES.append(
        Case(
            f"decoder, {'bounded' if _bounded else 'unbounded'}",
            partial(transformer.exported, 1, bounded=_bounded),
            _decoder_runs(1, ((1, 1), (1, 16), (1, 100), (1, 512)), symbolic_batch=False),
            "forward",
        )
    )

CASES.append(
    Case(
        "decoder, symbolic batch and length",
        lambda: transformer.exported(2, bounded=False, batch="batch"),
        _decoder_runs(2, BATCHES_AND_LENGTHS, symbolic_batch=True),
        "forward",
    )
)
