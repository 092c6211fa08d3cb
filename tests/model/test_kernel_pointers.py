"""Pointers that a kernel gives to what it calls: the memory that they point to, whatever shows it."""

from __future__ import annotations

from textwrap import indent

import pytest
import tvm

from relax_lint.facts.kernel_access_verdicts import Status
from relax_lint.model.kernel_access.trial import Outcome
from tests.oracle.tir.compare import Said, judged

HEAD = """\
@T.prim_func(s_tir=True)
def f(x_: T.handle, y_: T.handle):
    n = T.int64()
    x = T.match_buffer(x_, (2, 64), "float32")
    y = T.match_buffer(y_, (n,), "float32")
    s = T.alloc_buffer((64,), "float32")
"""
CALL = 'T.evaluate(T.call_extern("int32", "g", T.tvm_access_ptr(T.type_annotation("float32"), {}.data, {}, {}, 1)))\n'
HALVES = CALL.replace("float32", "float16")
VIEW = 'v = T.decl_buffer(({},), "{}", data=s.data)\n'


def said_of(body: str) -> Said:
    """What is said of a kernel with these statements."""
    return judged(tvm.script.from_source(HEAD + indent(body, "    ")))


@pytest.mark.parametrize(
    "body",
    [
        CALL.format("x", 64, 64),
        VIEW.format(32, "float32") + CALL.format("v", 0, 64),
        VIEW.format(128, "float16") + HALVES.format("v", 0, 128),
        HALVES.format("s", 64, 64),
        "for i in range(n):\n    if i < 25:\n        " + CALL.format("x", "i * 5", 8),
    ],
)
def test_all_of_the_memory_may_be_given(body: str) -> None:
    said = said_of(body)
    assert said.proved
    assert all(one.status is Status.PROVED for one in said.opened)


@pytest.mark.parametrize(
    "body",
    [
        CALL.format("x", 65, 64),
        CALL.format("x", -1, 64),
        HALVES.format("s", 65, 64),
        VIEW.format(128, "float16") + CALL.format("v", 0, 128),
        VIEW.format(128, "float32") + CALL.format("v", 0, 128),
        VIEW.format(128, "float16") + HALVES.format("v", 1, 128),
    ],
)
def test_more_than_the_memory_is_wrong(body: str) -> None:
    assert [one.status for one in said_of(body).opened] == [Status.WRONG]


def test_a_position_is_no_index_of_an_axis() -> None:
    (one,) = said_of("for i in range(n):\n    " + CALL.format("x", "i * 5", 4)).opened
    assert (one.status, str(one.condition)) == (Status.DEPENDS, "n - 26 < 0")
    assert one.trial is None or one.trial.outcome is Outcome.UNKNOWN


ANYWHERE = 'T.bitwise_or(T.Cast("int64", y[0]), 4)'
PLACES = {
    "a region": f"""with T.sblock("b"):
    v = T.match_buffer(x[0, {ANYWHERE} : {ANYWHERE} + 2], (2,), "float32", offset_factor=1, strides=["t"])
    v[0] = T.float32(1)
""",
    "a region of a region": f"""with T.sblock("b"):
    w = T.match_buffer(x[0, {ANYWHERE} : {ANYWHERE} + 2], (2,), "float32", offset_factor=1, strides=["t"])
    with T.sblock("c"):
        v = T.match_buffer(w[0:1], (1,), "float32", offset_factor=1, strides=["u"])
        v[0] = T.float32(1)
""",
    "an offset": f'v = T.decl_buffer((2,), "float32", data=x.data, elem_offset={ANYWHERE})\nv[0] = T.float32(1)',
    "a stride": f'v = T.decl_buffer((2,), "float32", data=x.data, strides=[{ANYWHERE}])\nv[1] = T.float32(1)',
    "an extent": f'v = T.decl_buffer((2, {ANYWHERE}), "float32", data=x.data)\nv[1, 0] = T.float32(1)',
}
"""Buffers of which nobody knows where they begin or how they lie."""


@pytest.mark.parametrize("form", PLACES)
def test_nothing_is_proved_of_a_place_that_cannot_be_read(form: str) -> None:
    (one,) = (one for one in said_of(PLACES[form]).opened if one.access.buffer.name == "v")
    assert one.status is Status.UNDECIDED
