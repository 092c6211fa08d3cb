"""Facts are freed by their counts: a cycle among them keeps a whole program until the collector comes."""

from __future__ import annotations

import gc
from weakref import ref

from relax_lint.judging.module import ModuleJudge
from relax_lint.judging.report import check_module
from relax_lint.model.kernel_access.polynomials import Poly
from relax_lint.replay.modules import load_module
from relax_lint.settings.config import Config
from relax_lint.support.gc_pause import COLLECTED_AFTER, seldom_collected, without_collection
from relax_lint.totals.result import function_totals
from tests.programs.transformer import lowered


def _judged(judge: ModuleJudge) -> None:
    for judged in judge.functions():
        assert judged.judgements
        function_totals(judge.program, judged.facts.function, judged.facts.totals, page_size=4096)


def test_what_was_judged_is_freed_at_once() -> None:
    judge = ModuleJudge(lowered(1, bounded=True, stage="killed"), Config())
    program, function = ref(judge.program), ref(judge.program.functions[0])
    with without_collection():
        _judged(judge)
        del judge
        assert program() is None
        assert function() is None


def test_the_collector_comes_seldom_meanwhile_and_as_before_afterwards() -> None:
    before = gc.get_threshold()
    with seldom_collected():
        assert gc.get_threshold() == (COLLECTED_AFTER, *before[1:])
    assert gc.get_threshold() == before


def test_who_has_switched_the_collector_off_or_wants_it_later_is_left_alone() -> None:
    before = gc.get_threshold()
    try:
        for chosen in (0, COLLECTED_AFTER + 1):
            gc.set_threshold(chosen, *before[1:])
            with seldom_collected():
                assert gc.get_threshold() == (chosen, *before[1:])
    finally:
        gc.set_threshold(*before)


def test_judging_a_module_leaves_the_collector_as_it_was() -> None:
    before = gc.get_threshold()
    check_module(lowered(1, bounded=True, stage="planned"), Config())
    assert gc.get_threshold() == before


WINDOWS = """
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func
    def windows(x: T.handle, y: T.handle):
        n = T.int64()
        given = T.match_buffer(x, (n,), "float32")
        made = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            made[i] = given[i // 3 * 2 + i % 3]

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        y = R.call_tir(Module.windows, (x,), out_ty=R.Tensor((n,), "float32"))
        return y
"""


def test_the_sums_in_the_indices_of_a_kernel_are_freed_at_once() -> None:
    # Whether `i // 3 * 2 + i % 3 < n` takes many sums to find out, each of which knows what it says when it is
    # divided by its common divisor: that may be itself.
    def sums() -> int:
        return sum(isinstance(one, Poly) for one in gc.get_objects())

    gc.collect()
    with without_collection():
        before = sums()
        judge = ModuleJudge(load_module(WINDOWS, "script"), Config())
        judged = list(judge.functions())
        assert sums() > before
        del judge, judged
        assert sums() == before
