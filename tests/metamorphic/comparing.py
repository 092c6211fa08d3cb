"""One program written in two ways: what is said of one and not of the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import tvm

from relax_lint.replay.modules import load_module
from tests.metamorphic.changes import (
    DEAD,
    OUTER,
    Changed,
    renamed,
    reordered,
    split,
    with_dead_code,
    wrapped,
)
from tests.metamorphic.judging import Saying, sayings
from tests.metamorphic.programs import Text, read


class Unprintable(Exception):
    """TVM does not read the text that it prints: constants are not in it, and formats are in it twice."""


@lru_cache(maxsize=256)
def before(program: Text) -> Counter[Saying]:
    """What is said of the program as it is."""
    return sayings(read(program), program)


def of_text(program: Text, change: Callable[[str], Changed]) -> str:
    """The differences that a change of the text makes, one a line; nothing where there is none."""
    changed = change(program.content)
    after = sayings(load_module(changed.content, "script"), program, changed.names)
    was, now = before(program), _of_the_program(after)
    if change is wrapped:
        # A tensor that a function returns unwritten is its caller's to fill, and judged there.
        was, now = _without_returned(was), _without_returned(now)
    if change is reordered:
        was, now = _without_fine_pairs(was), _without_fine_pairs(now)
    return _differences(was, now, changed.content)


def of_module(program: Text, change: Callable[[Any], Any]) -> str:
    """The differences that a change of the module makes. Raises Unprintable."""
    after = sayings(change(read(program)), program)
    return _differences(_without_bindings(before(program)), _without_bindings(after), program.content)


def printed(module: Any) -> Any:
    """The module from its own text."""
    try:
        return tvm.script.from_source(module.script(), check_well_formed=False)
    except Exception as error:
        raise Unprintable(str(error).splitlines()[-1]) from None


def saved(module: Any) -> Any:
    """The module from the JSON in which it is saved."""
    return tvm.ir.load_json(tvm.ir.save_json(module))


OF_TEXT = (renamed, split, with_dead_code, reordered, wrapped)
OF_MODULE = (printed, saved)


def _differences(was: Counter[Saying], now: Counter[Saying], text: str) -> str:
    lines = [*(f"- {one}" for one in sorted(was - now)), *(f"+ {one}" for one in sorted(now - was))]
    return "\n".join([*lines, text]) if lines else ""


def _of_the_program(found: Mapping[Saying, int]) -> Counter[Saying]:
    """Without what is said of what was added."""
    return Counter(
        {
            saying: count
            for saying, count in found.items()
            if not saying[0].startswith(OUTER) and not saying[1].startswith(DEAD)
        }
    )


def _without_fine_pairs(found: Mapping[Saying, int]) -> Counter[Saying]:
    """Of two tensors on one storage that do no harm to each other, this is said of the later one."""
    return Counter({one: n for one, n in found.items() if (one[2], one[3]) != ("RLX203", "always-fine")})


def _without_returned(found: Mapping[Saying, int]) -> Counter[Saying]:
    """Without what is said of memory that nobody has written."""
    return Counter({one: n for one, n in found.items() if one[2] != "RLX205"})


def _without_bindings(found: Mapping[Saying, int]) -> Counter[Saying]:
    """TVM prints what nobody uses as `_`."""
    seen: Counter[Saying] = Counter()
    for (function, _, rule, verdict, region), count in found.items():
        seen[function, "", rule, verdict, region] += count
    return seen
