"""`--watch`: what counts as a change, and that the real command runs again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from relax_lint.commands.watch import Watched
from tests.cli.conftest import ORDINARY


def test_what_matters(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    watched = Watched([str(folder), str(tmp_path / "named.txt")], str(folder / "report.json"))
    assert watched.folders == sorted([str(tmp_path), str(folder)])
    assert watched.recursive
    assert watched.matters(str(folder / "deep" / "a.py"))
    assert watched.matters(str(tmp_path / "named.txt"))
    assert not watched.matters(str(folder / "a.txt"))
    assert not watched.matters(str(folder / "report.json"))
    assert not watched.matters(str(tmp_path / "other.py"))
    assert not Watched([str(tmp_path / "named.txt")], None).recursive


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_a_change_is_another_run(tmp_path: Path) -> None:
    pytest.importorskip("watchfiles")
    path = tmp_path / "a.py"
    path.write_text(ORDINARY, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "relax_lint.cli", "--watch", "a.py"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Started by a script in the background, the tests themselves ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        for _ in range(2):
            assert process.stdout.readline() == "no Relax function in 1 input\n"
            assert process.stderr.readline() == "relax-lint: watching for changes (Ctrl-C ends)\n"
            # As editors save: a new file takes its place.
            (tmp_path / "new").write_text(ORDINARY, encoding="utf-8")
            os.replace(tmp_path / "new", path)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert errors.endswith("relax-lint: interrupted\n")
