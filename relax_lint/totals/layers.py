"""The layers of a model, as the kernels of its function repeat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from relax_lint.model.operations import KernelCall, Op


def layers_of(operations: Sequence[Op]) -> tuple[int, ...]:
    """The steps at which the layers begin; none where kernels do not repeat.

    Most kernels of a model are called equally often, once or a few times for each layer: that number is the
    one that most calls share. The first kernel with that number begins a layer.
    """
    calls = [
        (step, op.callee)
        for step, op in enumerate(operations)
        if isinstance(op, KernelCall) and op.kind.runs_kernel
    ]
    counts = Counter(callee for _, callee in calls)
    weights: Counter[int] = Counter()
    for number in counts.values():
        if number > 1:
            weights[number] += number
    if not weights:
        return ()
    layers = max(weights, key=lambda number: (weights[number], number))
    first = next(callee for _, callee in calls if counts[callee] == layers)
    return tuple(step for step, callee in calls if callee == first)
