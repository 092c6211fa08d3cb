"""Which releases of TVM the tests of this version run with. Importing this does not import TVM."""

from __future__ import annotations

TESTED = ("0.26", "0.27")
"""The releases, as the beginning of a version."""


def is_tested(version: str) -> bool:
    """Whether a version of TVM is one of these releases, and no build of its development."""
    return any(version == one or version.startswith(f"{one}.") for one in TESTED) and "dev" not in version
