"""The import contracts of pyproject.toml hold, and break where somebody breaks them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of everything that the contracts are about."""
    copy = tmp_path_factory.mktemp("tree")
    shutil.copy(REPOSITORY / "pyproject.toml", copy)
    for folder in ("relax_lint", "rules/relax_lint_rules"):
        shutil.copytree(REPOSITORY / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def _lint(tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as main; main()"],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tree), str(tree / "rules"))), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_contracts_hold(tree: Path) -> None:
    found = _lint(tree)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "4 kept, 0 broken" in found.stdout


@pytest.mark.parametrize(
    ("file", "text", "broken"),
    [
        pytest.param(
            "vm/allocators.py",
            "from relax_lint.model import sizes\n",
            "relax_lint.vm.allocators -> relax_lint.model.sizes",
            id="a package below",
        ),
        pytest.param(
            "totals/comparison.py",
            "def late():\n    from relax_lint.output import json\n",
            "relax_lint.totals.comparison -> relax_lint.output.json",
            id="inside a function",
        ),
        pytest.param(
            "model/arguments.py",
            "from relax_lint.model import builder\n",
            "relax_lint.model.arguments -> relax_lint.model.builder",
            id="inside model",
        ),
        pytest.param(
            "output/json.py",
            "from relax_lint.replay import notation\n",
            "relax_lint.output.json -> relax_lint.replay.notation",
            id="beside each other",
        ),
        pytest.param(
            "results/verdict.py",
            "import sympy\n",
            "relax_lint.results.verdict -> sympy",
            id="plain data",
        ),
        pytest.param(
            "judging/module.py",
            "import relax_lint_rules\n",
            "relax_lint.judging.module -> relax_lint_rules",
            id="a rule by its name",
        ),
        pytest.param("newcomer.py", '"""New."""\n', "newcomer", id="a part without a place"),
    ],
)
def test_a_planted_violation_breaks_a_contract(tree: Path, file: str, text: str, broken: str) -> None:
    path = tree / "relax_lint" / file
    before = path.read_text(encoding="utf-8") if path.exists() else None
    path.write_text(f"{before or ''}\n{text}", encoding="utf-8")
    try:
        found = _lint(tree)
    finally:
        path.unlink() if before is None else path.write_text(before, encoding="utf-8")
    assert found.returncode != 0
    assert broken in found.stdout
