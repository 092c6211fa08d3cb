"""What is installed is what is in the tree: setuptools cannot find packages that are renamed on the way."""

from __future__ import annotations

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]


def _packages(folder: str, name: str) -> set[str]:
    found = (path.parent.relative_to(ROOT / folder) for path in (ROOT / folder).rglob("__init__.py"))
    return {".".join((name, *path.parts)) for path in found}


def test_every_package_is_listed() -> None:
    expected = _packages("relax_lint", "relax_lint") | _packages("rules", "relax_lint_rules")
    assert set(SETUPTOOLS["packages"]) == expected


def test_every_data_file_is_installed() -> None:
    patterns = SETUPTOOLS["package-data"]
    for folder, package in (("relax_lint", "relax_lint"), ("rules", "relax_lint_rules")):
        root = ROOT / folder
        installed = {path for pattern in patterns[package] for path in root.glob(pattern)}
        data = {
            path
            for path in root.rglob("*")
            if path.is_file() and path.suffix not in (".py", ".pyc") and "__pycache__" not in path.parts
        }
        assert data == installed
