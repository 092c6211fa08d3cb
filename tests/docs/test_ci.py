"""The configurations that docs/ci.md and the pages of its systems show, against the schemas of the systems that read them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("check_jsonschema")
pytest.importorskip("pre_commit")

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("ci", "pre-commit", "github", "gitlab")
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in NAMES}


def schema(name: str) -> list[str]:
    return ["check_jsonschema", "--builtin-schema", f"vendor.{name}"]


VALIDATORS = {
    "repos:": ["pre_commit", "validate-config"],
    "name: relax-lint\non:": schema("github-workflows"),
    "relax-lint:\n  image:": schema("gitlab-ci"),
}
FILES = {
    ".pre-commit-hooks.yaml": ["pre_commit", "validate-manifest"],
    ".pre-commit-config.yaml": ["pre_commit", "validate-config"],
    "action.yml": schema("github-actions"),
    ".github/workflows/test.yml": schema("github-workflows"),
    ".github/workflows/release.yml": schema("github-workflows"),
}


def validate(validator: list[str], *files: Path) -> None:
    command = [sys.executable, "-m", *validator, *map(str, files)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_shown_is_valid(tmp_path: Path) -> None:
    blocks = [
        block
        for page in PAGES.values()
        for block in re.findall(r"^```yaml\n(.*?)^```", page, re.DOTALL | re.M)
    ]
    by_start: dict[str, list[Path]] = {}
    for number, block in enumerate(blocks):
        (start,) = [start for start in VALIDATORS if block.startswith(start)]
        file = tmp_path / f"{number}.yml"
        file.write_text(block, encoding="utf-8")
        by_start.setdefault(start, []).append(file)
    assert by_start.keys() == VALIDATORS.keys()
    for start, files in by_start.items():
        validate(VALIDATORS[start], *files)


@pytest.mark.parametrize("name", NAMES)
def test_every_page_shows_a_configuration(name: str) -> None:
    assert "```yaml\n" in PAGES[name]


@pytest.mark.parametrize("name", FILES)
def test_what_the_project_offers_is_valid(name: str) -> None:
    validate(FILES[name], ROOT / name)
