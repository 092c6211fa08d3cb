"""What is said of a kernel's own buffers (RLX311) against an interpreter that knows what was stored.

python -m tests.oracle.tir.own [--minutes 5] [--kernels N] [--seed N]

Random kernels write one or two buffers of their own in part and read them afterwards. Each is carried out at every
size of a grid, with several contents of its parameters and, where an element is loaded to which nothing was
stored, with several numbers there: an output tells where these give another result. What is found is made smaller
and printed; the exit code is then 1. A buffer of which nothing is said although an output tells is counted only:
in doubt the linter is silent.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from benchmarks.kernel_callers import called
from relax_lint.judging.report import check_module
from relax_lint.results.check import Check
from relax_lint.settings.config import Config
from tests.oracle.tir.__main__ import SHOWN, smallest
from tests.oracle.tir.compare import Disagreement, Unusable, read, reason, word
from tests.oracle.tir.expressions import Declined
from tests.oracle.tir.machine import Machine, random_contents, symbol_names
from tests.oracle.tir.memory import Held
from tests.oracle.tir.own_writer import some
from tests.oracle.tir.writer import Kernel, script

Size: TypeAlias = tuple[tuple[str, int], ...]
RULE = "RLX311"
_CONTENTS = ("random 1", "random 2", "zeros", "ones")
_COUNT = len(_CONTENTS)
_HELD = ((1, 0), (-3, 2), (100, -7))
"""What else stands where nothing was stored: a number, and by how much the next element's is larger."""
_SIZES = (0, 1, 2, 3, 4, 5, 8)
"""Those that the linter tries itself."""
_LARGER = (1, 6, 13, 20)
"""What is said to be seen at some size, and is at none of the others, is looked for at these."""
_PARTLY = "where nothing is written before"


@dataclass
class Seen:
    """What the runs at one size show of one buffer: how many there were, in how many of them an element was
    loaded to which nothing was stored, and in how many an output tells.
    """

    runs: int
    early: int = 0
    tells: int = 0


def compare(kernel: Kernel) -> Counter[str]:
    """What is said of each buffer at each size. Raises `Disagreement` and `Unusable`."""
    return compare_function(read(kernel))


def compare_function(prim_func: Any) -> Counter[str]:
    """The same for a PrimFunc."""
    found = runs(prim_func)
    seen: Counter[str] = Counter({"kernels": 1})
    said: dict[str, list[Check]] = defaultdict(list)
    for check in check_module(called(prim_func), Config(select=(RULE,)), totals=False).checks:
        said[_buffer(check)].append(check)
    names = {name for one in found.values() for name in one} | said.keys()
    for name in sorted(names):
        sized, checks = {key: one.get(name, Seen(_COUNT)) for key, one in found.items()}, said.get(name, ())
        for check in checks:
            _compare_wrong(check, sized, seen)
            _compare_seen(prim_func, name, check, sized)
        for key, one in sized.items():
            if checks and one.tells and {word(check, dict(key)) for check in checks} == {"fine"}:
                regions = " and ".join(str(check.safe_when) for check in checks)
                raise Disagreement(f"said to be fine and an output tells, at {dict(key)}: safe iff {regions}")
        seen[f"{_told(sized)} said {_words(checks)}"] += 1
    return seen


def _buffer(check: Check) -> str:
    found = re.search(r"reads? `(\w+)", check.message.partition("`")[2].partition("`")[2])
    assert found is not None, check.message
    return found[1]


def _words(checks: Sequence[Check]) -> str:
    return "+".join(check.verdict.value for check in checks) or "nothing"


def _told(sized: Mapping[Size, Seen]) -> str:
    """How often an output tells of a buffer."""
    tells = {key: one for key, one in sized.items() if one.tells}
    if not tells:
        return "read early and never told" if any(one.early for one in sized.values()) else "written"
    # Of sizes at which a parameter is empty the linter says nothing.
    useful = {key: one for key, one in tells.items() if all(number for _, number in key)}
    if not useful:
        return "told where a size is 0"
    if all(one.tells == one.runs for one in useful.values()) and 2 * len(useful) > len(sized):
        return "told at most sizes by all contents"
    return "told at some sizes or by some contents"


def _compare_wrong(check: Check, sized: Mapping[Size, Seen], seen: Counter[str]) -> None:
    """What is said to be wrong at a size is so with all contents."""
    is_partly, text = _PARTLY in check.message, f"safe iff {check.safe_when}"
    for key, one in sized.items():
        said = word(check, dict(key))
        seen[f"sizes said {said}"] += 1
        if said == "wrong" and one.early < one.runs:
            raise Disagreement(f"said to be wrong and nothing unwritten is read, at {dict(key)}: {text}")
        if said == "wrong" and is_partly and one.tells < one.runs:
            raise Disagreement(f"said to be wrong and no output tells, at {dict(key)}: {text}")


def _compare_seen(prim_func: Any, name: str, check: Check, sized: Mapping[Size, Seen]) -> None:
    """What is said of a buffer is so at some size."""
    is_partly = _PARTLY in check.message
    if check.verdict.value == "always-fine" or _is_seen(sized.values(), is_partly):
        return
    larger = runs(prim_func, _LARGER)
    if not _is_seen((one.get(name, Seen(_COUNT)) for one in larger.values()), is_partly):
        raise Disagreement(f"said to be seen and is not, {check.message}")


def _is_seen(found: Iterable[Seen], is_partly: bool) -> bool:
    return any(one.tells if is_partly else one.early for one in found)


def runs(prim_func: Any, numbers: Sequence[int] = _SIZES) -> dict[Size, Mapping[str, Seen]]:
    """What is seen of each buffer at each size at which all accesses are inside. Raises `Unusable`."""
    names = symbol_names(prim_func)
    try:
        machine = Machine(prim_func)
        found: dict[Size, Mapping[str, Seen]] = {}
        for values in itertools.product(numbers, repeat=len(names)):
            size = dict(zip(names, values, strict=True))
            shapes = machine.shapes(size)
            if shapes is not None:
                seen = _at(machine, prim_func, size, shapes)
                if seen is not None:
                    found[tuple(size.items())] = seen
    except Declined as error:
        raise Unusable(f"declined: {error}") from None
    if not found:
        raise Unusable("outside at every size")
    return found


def _at(
    machine: Machine, prim_func: Any, size: Mapping[str, int], shapes: Mapping[int, tuple[int, ...]]
) -> dict[str, Seen] | None:
    """What is seen of each buffer at a size; None where something is outside, or not defined."""
    found: dict[str, Seen] = defaultdict(lambda: Seen(_COUNT))
    for contents in _contents(prim_func, shapes):
        begun = machine.run(size, contents)
        report = begun.report
        races = any(race.read or not race.same_value for race in report.races)
        if report.outside or report.undefined or races:
            return None
        for name in {early.buffer for early in report.early}:
            others = (machine.run(size, contents, _held(name, *held)) for held in _HELD)
            found[name].early += 1
            found[name].tells += any(_is_other(begun.contents, other.contents) for other in others)
    return found


def _held(buffer: str, first: int, step: int) -> Held:
    """These numbers in one buffer, and zeros in others."""
    return lambda name, position: first + step * position if name == buffer else 0


def _contents(prim_func: Any, shapes: Mapping[int, tuple[int, ...]]) -> Iterator[dict[int, list[Any]]]:
    for kind in _CONTENTS:
        found = random_contents(prim_func, shapes, int(kind[-1]) if kind[-1].isdigit() else 1)
        if kind in ("zeros", "ones"):
            found = {place: [float(kind == "ones")] * len(numbers) for place, numbers in found.items()}
        yield found


def _is_other(one: Mapping[int, list[Any]], other: Mapping[int, list[Any]]) -> bool:
    pairs = ((a, b) for place in one for a, b in zip(one[place], other[place], strict=True))
    return any(a != b and not (a != a and b != b) for a, b in pairs)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--kernels", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.monotonic()
    seen: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for kernel in some(options.kernels, options.seed):
        if time.monotonic() - started > options.minutes * 60:
            break
        try:
            seen += compare(kernel)
        except Unusable as error:
            seen[f"not taken: {str(error).split(':')[0]}"] += 1
        except Exception:
            why = reason(kernel, compare)
            if why is None:
                continue
            reasons[why] += 1
            if reasons[why] <= SHOWN:
                found = smallest(kernel, compare, why)
                sys.stdout.write(f"{_error(found)}\n{script(found)}\n\n")
                sys.stdout.flush()
    sys.stdout.write(f"seed {options.seed}: {sum(reasons.values())} disagreements {dict(reasons)}\n")
    for what, number in sorted(seen.items()):
        sys.stdout.write(f"  {what}: {number:,}\n")
    return 1 if reasons else 0


def _error(kernel: Kernel) -> str:
    try:
        compare(kernel)
    except Exception as error:
        return str(error)
    return ""


if __name__ == "__main__":
    sys.exit(main())
