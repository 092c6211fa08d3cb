"""The same input gives the same words in every process, whatever the hashes of its strings are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path


def _judging(seed: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, sys.path)])
    return subprocess.Popen(
        [sys.executable, "-m", "tests.scale.judging_in_a_process"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
    )


def test_a_report_is_the_same_for_every_seed_of_hashes() -> None:
    processes = [_judging(seed) for seed in ("1", "2")]
    told = [process.communicate() for process in processes]
    assert {process.returncode for process in processes} == {0}, told[0][1]
    first, *others = (output for output, _ in told)
    assert re.search(r"`R\.from_later_7` \(line \d+\): treated as unknown", first)
    assert "RLX205" in first
    for other in others:
        lines = zip(first.splitlines(), other.splitlines(), strict=True)
        assert not [number for number, (one, two) in enumerate(lines) if one != two]
