"""Fences of a page are one program, what is not Python in them is no error, and positions in notebooks are by
cell.
"""

from __future__ import annotations

import json

from relax_lint.judging.report import check_parsed
from relax_lint.output.finding import details
from relax_lint.settings.config import Config
from relax_lint.sources.opaque.reading import read_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import ParsedUnit

FUNCTION = """@RR.function
def f(x: RR.Tensor((SIZE,), "float32")):
    y = RR.add(x, x)
    return y
"""
IMPORTS = "from tvm.script import ir as I, relax as RR, tirx as T\n"
TRACEBACK = """Traceback (most recent call last):
  File "a.py", line 3, in <module>
    @R.function
tvm.error.InternalError: no such relax function
"""


def page(*fences: tuple[str, str]) -> bytes:
    return "\n\ntext\n\n".join(f"```{mark}\n{text}```" for mark, text in fences).encode()


def test_a_fence_sees_the_names_of_those_before() -> None:
    found = read_units(
        page(("python", IMPORTS), ("", "SIZE = 4\n"), ("python", FUNCTION)), "a.md", "markdown"
    )
    assert found.problems == ()
    (unit,) = found.units
    assert unit.line == 15
    assert isinstance(read_unit(unit), ParsedUnit)


def test_a_traceback_is_not_python() -> None:
    whole = IMPORTS + FUNCTION.replace("SIZE", "4")
    for mark in ("", "python", "pycon"):
        found = read_units(page(("python", whole), (mark, TRACEBACK)), "a.md", "markdown")
        assert found.problems == ()
        assert [unit.name for unit in found.units] == ["f"]


def test_what_nobody_calls_python_is_no_error() -> None:
    found = read_units(
        page(("", "relax function of tvm: see ir_module\n"), ("python", IMPORTS)), "a.md", "markdown"
    )
    assert found.problems == ()
    found = read_units(page(("python", "@R.function\ndef f(: relax tvm\n")), "a.md", "markdown")
    assert [problem.message.split(":")[0] for problem in found.problems] == ["syntax error"]


def test_a_session_is_read_without_its_prompts() -> None:
    lines = (IMPORTS + FUNCTION.replace("SIZE", "4")).splitlines()
    prompts = [">>> " if not line.startswith((" ", "def")) else "... " for line in lines]
    session = "\n".join(prompt + line for prompt, line in zip(prompts, lines, strict=True))
    found = read_units(page(("pycon", session + "\n<tvm.relax.Function>\n")), "a.md", "markdown")
    assert found.problems == ()
    (unit,) = found.units
    assert unit.text.location(unit.node).column == 5


NOTEBOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "markdown", "source": ["# title"]},
            {"cell_type": "code", "source": [IMPORTS]},
            {
                "cell_type": "code",
                "source": [
                    "# small\n",
                    "@RR.function(pure=False)\n",
                    'def f(x: RR.Tensor((4,), "float32")):\n',
                    '    s = RR.memory.alloc_storage(RR.shape([8]), 0, "global", "float32")\n',
                    '    a = RR.memory.alloc_tensor(s, 0, RR.shape([4]), "float32")\n',
                    "    return x\n",
                ],
            },
        ],
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
    },
    indent=1,
)


def test_a_position_in_a_notebook_is_one_in_a_cell() -> None:
    (unit,) = read_units(NOTEBOOK.encode(), "a.ipynb", "notebook").units
    (check,) = [c for c in check_parsed(read_unit(unit), "a.ipynb", Config()).checks if c.rule == "RLX101"]
    location = check.location
    assert location is not None
    assert (location.cell, location.cell_line) == (3, 5)
    assert location.in_words == ", cell 3, line 5"
    # The place in the file is there for programs.
    assert NOTEBOOK.splitlines()[location.line - 1].lstrip().startswith('"    a = RR.memory')
    assert details(check)


def test_other_files_have_no_cells() -> None:
    (unit,) = read_units((IMPORTS + FUNCTION).encode(), "a.py").units
    location = unit.text.location(unit.node)
    assert (location.cell, location.in_words) == (None, ":3:1")
