"""Where a page shows code: besides fences in colons, between tags and indented."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

import relax_lint
from relax_lint.sources.embedded import markdown_blocks

MODULE = """from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor:
        s = R.memory.alloc_storage(R.shape([4]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
        return t
"""
SHORT = "@I.ir_module\nclass Module:\n    pass\n"
LAYOUTS = {
    "indented": f"A page.\n\n{indent(MODULE, '    ')}\nMore.\n",
    "indented by a tab": "A page.\n\n" + "".join(f"\t{line}" for line in MODULE.splitlines(keepends=True)),
    "pre": f"A page.\n\n<pre>\n{MODULE.replace('>', '&gt;')}</pre>\n",
    "pre and code": f'A page.\n\n<PRE class="a"><code class="language-python">{MODULE}</code></PRE>\n',
    "colons": f"A page.\n\n:::{{code-block}} python\n{MODULE}:::\n",
    "colons of a division": f"A page.\n\n::: {{.python}}\n{MODULE}:::\n",
    "a fence in a note": f":::{{note}}\nText.\n\n```python\n{MODULE}```\n:::\n",
    "attributes": f'``` {{ .python #id .numberLines startFrom="1" }}\n{MODULE}```\n',
    "a fence without an end": f"A page.\n\n```python\n{MODULE}",
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_module_is_read_and_its_lines_are_those_of_the_page(layout: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(LAYOUTS[layout], encoding="utf-8")
    report = relax_lint.check(str(page), {"select": ["RLX101", "RLX9"]})
    (check,) = (check for check in report.checks if check.severity.value != "none")
    assert check.rule == "RLX101"
    assert check.location is not None
    lines = LAYOUTS[layout].splitlines()
    line = lines[check.location.line - 1]
    assert line[check.location.column - 1 :].startswith("R.memory.alloc_tensor")


@pytest.mark.parametrize(
    "page",
    [
        # Text of other kinds, and code that belongs to a list.
        f"A list:\n\n1. one\n\n    continued {SHORT.splitlines()[0]} in words\n",
        "    $ relax-lint page.md\n",
        "<pre>\nplain text\n</pre>\n",
        ":::{note}\n@I.ir_module\n:::\n",
        # Indented lines of a paragraph are no code.
        f"A paragraph\n{indent(SHORT, '    ')}",
    ],
)
def test_what_is_no_code_is_no_part(page: str) -> None:
    assert list(markdown_blocks("page.md", page)) == []


def test_blocks_end_where_they_end() -> None:
    code = indent(SHORT, "    ")
    fence = f"```\n{SHORT}``` ```\n````\n"
    page = f"{code}\n\nText.\n\n{fence}\n<pre>{SHORT}</pre>\n\n{code}```\na\n```\n"
    found = [part.text.content.strip() for part in markdown_blocks("page.md", page)]
    assert found == [SHORT.strip(), f"{SHORT}``` ```", SHORT.strip(), SHORT.strip(), "a"]


def test_an_escaped_character_has_the_place_of_its_name() -> None:
    (part,) = markdown_blocks("page.md", "<pre>\n@I.ir_module\nx = a &lt; b &amp;&amp; c\n</pre>\n")
    assert part.text.content.splitlines()[1] == "x = a < b && c"
    assert part.text.origins is not None
    assert part.text.origins[1].columns == (1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 14, 19, 24, 25, 26)
