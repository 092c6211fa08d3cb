"""Markdown, notebooks and literals: the same positions as if one looked with one's own eyes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import ParsedUnit

FUNCTION = """from tvm.script import relax as R

@R.function
def f(x: R.Tensor((4,), "float32")):
    y = R.exp(x)
    return y
"""


def first_binding(text: str, kind: str) -> tuple[str, Any]:
    """What stands in the file at the place of the only binding, and the place."""
    found = read_units(text.encode(), "a", kind)
    assert found.problems == ()
    (unit,) = found.units
    parsed = parse_unit(unit)
    assert isinstance(parsed, ParsedUnit), parsed
    (function,) = (f for f in parsed.ir_module.functions.values() if hasattr(f, "body"))
    binding = function.body.blocks[0].bindings[0]
    location = parsed.positions.binding(binding.var, binding.value)
    assert location is not None
    line = text.split("\n")[location.line - 1]
    return line[location.column - 1 : location.end_column - 1], location


@pytest.mark.parametrize(
    "opening", ["```python", "```py", "~~~~ python", "```", "```{.python}", "````python"]
)
def test_markdown_fences(opening: str) -> None:
    fence = opening.split("p")[0].split("{")[0].strip()
    text = f"# Title\n\nSome text.\n\n{opening}\n{FUNCTION}{fence}\n\nMore R.function of tvm.\n"
    found, location = first_binding(text, "markdown")
    assert found == "R.exp(x)"
    assert location.line == 10


def test_indented_and_unclosed_fences() -> None:
    text = "- item\n\n  ```python\n" + "".join(f"  {line}\n" for line in FUNCTION.splitlines())
    found, location = first_binding(text, "markdown")
    assert (found, location.column) == ("R.exp(x)", 11)


def test_blocks_in_other_languages_are_left_alone() -> None:
    text = f"```text\n{FUNCTION}```\n```cpp\n{FUNCTION}```\n"
    assert read_units(text.encode(), "a.md", "markdown").units == ()


def test_a_broken_block_does_not_hide_the_others() -> None:
    text = f"```python\n@R.function\ndef (\n```\n\n```python\n{FUNCTION}```\n"
    found = read_units(text.encode(), "a.md", "markdown")
    assert [unit.name for unit in found.units] == ["f"]
    (problem,) = found.problems
    assert problem.location is not None
    assert problem.location.line == 3


def test_an_error_in_an_empty_line_of_a_quoted_block_has_its_place() -> None:
    text = "> ```python\n> # tvm ir_module\n> @R.function\n\n\n> ```\n"
    (problem,) = read_units(text.encode(), "a.md", "markdown").problems
    assert problem.location is not None
    assert (problem.location.line, problem.location.column) == (4, 1)


def notebook(*cells: list[str] | str, indent: int | None = 1) -> str:
    return json.dumps(
        {
            "cells": [{"cell_type": "markdown", "source": ["code"]}]
            + [{"cell_type": "code", "source": cell, "outputs": []} for cell in cells],
            "nbformat": 4,
        },
        indent=indent,
    )


def test_notebook_cells() -> None:
    text = notebook(["%matplotlib inline\n", "!pip list\n"], FUNCTION.splitlines(keepends=True))
    found, location = first_binding(text, "notebook")
    assert found == "R.exp(x)"
    assert text.split("\n")[location.line - 1].strip().startswith('"    y = R.exp(x)')


@pytest.mark.parametrize("indent", [None, 1])
def test_notebook_cells_of_one_string_with_escapes(indent: int | None) -> None:
    source = FUNCTION.replace("y = R.exp(x)", 's = R.str("\\u00e9\\U0001f600"); y = R.exp(x)')
    text = notebook(source.replace("\\u00e9\\U0001f600", "é😀"), indent=indent)
    found, _ = first_binding(text, "notebook")
    assert found.startswith("R.str(")
    assert json.loads(f'"{found}"') == 'R.str("é😀")'


def test_later_cells_see_earlier_ones() -> None:
    text = notebook("N = 4\n", FUNCTION.replace("(4,)", "(N,)"))
    assert first_binding(text, "notebook")[0] == "R.exp(x)"


def test_a_cell_that_does_not_parse_does_not_hide_the_others() -> None:
    text = notebook("def (\n", "%%bash\nls\n", FUNCTION, "@R.function\ndef (\n")
    found = read_units(text.encode(), "a.ipynb", "notebook")
    assert [unit.name for unit in found.units] == ["f"]
    assert [problem.kind for problem in found.problems] == ["parse-error"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"cells": [{"source": "import tvm; @R.function"', "not complete JSON"),
        ('["import tvm", "@R.function"]', "not a notebook: no list of cells"),
        ("[" * 50_000 + "@R.function", ""),
    ],
)
def test_what_is_not_a_notebook(text: str, message: str) -> None:
    (problem,) = read_units(text.encode(), "a.ipynb", "notebook").problems
    assert problem.message.startswith(message)


@pytest.mark.parametrize(
    "call",
    [
        'tvm.script.from_source("""{}""")',
        'from_source(r"""{}""")',
        'tvm.script.parse(textwrap.dedent("""{}"""))',
    ],
)
def test_literals_given_to_the_parser(call: str) -> None:
    indented = "".join(f"    {line}\n" if line else "\n" for line in FUNCTION.splitlines())
    text = "import tvm\nmodule = " + call.format("\n" + indented) + "\n"
    found, location = first_binding(text, "python")
    assert (found, location.line) == ("R.exp(x)", 7)


@pytest.mark.parametrize(
    ("before", "call", "count"),
    [
        ("TEXT = {}\n", "tvm.script.from_source(TEXT)", 1),
        ("TEXT: str = {}\n", "tvm.script.from_source(program=textwrap.dedent(TEXT))", 1),
        ("TEXT = textwrap.dedent({})\n", "tvm.script.from_source(TEXT, check_well_formed=False)", 1),
        ("if x:\n    TEXT = {}\nelse:\n    TEXT = {}\n", "tvm.script.parse(TEXT)", 2),
        ("from tvm.script import from_source as read\n", "read({})", 1),
        ("from tvm.script.parser import parse\n", "parse({})", 1),
        ("from tvm import script\n", "script.parse({})", 1),
        ("import tvm.script.parser as p\nTEXT = {}\n", "p.parse(TEXT), p.parse(TEXT)", 1),
        ("TEXT = {}\nOTHER = TEXT\n", "tvm.script.from_source(OTHER)", 1),
        # Another function, and another name.
        ("TEXT = {}\n", "ast.parse(TEXT)", 0),
        ("from email.parser import parse\nTEXT = {}\n", "parse(TEXT)", 0),
        ("TEXT = {}\nOTHER = '...'\n", "tvm.script.from_source(OTHER)", 0),
    ],
)
def test_literals_that_are_given_by_name(before: str, call: str, count: int) -> None:
    literal = f'"""\n{FUNCTION}"""'
    text = "import tvm\n" + before.replace("{}", literal) + "module = " + call.replace("{}", literal) + "\n"
    assert len(read_units(text.encode(), "a.py").units) == count


def test_a_literal_with_escapes_is_found_where_it_begins() -> None:
    escaped = FUNCTION.replace("\n", "\\n").replace('"', '\\"')
    text = f'import tvm\nmodule = tvm.script.from_source("{escaped}")\n'
    _, location = first_binding(text, "python")
    assert (location.line, location.column) == (2, 33)


def test_carriage_returns_within_the_lines_of_a_cell() -> None:
    source = (
        "from tvm.script import relax as R\r\n@R.function\r\ndef main(x: R.Object):\r\n    return x  # a\rb\r"
    )
    book = json.dumps(
        {"cells": [{"cell_type": "code", "source": source}, {"cell_type": "code", "source": "y = 1"}]}
    )
    (unit,) = read_units(book.encode(), "a.ipynb", "notebook").units
    assert unit.name == "main"
