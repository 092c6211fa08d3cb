"""Texts with modules that a file gives to `exec`, and bytes that it decodes: they are read, and nothing is run."""

from __future__ import annotations

from pathlib import Path

import pytest

import relax_lint
from tests.sources.test_page_blocks import MODULE


def _rules(text: str, folder: Path) -> list[str]:
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    report = relax_lint.check(str(path), {"select": ["RLX101", "RLX9"]})
    return [check.rule for check in report.checks if check.severity.value != "none"]


@pytest.mark.parametrize(
    "text",
    [
        f"exec('''{MODULE}''')\n",
        f"TEXT = '''{MODULE}'''\nexec(compile(TEXT, 'x', 'exec'))\n",
        f"import tvm\nmodule = tvm.script.from_source(b'''{MODULE}'''.decode())\n",
        f"import tvm\nTEXT = b'''{MODULE}'''.decode()\nmodule = tvm.script.from_source(TEXT)\n",
    ],
)
def test_a_module_in_it_is_read(text: str, tmp_path: Path) -> None:
    assert _rules(text, tmp_path) == ["RLX101"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        # What is made of it cannot be told.
        (f"import tvm\nmodule = tvm.script.from_source(b'''{MODULE}'''.decode(CODEC))\n", ["RLX902"]),
        # Nobody executes it.
        (f"TEXT = '''{MODULE}'''\nprint(TEXT)\n", []),
        ("import re, tvm\nPATTERN = re.compile('@I.ir_module')\nexec('tvm = 1')\n", []),
    ],
)
def test_what_is_said_of_other_texts(text: str, said: list[str], tmp_path: Path) -> None:
    assert _rules(text, tmp_path) == said


def test_nothing_of_it_is_executed(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    _rules(f"exec('''{MODULE}\nopen({str(mark)!r}, \"w\")''')\n", tmp_path)
    assert not mark.exists()
