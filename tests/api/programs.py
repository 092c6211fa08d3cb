"""Modules for the tests of the Python API."""

from __future__ import annotations

from typing import Any

from benchmarks.bugs import COMPILED, HAND_WRITTEN
from relax_lint.replay.modules import load_module

_BUGS = {bug.name: bug for bug in COMPILED + HAND_WRITTEN}

OVERFLOW = _BUGS["fixed_storage"].text
"""A storage of 16 bytes under a tensor of symbolic length (apache/tvm#17322)."""
FINE = OVERFLOW.replace("R.shape([16])", "R.shape([4 * m])")


def module(name: str) -> Any:
    """The module of a known bug."""
    return parsed(_BUGS[name].text)


def parsed(text: str) -> Any:
    """The module in a TVMScript file."""
    return load_module(text, "script")
