"""Every file and folder that the pages for contributors name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("CONTRIBUTING.md", "docs/architecture.md", "docs/rule-packages.md", "docs/decisions/README.md")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_PATH = re.compile(r"(?:(?:[\w.*-]+/)+(?:[\w*-]+\.[a-z]+)?|(?:[\w.*-]+/)*[\w*-]+\.(?:py|md|json|toml|txt))")
_OF_TVM = ("src/",)
_NOT_KEPT = ("build/",)
"""What the targets of make write."""


def _named(page: str) -> set[str]:
    """The paths in back-ticks; capitals stand for what a reader fills in."""
    text = _FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    words = re.findall(r"`([^`\n]+)`", text)
    paths = {word for each in words for word in each.split() if _PATH.fullmatch(word)}
    return {path for path in paths if not path.startswith((*_OF_TVM, *_NOT_KEPT)) and "NAME" not in path}


def _exists(path: str) -> bool:
    if "/" in path.rstrip("/"):
        return any(True for root in (ROOT, ROOT / "relax_lint") for _ in root.glob(path.rstrip("/")))
    folders = ("relax_lint", "rules", "tests", "docs", "tools")
    return (ROOT / path).exists() or any(
        True for each in folders for _ in (ROOT / each).rglob(path.rstrip("/"))
    )


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_is_named_exists(page: str) -> None:
    assert [path for path in sorted(_named(page)) if not _exists(path)] == []


def test_paths_are_found_and_missed() -> None:
    assert {"relax_lint/vm/nodes.py", "tests/vm", "pyproject.toml"} - _named("CONTRIBUTING.md") == {
        "tests/vm"
    }
    assert {"vm/nodes.py", "kernel_body/", "facts/"} <= _named("docs/architecture.md")
    assert _exists("vm/nodes.py")
    assert _exists("kernel_body/")
    assert not _exists("vm/nods.py")
    assert not _exists("nods.py")
