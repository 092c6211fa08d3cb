"""The command in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests import forking
from tests.command import said

Run = Callable[..., "subprocess.CompletedProcess[str]"]

OVERFLOW = """\
from tvm.script import ir as I, relax as R, tir as T


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("m",), "float32")):
        m = T.int64()
        storage = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        alloc = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([m]), R.dtype("float32"))
        Module.double(x, alloc)
        return alloc

    @T.prim_func(private=True)
    def double(a: T.handle, b: T.handle):
        n = T.int64()
        x = T.match_buffer(a, (n,), "float32")
        y = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            y[i] = x[i] * T.float32(2)
"""
FINE = OVERFLOW.replace("R.shape([16])", "R.shape([4 * m])")
COLOURS = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_HYPERLINK")
ORDINARY = "import os\n\nprint(os.name)\n"


def _environment(changed: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in COLOURS} | changed


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs the command in an empty folder and in this process; the arguments are those of the command."""

    def call(*arguments: str, input: str = "", **options: Any) -> subprocess.CompletedProcess[str]:
        return said(tmp_path, *arguments, environment=_environment(options.pop("env", {})), input=input)

    return call


@pytest.fixture
def start(tmp_path: Path) -> Run:
    """As `run`, in a process of its own: its streams are pipes, its exit code is what a shell sees."""
    return partial(_in_a_process, tmp_path, forking.run)


@pytest.fixture
def launch(tmp_path: Path) -> Run:
    """As `start`, with an interpreter of its own and workers that load TVM themselves, as a user has it."""
    return partial(_in_a_process, tmp_path, subprocess.run)


def _in_a_process(
    folder: Path, start: Run, *arguments: str, **options: Any
) -> subprocess.CompletedProcess[str]:
    return start(
        [sys.executable, "-m", "relax_lint.cli", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env=_environment(options.pop("env", {})),
        timeout=60,
        check=False,
        **options,
    )


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], str]:
    """Writes a file into the folder of the command and returns its name."""

    def put(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    return put
