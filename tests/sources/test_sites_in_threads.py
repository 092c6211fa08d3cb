"""What keeps TVM's parser from evaluating anything stays in place while another thread needs it."""

from __future__ import annotations

import builtins
import threading

from tvm.script.parser.core import evaluator

from relax_lint.sources import recorder
from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.sites import closed
from relax_lint.sources.unit import ParsedUnit

BUILDER = vars(recorder)["relax_builder"]


def test_one_thread_does_not_open_what_another_one_closed() -> None:
    before = vars(evaluator).get("eval", builtins.eval)
    inside, leave, second = threading.Event(), threading.Event(), threading.Event()

    def first_thread() -> None:
        with closed():
            inside.set()
            leave.wait(60)

    def second_thread() -> None:
        inside.wait(60)
        with closed():
            second.set()

    threads = [threading.Thread(target=work) for work in (first_thread, second_thread)]
    for thread in threads:
        thread.start()
    inside.wait(60)
    assert not second.wait(0.1)
    leave.set()
    for thread in threads:
        thread.join()
    assert second.is_set()
    assert vars(evaluator).get("eval", builtins.eval) is before


def test_a_thread_may_close_twice() -> None:
    with closed(), closed():
        assert vars(evaluator)["eval"] is not builtins.eval
    assert vars(evaluator).get("eval", builtins.eval) is builtins.eval


def test_threads_that_read_texts_leave_the_parser_as_it_was() -> None:
    text = "from tvm.script import relax as R\n@R.function\ndef f(x: R.Tensor((4,))):\n    return x\n"
    (unit,) = read_units(text.encode(), "a.py").units
    names = ("emit", "emit_match_cast", "emit_var_binding", "If", "func_ret_value")
    before = [getattr(BUILDER, name) for name in names]
    together = threading.Barrier(3, timeout=60)
    read: list[object] = []

    def work() -> None:
        together.wait()
        read.extend(parse_unit(unit) for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [type(one) for one in read] == [ParsedUnit] * 15
    assert all(getattr(BUILDER, name) is old for name, old in zip(names, before, strict=True))
    assert vars(evaluator).get("eval", builtins.eval) is builtins.eval
