"""Minimal programs of known memory bugs in Relax, one for each pattern. Written for this project."""

from __future__ import annotations

from benchmarks.bugs import bounds, compilers, kernels, lifetimes, others
from benchmarks.bugs.bug import Bug, Rows

HAND_WRITTEN: tuple[Bug, ...] = bounds.BUGS + lifetimes.BUGS + kernels.BUGS
COMPILED: tuple[Bug, ...] = compilers.BUGS
NOT_JUDGED: tuple[Rows, ...] = others.ROWS
