"""The extension for Visual Studio Code offers the settings that the server reads, and talks to it as it is."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls")

from relax_lint import __version__
from relax_lint.server.hints import REPORT
from relax_lint.server.settings import SECTION, EditorSettings, read_settings

EXTENSION = Path(__file__).resolve().parents[2] / "editors" / "vscode"
MANIFEST = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
SETTINGS_SOURCE = (EXTENSION / "src" / "settings.ts").read_text(encoding="utf-8")


def test_every_setting_of_the_extension_is_one_of_the_server() -> None:
    declared = MANIFEST["contributes"]["configuration"]["properties"]
    defaults = {name.removeprefix(f"{SECTION}."): one["default"] for name, one in declared.items()}
    assert defaults.pop("command") == ["relax-lint", "server"]
    assert read_settings(defaults) == EditorSettings()
    for name, value in defaults.items():
        assert read_settings({name: not value}) != EditorSettings()


def test_it_names_the_command_and_the_section_of_the_server() -> None:
    assert re.findall(r'(?:REPORT|SECTION) = "(.*)"', SETTINGS_SOURCE) == [SECTION, REPORT]
    assert MANIFEST["version"] == __version__


def test_the_server_understands_the_extension(tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    if not (EXTENSION / "node_modules").is_dir():
        pytest.skip("the packages of the extension are not installed: `make vscode` does that")
    launcher = tmp_path / "relax-lint"
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m relax_lint.cli "$@"\n', encoding="utf-8")
    launcher.chmod(0o755)
    path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "RELAX_LINT": str(launcher), "PYTHONPATH": path}
    done = subprocess.run(
        ["npm", "test"], cwd=EXTENSION, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
