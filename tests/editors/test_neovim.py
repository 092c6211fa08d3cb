"""The configuration that docs/neovim.md shows, in a Neovim without a screen. Skipped where Neovim 0.11 is missing."""

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

from tests.api.programs import OVERFLOW

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "neovim.md").read_text(encoding="utf-8")


def _neovim() -> str:
    path = os.environ.get("NVIM_TO_TEST") or shutil.which("nvim")
    if path is None:
        pytest.skip("Neovim is not installed")
    shown = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    version = re.match(r"NVIM v(\d+)\.(\d+)", shown)
    if version is None or (int(version[1]), int(version[2])) < (0, 11):
        pytest.skip(f"Neovim 0.11 is needed, this is {shown.splitlines()[0]}")
    return path


def test_a_file_is_judged_in_neovim(tmp_path: Path) -> None:
    nvim = _neovim()
    (block,) = re.findall(r"^```lua\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    start = f'{{ "{sys.executable}", "-m", "relax_lint.cli", "server" }}'
    assert '{ "relax-lint", "server" }' in block
    settings = tmp_path / "init.lua"
    settings.write_text(block.replace('{ "relax-lint", "server" }', start), encoding="utf-8")
    (tmp_path / "pyproject.toml").touch()
    model = tmp_path / "model.py"
    model.write_text(OVERFLOW, encoding="utf-8")
    result = tmp_path / "result.json"
    environment = {
        **os.environ,
        "RESULT": str(result),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        **{f"XDG_{name}_HOME": str(tmp_path / name) for name in ("CONFIG", "DATA", "STATE", "CACHE")},
    }
    script = Path(__file__).with_name("check.lua")
    command = [nvim, "--headless", "-u", str(settings), str(model), "-c", f"luafile {script}"]
    subprocess.run(command, env=environment, cwd=tmp_path, timeout=120, check=True, stdin=subprocess.DEVNULL)
    found = json.loads(result.read_text(encoding="utf-8"))
    assert found["name"] == "relax_lint"
    assert found["codes"] == ["RLX101"]
    assert found["hover"].startswith("**RLX101** storage-overflow (warning): ")
    assert {"RLX101: ignore this line", "RLX101: ignore in this file"} <= set(found["titles"])


def test_the_file_for_the_lsp_folder_says_the_same() -> None:
    text = (ROOT / "editors" / "neovim" / "relax_lint.lua").read_text(encoding="utf-8")
    for line in ('cmd = { "relax-lint", "server" }', 'filetypes = { "python", "markdown" }'):
        assert line in text
        assert line in PAGE
