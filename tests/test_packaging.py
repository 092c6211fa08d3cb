"""What is installed is what is in the tree."""

from __future__ import annotations

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]


TREES = {"relax_lint": ROOT / "relax_lint", "relax_lint_rules": ROOT / "rules" / "relax_lint_rules"}


def test_every_folder_of_modules_is_a_package() -> None:
    for name, root in TREES.items():
        folders = {path.parent for path in root.rglob("*.py")}
        assert [folder for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []
        assert f"{name}*" in SETUPTOOLS["packages"]["find"]["include"]
        assert any(root.parent == ROOT / where for where in SETUPTOOLS["packages"]["find"]["where"])


def test_every_data_file_is_installed() -> None:
    patterns = SETUPTOOLS["package-data"]
    for package, root in TREES.items():
        installed = {path for pattern in patterns[package] for path in root.glob(pattern)}
        data = {
            path
            for path in root.rglob("*")
            if path.is_file() and path.suffix not in (".py", ".pyc") and "__pycache__" not in path.parts
        }
        assert data == installed
