"""Some faults in the engine, and the tests that notice them: `sample.jsonl` is a part of what `make mutants` wrote."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SAMPLE = Path(__file__).with_name("sample.jsonl")
ROOT = Path(__file__).parents[2]


def _repeated(sample: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tools.mutants", "--repeat", str(sample)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )


def test_each_fault_of_the_sample_is_noticed() -> None:
    found = _repeated(SAMPLE)
    assert found.returncode == 0, found.stdout + found.stderr
    assert " 0 survived" in found.stdout


def test_a_test_of_something_else_notices_nothing(tmp_path: Path) -> None:
    other = "tests/rules/test_placement.py::test_the_setting_says_how_many_devices_there_are"
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()
    changed = tmp_path / "sample.jsonl"
    changed.write_text(_with_test(lines[0], other), encoding="utf-8")
    found = _repeated(changed)
    assert found.returncode == 1
    assert found.stdout.startswith("it survives"), found.stdout + found.stderr


def _with_test(line: str, test: str) -> str:
    return json.dumps({**json.loads(line), "test": test}) + "\n"
