"""Look for scheduled and lowered kernels of whose accesses the linter says something that is not so.

python -m tests.oracle.tir.scheduled [--minutes 10] [--kernels N] [--seed N]

A plain kernel of two steps, right or wrong by one row, is scheduled by random primitives (split, fuse, reorder,
bind, vectorise, compute at, cache, decompose, pad, another layout) and lowered by the first so many passes of
TVM's pipeline. What is found is made smaller by leaving out primitives and passes, and printed with its recipe;
the exit code is then 1. Where the plain kernel stays in its memory and the scheduled one does not, TVM is to
blame: that is counted, and printed too.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import pickle
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import tvm
from tvm import s_tir, tirx

from tests.oracle.clock import Clock
from tests.oracle.tir.compare import Runs, Unusable, compare_function, reason, runs

_BATCH = 50
SHAPES = ("n", "n + 1", "T.int64(8)", "m", "T.int64(3)", "n * 2", "T.int64(6)")
BODIES = {
    "rows": "y[a, b] = t[a, b] + T.float32(1)",
    "next row": "y[a, b] = t[a, b] + t[a + 1, b]",
    "clamped": "y[a, b] = t[T.min(a + 1, {rows} - 1), b]",
    "guarded": "y[a, b] = T.if_then_else(a + 1 < {rows}, t[a + 1, b], T.float32(0))",
    "reversed": "y[a, b] = t[{rows} - 1 - a, b]",
    "sum": "y[a, 0] = y[a, 0] + t[a, b]",
    "column": "y[a, b] = t[a, b] * x[a, 0]",
}
LOWERING: tuple[tuple[str, Callable[[], Any]], ...] = (
    ("LowerInitBlock", s_tir.transform.LowerInitBlock),
    ("PlanAndUpdateBufferAllocationLocation", s_tir.transform.PlanAndUpdateBufferAllocationLocation),
    ("ConvertBlocksToOpaque", s_tir.transform.ConvertBlocksToOpaque),
    ("LiftThreadBinding", s_tir.transform.LiftThreadBinding),
    ("CompactBufferAllocation", s_tir.transform.CompactBufferAllocation),
    ("LowerMatchBuffer", s_tir.transform.LowerMatchBuffer),
    ("UnifyThreadBinding", s_tir.transform.UnifyThreadBinding),
    ("LowerOpaqueBlock", s_tir.transform.LowerOpaqueBlock),
    ("FlattenBuffer", tirx.transform.FlattenBuffer),
    ("LoopPartition", s_tir.transform.LoopPartition),
    ("VectorizeLoop", tirx.transform.VectorizeLoop),
    ("InjectVirtualThread", s_tir.transform.InjectVirtualThread),
    ("StorageRewrite", tirx.transform.StorageRewrite),
    ("HoistIfThenElse", s_tir.transform.HoistIfThenElse),
    ("UnrollLoop", tirx.transform.UnrollLoop),
    ("RemoveNoOp", tirx.transform.RemoveNoOp),
)


@dataclass(frozen=True)
class Recipe:
    """The plain kernel, the primitives by the seeds of their choices, and how many passes lower it."""

    rows: str
    columns: str
    body: str
    more: int
    """Rows that the source has beyond those that are read; -1: one is missing."""
    steps: tuple[tuple[str, int], ...]
    passes: int

    @property
    def text(self) -> str:
        """The plain kernel as TVMScript."""
        out_columns = "1" if self.body == "sum" else self.columns
        inner = BODIES[self.body].format(rows=self.rows)
        kinds, init = "SS", ""
        if self.body == "sum":
            kinds = "SR"
            init = "            with T.init():\n                y[a, 0] = T.float32(0)\n"
        rows = f"{self.rows} + {self.more}" if self.more else self.rows
        return (
            "@T.prim_func(s_tir=True)\n"
            "def f(x_: T.handle, y_: T.handle, e_: T.handle):\n"
            "    n = T.int64()\n"
            "    m = T.int64()\n"
            f'    x = T.match_buffer(x_, ({rows}, {self.columns}), "float32")\n'
            f'    y = T.match_buffer(y_, ({self.rows}, {out_columns}), "float32")\n'
            '    e = T.match_buffer(e_, (n, m), "int8")\n'
            f'    t = T.sblock_alloc_buffer(({self.rows}, {self.columns}), "float32")\n'
            f"    for i, j in T.grid({self.rows}, {self.columns}):\n"
            '        with T.sblock("first"):\n'
            '            a, b = T.axis.remap("SS", [i, j])\n'
            "            t[a, b] = x[a, b] * T.float32(2)\n"
            f"    for i, j in T.grid({self.rows}, {self.columns}):\n"
            '        with T.sblock("second"):\n'
            f'            a, b = T.axis.remap("{kinds}", [i, j])\n'
            f"{init}            {inner}\n"
        )


def some(count: int, seed: int) -> Iterator[Recipe]:
    """Recipes, the same ones for a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        steps = tuple(
            (chance.choice(tuple(PRIMITIVES)), chance.randrange(10**6)) for _ in range(chance.randint(1, 9))
        )
        yield Recipe(
            chance.choice(SHAPES),
            chance.choice(SHAPES),
            chance.choice(tuple(BODIES)),
            chance.choice((0, 0, 0, 1, -1)),
            steps,
            chance.choice((0, 0, 3, 5, 8, 9, *range(len(LOWERING) + 1))),
        )


# -- primitives -----------------------------------------------------------------------------------


class _Schedule:
    """A schedule and the choices of one primitive."""

    def __init__(self, schedule: Any, seed: int) -> None:
        self.schedule = schedule
        self.chance = random.Random(seed)

    def blocks(self) -> list[Any]:
        """Every block but the one of the function."""
        return list(self.schedule.get_child_blocks(self.schedule.get_sblock("root")))

    def block(self) -> Any:
        """Some block."""
        return self.chance.choice(self.blocks())

    def loops(self) -> list[Any]:
        """The loops around some block. Raises `IndexError` where there is none."""
        found = list(self.schedule.get_loops(self.block()))
        if not found:
            raise IndexError
        return found

    def loop(self) -> Any:
        """Some loop around some block."""
        return self.chance.choice(self.loops())


def _split(one: _Schedule) -> None:
    factor = one.chance.choice((2, 3, 4, 5))
    factors = one.chance.choice(([None, factor], [factor, None], [None, 2, factor]))
    one.schedule.split(one.loop(), factors)


def _fuse(one: _Schedule) -> None:
    loops = one.loops()
    at = one.chance.randrange(len(loops))
    one.schedule.fuse(*loops[at : at + 2])


def _reorder(one: _Schedule) -> None:
    loops = one.loops()
    one.chance.shuffle(loops)
    one.schedule.reorder(*loops)


def _bind(one: _Schedule) -> None:
    one.schedule.bind(
        one.loop(), one.chance.choice(("blockIdx.x", "threadIdx.x", "threadIdx.y", "vthread.x"))
    )


def _move(one: _Schedule) -> None:
    block, other = one.chance.sample(one.blocks(), 2)
    move = one.chance.choice((one.schedule.compute_at, one.schedule.reverse_compute_at))
    loop = one.chance.choice(list(one.schedule.get_loops(other)))
    move(block, loop, preserve_unit_loops=one.chance.random() < 0.5)


def _inline(one: _Schedule) -> None:
    one.chance.choice((one.schedule.compute_inline, one.schedule.reverse_compute_inline))(one.block())


def _cache(one: _Schedule) -> None:
    scope = one.chance.choice(("global", "shared", "local"))
    one.chance.choice((one.schedule.cache_read, one.schedule.cache_write))(one.block(), 0, scope)


def _int64(number: int) -> Any:
    return tirx.IntImm("int64", number)


def _layout(one: _Schedule) -> None:
    maps: tuple[Callable[[Any, Any], list[Any]], ...] = (
        lambda a, b: [b, a],
        lambda a, b: [a // _int64(4), b, a % _int64(4)],
        lambda a, b: [a, b // _int64(2), b % _int64(2)],
    )
    buffer = (one.chance.choice(("read", "write")), 0)
    pad = one.chance.choice((None, 0.0))
    one.schedule.transform_layout(one.block(), buffer, one.chance.choice(maps), pad_value=pad)


def _pad(one: _Schedule) -> None:
    one.schedule.pad_einsum(one.block(), [one.chance.choice((1, 2, 4)) for _ in range(2)])


PRIMITIVES: dict[str, Callable[[_Schedule], None]] = {
    "split": _split,
    "fuse": _fuse,
    "reorder": _reorder,
    "bind": _bind,
    "parallel": lambda one: one.schedule.parallel(one.loop()),
    "vectorize": lambda one: one.schedule.vectorize(one.loop()),
    "unroll": lambda one: one.schedule.unroll(one.loop()),
    "move": _move,
    "inline": _inline,
    "cache": _cache,
    "layout": _layout,
    "pad": _pad,
    "decompose": lambda one: one.schedule.decompose_reduction(one.block(), one.loop()),
    "rfactor": lambda one: one.schedule.rfactor(one.loop(), 0),
    "blockize": lambda one: one.schedule.blockize(one.loop()),
    "scope": lambda one: one.schedule.set_scope(one.block(), 0, one.chance.choice(("shared", "local"))),
    "align": lambda one: one.schedule.storage_align(one.block(), 0, 0, 4, 1),
    "reindex": lambda one: one.schedule.reindex(one.block(), (one.chance.choice(("read", "write")), 0)),
}


def plain(recipe: Recipe) -> Any:
    """The kernel before it is scheduled. Raises `Unusable`."""
    try:
        return tvm.script.from_source(recipe.text)
    except Exception as error:
        raise Unusable(f"TVM: {error}") from None


def made(recipe: Recipe, applied: Counter[str] | None = None) -> Any:
    """The kernel as it is scheduled and lowered; the primitives that did something are counted in `applied`.
    Raises `Unusable`.
    """
    schedule = s_tir.Schedule(tvm.IRModule({"main": plain(recipe)}))
    for name, seed in recipe.steps:
        try:
            PRIMITIVES[name](_Schedule(schedule, seed))
        except (s_tir.ScheduleError, IndexError, ValueError, AssertionError, tvm.error.InternalError):
            # It does not apply to this kernel.
            continue
        if applied is not None:
            applied[f"primitive {name}"] += 1
    module = schedule.mod
    try:
        for _, lower in LOWERING[: recipe.passes]:
            module = lower()(module)
    except Exception as error:
        raise Unusable(f"a pass: {error}") from None
    return module["main"]


def compare(recipe: Recipe) -> Counter[str]:
    """What the linter says against the runs. Raises `Disagreement` and `Unusable`."""
    seen: Counter[str] = Counter()
    function = made(recipe, seen)
    return seen + compare_function(function)


def goes_out(recipe: Recipe) -> bool:
    """Whether TVM made a kernel that leaves the memory of a kernel that does not. Raises `Unusable`."""
    if not _leaves(runs(made(recipe))):
        return False
    return not any(report.outside for report in runs(plain(recipe)).reports.values())


def _leaves(found: Runs) -> bool:
    return any(report.left for report in found.reports.values())


# -- smaller ones ---------------------------------------------------------------------------------


def smallest(recipe: Recipe, is_one: Callable[[Recipe], bool]) -> Recipe:
    """Leave out primitives, then passes, while it stays one of its kind."""
    for place in reversed(range(len(recipe.steps))):
        shorter = replace(recipe, steps=recipe.steps[:place] + recipe.steps[place + 1 :])
        if is_one(shorter):
            recipe = shorter
    for passes in range(recipe.passes):
        shorter = replace(recipe, passes=passes)
        if is_one(shorter):
            return shorter
    return recipe


def _by_tvm(recipe: Recipe) -> bool:
    try:
        return goes_out(recipe)
    except Unusable:
        return False


def looked_at(recipe: Recipe) -> tuple[Counter[str], str]:
    """What was counted of one kernel, and the text of what was found."""
    seen: Counter[str] = Counter()
    found = None
    try:
        applied: Counter[str] = Counter()
        function = made(recipe, applied)
        found = runs(function)
        seen += applied + compare_function(function, found)
    except Unusable as error:
        seen[f"not taken: {str(error).split(':')[0]}"] += 1
    except Exception:
        why = reason(recipe, compare) or "it does not happen again"
        short = smallest(recipe, lambda one: reason(one, compare) == why)
        seen["disagreements"] += 1
        return seen, f"{why}\n{short}\n{made(short)}\n"
    if recipe.more >= 0 and found is not None and _leaves(found) and _by_tvm(recipe):
        seen["leaves its memory because of TVM"] += 1
        return seen, f"by TVM: {smallest(recipe, _by_tvm)}\n"
    return seen, ""


def looked_at_apart(recipes: Iterable[Recipe]) -> Iterator[tuple[Counter[str], str]]:
    """The same for many, in processes that TVM may end."""
    left = list(recipes)
    while left:
        receiving, sending = os.pipe()
        child = os.fork()
        if child == 0:
            with os.fdopen(sending, "wb") as stream:
                for recipe in left:
                    pickle.dump(looked_at(recipe), stream)
                    stream.flush()
            os._exit(0)
        os.close(sending)
        with os.fdopen(receiving, "rb") as stream, contextlib.suppress(EOFError, pickle.UnpicklingError):
            while left:
                answer = pickle.load(stream)
                left.pop(0)
                yield answer
        os.waitpid(child, 0)
        if left:
            left.pop(0)
            yield Counter({"TVM ended the process": 1}), ""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--kernels", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    clock = Clock(options.minutes)
    seen: Counter[str] = Counter()
    recipes = some(options.kernels, options.seed)
    while not clock.is_over and (batch := list(itertools.islice(recipes, _BATCH))):
        for counted, found in looked_at_apart(batch):
            seen += counted
            sys.stdout.write(found)
            sys.stdout.flush()
            clock.tell(f"{seen['kernels']:,} kernels, {seen['disagreements']} disagreements")
    for what, number in sorted(seen.items()):
        sys.stdout.write(f"{number:>12,}  {what}\n")
    minutes = f"{clock.minutes:.0f} minutes{clock.ended_by}"
    sys.stdout.write(f"{seen['disagreements']} disagreements in {seen['kernels']:,} kernels, {minutes}\n")
    return 1 if seen["disagreements"] else 0


if __name__ == "__main__":
    sys.exit(main())
