"""RLX311 unwritten-internal-read where its page does not reach: order, guards, regions, branches."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

import relax_lint
from relax_lint.settings.config import Config
from tests.rules.checking import checks, parse, verdicts
from tests.rules.one_kernel import called_kernel

MODULE = """\
from tvm.script import ir as I, relax as R, tirx as T


@I.ir_module
class Module:
"""


def said(body: str) -> list[tuple[str, str, str | None]]:
    text = called_kernel(f's = T.alloc_buffer((8,), "float32")\n{body.strip()}')
    return verdicts(checks(parse(text), "RLX311"))


@pytest.mark.parametrize(
    ("body", "safe"),
    [
        ("for i in range(n):\n    y[i] = s[0]\n    s[0] = x[i]", "n <= 0"),
        ("for i in range(n):\n    s[0] = s[0] + x[i]", "n <= 0"),
        ("if n > 4:\n    y[0] = s[1]", "n <= 4"),
        ("for i in range(n):\n    for j in range(3):\n        y[i] = y[i] + s[j]", "n <= 0"),
    ],
)
def test_what_comes_before_every_store_is_reported(body: str, safe: str) -> None:
    assert said(body) == [("RLX311", "needs-runtime-check", safe)]


@pytest.mark.parametrize("steps", ["k, 4", "0, k", "0, 4, step=k", "k, k + 4", "0, 8, step=k + 1"])
def test_what_says_which_steps_a_loop_makes_is_read(steps: str) -> None:
    read = steps.replace("k", "T.Cast('int32', s[0])")
    assert said(f"for i in T.serial({read}):\n    y[i] = x[i]") == [("RLX311", "always-wrong", None)]


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(n):\n    s[0] = x[i]\n    y[i] = s[0]",
        "for i in range(n):\n    if i > 0:\n        y[i] = s[0]\n    s[0] = x[i]",
        "for i in range(n):\n    y[i] = T.if_then_else(i > 0, s[0], x[i])\n    s[0] = x[i]",
        'for i in T.thread_binding(8, thread="threadIdx.x"):\n    y[i] = s[i]\n    s[i] = x[i]',
        'w = T.decl_buffer((8,), "float32", data=s.data)\nw[0] = x[0]\ny[0] = s[0]',
        "for i in range(n):\n    if x[i] > T.float32(0):\n        break\n    y[i] = s[0]",
    ],
)
def test_in_doubt_nothing_is_said(body: str) -> None:
    assert said(body) == []


def test_the_read_is_shown_where_it_stands(tmp_path: Path) -> None:
    body = 's = T.alloc_buffer((8,), "float32")\nfor i in T.parallel(n):\n    y[0] = y[0] + s[i]'
    text = MODULE + indent(called_kernel(body), "    ")
    path = tmp_path / "kernels.py"
    path.write_text(text, encoding="utf-8")
    report = relax_lint.check(str(path), Config(select=("RLX311", "RLX312")))
    shown = {}
    for check in report.findings:
        (related,) = check.related
        place = related.location
        assert place is not None
        line = text.splitlines()[place.line - 1]
        shown[check.rule] = related.message, line[place.column - 1 : place.end_column - 1]
    assert shown == {"RLX311": ("the read", "s[i]"), "RLX312": ("the store", "y[0]")}
