"""What a fence or a cell is marked with does not hide a module in it."""

from __future__ import annotations

import json

import pytest

from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import FileUnits

IMPORTS = "from tvm.script import ir as I, relax as R, tirx as T\n"
FUNCTION = '@R.function\ndef f(x: R.Tensor((4,), "float32")):\n    y = R.add(x, x)\n    return y\n'
WHOLE = IMPORTS + FUNCTION
BROKEN = FUNCTION.replace("(x, x)", "(x, x")


def page(text: str) -> FileUnits:
    return read_units(text.encode(), "a.md", "markdown")


def notebook(*cells: str) -> FileUnits:
    code = [{"cell_type": "code", "source": cell, "outputs": []} for cell in cells]
    return read_units(json.dumps({"cells": code, "nbformat": 4}).encode(), "a.ipynb", "notebook")


def names(found: FileUnits) -> list[str]:
    assert found.problems == ()
    return [unit.name for unit in found.units]


def indented(text: str, by: str) -> str:
    return "".join(f"{by}{line}\n" for line in text.splitlines())


MARKS = (
    *("python", "Python3", " py", "py3", "ipython3", "python3.11", "python:model.py", "python {.numbered}"),
    *("{python}", "{.python .numbered}", "{ .python }", "{code-cell}", "{code-cell} ipython3"),
    *("{code-block} python", "{code} python", "{sourcecode} Python", "{testcode}", "{jupyter-execute}"),
    *("tvm", "relax", "jupyter", "python-repl", "{code-block}"),
)


@pytest.mark.parametrize("mark", MARKS)
def test_a_module_is_found_whatever_the_fence_is_marked_with(mark: str) -> None:
    assert names(page(f"```{mark}\n{WHOLE}```\n")) == ["f"]


@pytest.mark.parametrize("mark", ["{code-cell} ipython3", "{testcode}", "{code-block} python", "py3"])
def test_a_mark_that_says_python_makes_an_error_one(mark: str) -> None:
    assert page(f"```{mark}\n{BROKEN}```\n").problems
    assert page(f"```text\n{BROKEN}```\n") == FileUnits()


@pytest.mark.parametrize(
    "options", [":tags: [hide-input]\n:linenos:\n", "---\ntags: [hide-input]\nmystnb:\n  figure: 1\n---\n"]
)
def test_the_options_of_a_directive_are_not_its_text(options: str) -> None:
    found = page(f"# A\n\n```{{code-cell}} ipython3\n{options}{WHOLE}```\n")
    assert names(found) == ["f"]
    place = found.units[0].text.location(found.units[0].node)
    assert place.line == 3 + options.count("\n") + 3


@pytest.mark.parametrize(("marker", "margin"), [("- ", "  "), ("* ", "  "), ("1. ", "   "), ("> - ", ">   ")])
def test_a_fence_may_begin_an_item_of_a_list(marker: str, margin: str) -> None:
    found = page(f"{marker}```python\n{indented(WHOLE, margin)}{margin}```\n\n```bash\nls\n```\n")
    assert names(found) == ["f"]
    assert found.units[0].text.location(found.units[0].node).column == len(margin) + 1


def test_inline_code_at_the_beginning_of_a_line_is_no_fence() -> None:
    assert names(page(f"```x``` is a tensor, and\n``` `y` ``` another.\n\n```python\n{WHOLE}```\n")) == ["f"]


def test_a_session_may_be_indented() -> None:
    prompts = [">>> " if line.startswith(("from", "@")) else "... " for line in WHOLE.splitlines()]
    session = "".join(f"  {p}{line}\n" for p, line in zip(prompts, WHOLE.splitlines(), strict=True))
    found = page(f"```pycon\n{session}  <f>\n```\n")
    assert names(found) == ["f"]
    assert found.units[0].text.location(found.units[0].node).column == 7


def test_the_words_of_a_traceback_do_not_hide_what_is_python() -> None:
    assert names(page(f"```python\n# Traceback (most recent call last)\n{WHOLE}```\n")) == ["f"]
    assert page(f"```python\n{FUNCTION}Traceback (most recent call last):\n  tvm\n```\n") == FileUnits()


def test_a_long_line_of_marks_is_read_in_linear_time() -> None:
    for line in (" " * 500_000, "- " + " " * 500_000, "`" * 500_000 + " x `", "> " * 250_000, "{" * 500_000):
        page(f"{line}\n```{line}\n```\n\n```python\n{WHOLE}```\n")


MAGICS = (
    "time",
    "timeit -n 1",
    "capture out",
    "prun",
    "memit",
    "python3",
    "writefile model.py",
    "ipytest -v",
)


@pytest.mark.parametrize("magic", MAGICS)
def test_a_module_is_found_whatever_the_cell_is_given_to(magic: str) -> None:
    assert names(notebook(f"%%{magic}\n{WHOLE}")) == ["f"]
    assert names(notebook(f"\n%%{magic}\n%%time\n{WHOLE}")) == ["f"]


def test_a_cell_magic_that_runs_python_makes_an_error_one() -> None:
    assert notebook(f"%%time\n{BROKEN}", WHOLE).problems
    assert names(notebook(f"%%bash\nls -la /\ncat > a.py <<EOF\n{WHOLE}EOF\n", WHOLE)) == ["f"]


def test_names_of_a_cell_that_is_timed_are_known() -> None:
    found = notebook(f"%%time\n{IMPORTS}N = 4\n", FUNCTION.replace("4", "N"))
    assert names(found) == ["f"]
    assert "N" in found.units[0].environment


@pytest.mark.parametrize(
    "line",
    ["R.function?", "R.function??", "?R.function", "files = !ls", "who = %who", "%time 1", "!ls > a=b"],
)
def test_what_only_notebooks_understand_costs_nothing_else(line: str) -> None:
    assert names(notebook(f"{line}\n{WHOLE}")) == ["f"]


def test_a_line_within_a_statement_may_look_like_a_magic() -> None:
    assert names(notebook(f"N = (5\n% 3)\nS = '''\n%%time\n!ls\nx = !\n'''\n{WHOLE}")) == ["f"]
