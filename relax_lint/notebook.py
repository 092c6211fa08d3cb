"""Notebooks: after `%load_ext relax_lint` a cell that begins with `%%relax_lint` is judged and not run."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from relax_lint.api import check
from relax_lint.results.report import Report

_IMPORTS = "from tvm.script import ir as I, relax as R, tirx as T\n"
"""What other cells import. It takes the line of `%%relax_lint`, so that lines count as in the cell."""


def load_ipython_extension(shell: Any) -> None:
    """Make `%%relax_lint` known to IPython."""
    shell.register_magic_function(judged_cell, magic_kind="cell", magic_name="relax_lint")


def judged_cell(line: str, cell: str) -> Report:
    """The report on a cell; IPython shows it. The arguments are codes of rules to select, such as
    `%%relax_lint RLX1 RLX203`.
    """
    codes = line.replace(",", " ").split()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cell.py"
        path.write_text(_IMPORTS + cell, encoding="utf-8", errors="backslashreplace")
        return check(path, {"select": codes} if codes else None)
