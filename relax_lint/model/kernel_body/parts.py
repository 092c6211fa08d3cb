"""The elements that a kernel is certain to store to, and those that it loads at most, of each parameter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from relax_lint.model.kernel_body.coverage import Coverage, Shape
from relax_lint.model.kernel_body.fills import merged
from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_body.touches import Touch
from relax_lint.model.kernel_parts import Fill, Parts


def parts_of(touches: Sequence[Touch], shapes: Sequence[Shape | None], loops: Loops) -> Parts:
    """What a kernel does to parts of its parameters, by all its loads and stores."""
    coverage = Coverage(touches, shapes, loops)
    stored = {
        position: tuple(merged(fills, loops))
        for position in range(len(shapes))
        if (fills := coverage.fills(position))
    }
    loads: dict[int, list[Touch]] = defaultdict(list)
    for touch in touches:
        if not touch.writes:
            loads[touch.parameter].append(touch)
    loaded = {position: _reached(several, shapes, loops) for position, several in sorted(loads.items())}
    return Parts(stored, {position: found for position, found in loaded.items() if found})


def _reached(loads: Sequence[Touch], shapes: Sequence[Shape | None], loops: Loops) -> tuple[Fill, ...]:
    """What some loads reach at most, each in all steps of its loops that its conditions leave, as far as
    these are known; nothing where one may reach anything.
    """
    found: dict[Fill, None] = {}
    for load in loads:
        if load.outside:
            return ()
        as_stores = [replace(load, writes=True, conditions=asked) for asked in (load.conditions, ())]
        parts = (Coverage([one], shapes, loops).fills(load.parameter) for one in as_stores)
        part = next((one for several in parts for one in several), None)
        if part is None:
            return ()
        found[part] = None
    return tuple(found)
