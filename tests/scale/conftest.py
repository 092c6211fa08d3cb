"""Folders of programs, and of what a stand-in for the analysis takes at its word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from relax_lint.running import working
from relax_lint.running.kept_pools import close_kept_pools

PROGRAM = """\
from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("m",), "float32")):
        m = T.int64()
        storage = R.memory.alloc_storage(R.shape([BYTES]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        alloc = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([m]), R.dtype("float32"))
        return alloc
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for number in (1, 2):
        Path(f"{number}.py").write_text(PROGRAM.replace("BYTES", str(16 * number)))
    Path("3.py").write_text("import os\n")
    return tmp_path


@pytest.fixture
def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Files of units that a stand-in for the analysis takes at their word."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "cli"))
    monkeypatch.setattr(working, "FUNCTION", "runner_tasks:analyse")
    # A worker that is kept imports from where its parent did when it began.
    close_kept_pools()

    def write(name: str, units: str) -> None:
        Path(name).write_text(f"# tvm ir_module {units}")

    return write
