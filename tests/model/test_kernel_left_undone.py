"""What a way out of a step, of a loop or of a kernel leaves undone, by what comes after it where."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest
import tvm

from relax_lint.model.kernel_body.ways_out import Around
from relax_lint.vm import nodes
from relax_lint.vm.exits import BREAK, CONTINUE, RETURN

TEXT = """
@T.prim_func(private=True, s_tir=True)
def f(x: T.Buffer((4,), "float32")):
    x[0] = T.float32(1)
    return 0
"""
PLACES = ("before the loop", "in the loop", "after the loop")


@pytest.mark.parametrize("way_out", [CONTINUE, BREAK, RETURN])
@pytest.mark.parametrize("acts", PLACES)
@pytest.mark.parametrize("outer", [False, True])
def test_what_comes_after_it_is_left_undone(way_out: str, acts: str, outer: bool) -> None:
    body = tvm.script.from_source(TEXT, check_well_formed=False).body
    store, nothing = next(n for n in nodes.nodes_of(body) if type(n).__name__ == "SeqStmt").seq
    done: dict[str, Any] = {place: store if place == acts else nothing for place in PLACES}
    around = Around(body)
    with ExitStack() as stack:
        stack.enter_context(around.before([nothing, done["after the loop"]]))
        stack.enter_context(around.loop(done["in the loop"]))
        if outer:
            stack.enter_context(around.before([nothing]))
            stack.enter_context(around.loop(nothing))
        skipped = around.skips(way_out)
    left = {CONTINUE: (), BREAK: ("in the loop",), RETURN: ("in the loop", "after the loop")}
    assert skipped is (acts in left[way_out] and not outer)
