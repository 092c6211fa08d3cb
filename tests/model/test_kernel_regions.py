"""Stores under conditions: which ones come before every load, so that bounds on what is loaded are known."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest
import tvm

from relax_lint.model.prim_funcs import read_kernel
from tests.oracle.tir.indices import compare

HEAD = """\
@T.prim_func(s_tir=True)
def f(p_: T.handle, e_: T.handle, q_: T.handle):
    n = T.int64()
    m = T.int64()
    p = T.match_buffer(p_, (n,), "int32")
    q = T.match_buffer(q_, (n,), "int32")
    e = T.match_buffer(e_, (m,), "int8")
    s = T.alloc_buffer((n,), "int32")
"""
SAME_BRANCH = """\
for i in range(n):
    if p[i] > 0:
        s[i] = 1
        q[i] = s[i]
"""
BOTH_BRANCHES = """\
for i in range(n):
    if p[i] > 0:
        s[i] = 1
    else:
        s[i] = 2
for i in range(n):
    q[i] = s[i]
"""
ONE_BRANCH = """\
for i in range(n):
    if p[i] > 0:
        s[i] = 1
    q[i] = s[i]
"""
OTHER_BRANCH = """\
for i in range(n):
    if p[i] > 0:
        s[i] = 1
    else:
        q[i] = s[i]
"""
ANOTHER_ELEMENT = """\
for i in range(n):
    if p[i] > 0:
        s[i] = 1
    else:
        s[n - 1 - i] = 2
    q[i] = s[i]
"""
FIRST_STEP = """\
for i in range(n):
    for j in range(m):
        if j == 0:
            s[i] = 1
        q[i] = s[i]
"""
FIRST_STEP_NEVER_MADE = """\
for i in range(n):
    for j in range(m):
        if j % 2 == 1:
            if j == 0:
                s[i] = 1
            q[i] = s[i]
"""
FIRST_STEP_UNDER_DATA = """\
for i in range(n):
    for j in range(m):
        if p[i] > j:
            if j == 0:
                s[i] = 1
            q[i] = s[i]
"""


@pytest.mark.parametrize(
    ("body", "known"),
    [
        (SAME_BRANCH, True),
        (BOTH_BRANCHES, True),
        (FIRST_STEP, True),
        (ONE_BRANCH, False),
        (OTHER_BRANCH, False),
        (ANOTHER_ELEMENT, False),
        (FIRST_STEP_NEVER_MADE, False),
        (FIRST_STEP_UNDER_DATA, False),
    ],
)
def test_only_what_was_stored_before_on_every_way_is_known(body: str, known: bool) -> None:
    text = HEAD + indent(dedent(body), "    ")
    values = read_kernel("f", tvm.script.from_source(text)).accesses.values
    assert (2 in values) is known
    compare(text)
