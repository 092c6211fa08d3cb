"""What a known bug is here: a program, the rule that should see it, and calls that show what happens."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent, indent

HEADER = "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:\n"

DOUBLE = """
@T.prim_func(private=True)
def double(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        y[i] = x[i] * T.float32(2)
"""
"""A kernel from one vector to another of its length."""

ADD = """
@T.prim_func(private=True)
def add(a: T.handle, b: T.handle, c: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (n,), "float32")
    z = T.match_buffer(c, (n,), "float32")
    for i in range(n):
        z[i] = x[i] + y[i]
"""
"""A kernel from two vectors to a third."""

TRIPLE_IN_PLACE = """
@T.prim_func(private=True)
def triple(a: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    for i in range(n):
        x[i] = x[i] * T.float32(3)
"""
"""A kernel that overwrites its only argument."""

REVERSE = """
@T.prim_func(private=True)
def reverse(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        y[i] = x[n - 1 - i]
"""
"""A kernel of which each element depends on another one."""


@dataclass(frozen=True)
class Bug:
    """A pattern and its minimal program.

    `rows` are the public references, `rule` and `verdict` what is to be reported (an empty rule: nothing,
    because the pattern is harmless or repaired). `calls` are run on the virtual machine, in the notation of
    `relax_lint.replay` without what is expected. `right` says what a right program would answer, where the
    machine answers without an error. `max_memory` is the budget in bytes where there must be one.
    `undecidable` says why the IR alone cannot tell the program from a right one.
    """

    name: str
    rows: str
    pattern: str
    rule: str
    verdict: str
    body: str
    calls: tuple[str, ...] = ()
    right: str = ""
    max_memory: int | None = None
    undecidable: str = ""

    @property
    def text(self) -> str:
        """The program as a TVMScript file."""
        return HEADER + indent(self.body.strip("\n"), "    ") + "\n"


@dataclass(frozen=True)
class Rows:
    """References that are not judged, and why."""

    rows: str
    pattern: str
    reason: str


def bug(
    name: str,
    rows: str,
    pattern: str,
    expected: str,
    *parts: str,
    calls: tuple[str, ...] = (),
    right: str = "",
    max_memory: int | None = None,
    undecidable: str = "",
) -> Bug:
    """A bug whose program consists of `parts`; `expected` is a rule and its verdict, or nothing."""
    rule, _, verdict = expected.partition(" ")
    body = "\n".join(dedent(part) for part in parts)
    return Bug(name, rows, pattern, rule, verdict, body, calls, right, max_memory, undecidable)
