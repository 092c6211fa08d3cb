"""What is read of a kernel while nobody asks what it reads for sure, and when that is asked."""

from __future__ import annotations

from typing import Any

import pytest
import tvm

from relax_lint import check
from relax_lint.model import prim_funcs
from relax_lint.model.kernel_body.quick_reader import QuickReader
from relax_lint.model.kernel_body.reader import BodyReader
from relax_lint.model.kernels import Kernel
from tests.oracle.kernels import bodies, limits, richer

BODIES = 15
"""Of each kind."""

CALLER = """\
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def twice(x_: T.handle, y_: T.handle):
        n = T.int64()
        x = T.match_buffer(x_, (n,), "float32")
        y = T.match_buffer(y_, (n,), "float32")
        for i in range(n):
            y[i] = x[i] + x[i]

    @R.function(pure=False)
    def main(x: R.Tensor((8,), "float32")) -> R.Tensor((8,), "float32"):
        cls = Module
        s = R.memory.alloc_storage(R.shape([32]), 0, "global", "uint8")
        t = R.memory.alloc_storage(R.shape([32]), 0, "global", "uint8")
        a: R.Tensor((8,), "float32") = R.memory.alloc_tensor(s, 0, R.shape([8]), "float32")
        b: R.Tensor((8,), "float32") = R.memory.alloc_tensor(t, 0, R.shape([8]), "float32")
        {first}
        _: R.Tuple() = cls.twice(a, b)
        return b
"""


def _found(kind: type[BodyReader], function: Any) -> tuple[object, ...]:
    """All that a reader finds but for what is read for sure."""
    reader, parameters, shapes, loops, _ = prim_funcs._read_by(kind, function)
    effects = reader.effects
    return (
        list(map(repr, reader.touches)),
        (effects.reads, effects.writes, effects.first_reads, effects.opaque, effects.lent),
        (reader.lookups, reader.reductions, reader.filled),
        reader.flow.copies(parameters),
        prim_funcs._in_place(reader, parameters, loops),
        shapes,
    )


@pytest.mark.parametrize("some", [bodies.some, richer.some, limits.some])
def test_both_readers_find_the_same(some: Any) -> None:
    count = 0
    for body in some(BODIES, 7):
        try:
            function = tvm.script.from_source(bodies.script(body))
        except Exception:
            continue
        count += 1
        assert _found(QuickReader, function) == _found(BodyReader, function), bodies.script(body)
    assert count > BODIES / 2


@pytest.mark.parametrize(
    ("first", "asked"),
    [("_1: R.Tuple() = cls.twice(x, a)", False), ("_1: R.Tuple() = cls.twice(x, b)", True)],
)
def test_sure_reads_are_looked_for_where_something_depends_on_them(
    first: str, asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    times: list[object] = []
    whole = prim_funcs._sure_reads

    def counted(*given: Any) -> Any:
        times.append(given)
        return whole(*given)

    monkeypatch.setattr(prim_funcs, "_sure_reads", counted)
    report = check(tvm.script.from_source(CALLER.format(first=first)))
    assert {one.rule for one in report.findings} == ({"RLX205"} if asked else set())
    assert bool(times) is asked


def test_of_a_kernel_that_is_nested_too_deeply_nothing_is_read_for_sure() -> None:
    def deep() -> Any:
        raise RecursionError

    kernel = Kernel("f", (), frozenset((0, 1)), sure=deep)
    assert kernel.unsure_reads == {0, 1}
    assert kernel.read_if == {}
