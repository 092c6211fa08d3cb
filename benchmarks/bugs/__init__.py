"""Minimal programs of known memory bugs in Relax, one for each pattern. Written for this project."""

from __future__ import annotations

from pathlib import Path

from benchmarks.bugs.bug import Bug as Bug
from benchmarks.bugs.bug import Rows, bugs_of

HAND_WRITTEN: tuple[Bug, ...] = bugs_of("bounds") + bugs_of("lifetimes") + bugs_of("kernels")
COMPILED: tuple[Bug, ...] = bugs_of("compilers")
"""Right as they are written; what TVM's own passes make of them may not be."""
NOT_JUDGED: tuple[Rows, ...] = tuple(
    Rows(*line.split(" | "))
    for line in Path(__file__).with_name("others.txt").read_text(encoding="utf-8").splitlines()
)
"""References that no program here stands for, with the reason."""
