"""What the README shows is what the tool does."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests import forking

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TOOL = [sys.executable, "-c", "from relax_lint.cli import main; raise SystemExit(main())"]


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_the_example_of_output_is_real() -> None:
    (shown,) = [block for block in _blocks("console") if "storage_overflow.py" in block]
    command, expected = shown.split("\n", 1)
    arguments = command.removeprefix("$ relax-lint ").split()
    run = forking.run(
        [*TOOL, *arguments, "--color", "never"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert run.stdout == expected


@pytest.mark.parametrize("block", _blocks("python"))
def test_the_python_examples_run(block: str) -> None:
    run = forking.run([sys.executable, "-c", block], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


PAGES = sorted(page for pattern in ("*.md", "docs/**/*.md", "rules/**/*.md") for page in ROOT.glob(pattern))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_to_a_file(page: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", prose):
        if "://" not in target:
            assert (page.parent / target).exists(), target
