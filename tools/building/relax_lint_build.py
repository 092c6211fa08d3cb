"""How the package is built: by setuptools, but for editable installs.

Those of setuptools find modules with an import hook, which type checkers do not follow: to them the package
would have no types, although it ships `py.typed`. Here a `.pth` file names the folders, and that they read.
"""

from __future__ import annotations

import base64
import hashlib
import os
import zipfile
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_sdist,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

_ROOT = Path(__file__).resolve().parents[2]
_FOLDERS = (_ROOT, _ROOT / "rules")
_PATHS = "__editable__.relax_lint.pth"


def build_editable(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """The editable wheel of setuptools, with the paths in place of its import hook; the name of the file."""
    name: str = build_meta.build_editable(wheel_directory, config_settings, metadata_directory)
    path = os.path.join(wheel_directory, name)
    with zipfile.ZipFile(path) as wheel:
        files = {one: wheel.read(one) for one in wheel.namelist() if ".dist-info/" in one}
    record = next(one for one in files if one.endswith(".dist-info/RECORD"))
    del files[record]
    files[_PATHS] = "".join(f"{folder}\n" for folder in _FOLDERS).encode()
    lines = [f"{one},sha256={_digest(data)},{len(data)}\n" for one, data in files.items()]
    files[record] = "".join([*lines, f"{record},,\n"]).encode()
    with zipfile.ZipFile(path, "w") as wheel:
        for one, data in files.items():
            wheel.writestr(one, data)
    return name


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
