"""The Python blocks of a guide run, one after the other, and print what the guide shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDES = ("compile-script.md", "python-api.md", "speed.md")


@pytest.mark.parametrize("name", GUIDES)
def test_the_blocks_of_a_guide_run(name: str, tmp_path: Path) -> None:
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    script = tmp_path / "guide.py"
    # TVM reads the source of what it parses, so that the text must be a file.
    script.write_text("\n\n".join(re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)))
    run = subprocess.run([sys.executable, script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    for shown in re.findall(r"^```text\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        assert shown in run.stdout
