"""Runs what measures under the interposer, which sees every call for memory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

AVAILABLE = sys.platform == "linux" and shutil.which("gcc") is not None
"""Whether the interposer can be built and loaded here."""


def measured(folder: Path, corpus: str, *modes: str) -> list[dict[str, Any]]:
    """One row for each prediction over a corpus, as the subprocess reports it; `folder` is for the interposer."""
    return run(folder, "tests.totals.metering", "--corpus", corpus, *modes)


def run(folder: Path, module: str, *arguments: str, text: str = "") -> list[dict[str, Any]]:
    """The lines of JSON that `python -m module` prints under the interposer, with `text` as standard input."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env={**os.environ, "LD_PRELOAD": str(library(folder)), "PYTHONPATH": path, "TVM_NUM_THREADS": "1"},
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def library(folder: Path) -> Path:
    """The interposer, built in a folder."""
    built = folder / "meter.so"
    if not built.exists():
        command = [
            "gcc",
            "-O1",
            "-shared",
            "-fPIC",
            "-o",
            str(built),
            str(HERE / "meter.c"),
            "-ldl",
            "-lpthread",
        ]
        subprocess.run(command, check=True)
    return built
