"""A want of memory is told as one, and a text that is nested too deeply as that."""

from __future__ import annotations

from pathlib import Path

import pytest

from relax_lint.running.runner import run
from relax_lint.settings.config import Config

HEAD = "# tvm ir_module\n"
MIB = 1 << 20


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def message(text: str, memory_limit: int) -> str:
    Path("a.py").write_text(HEAD + text)
    ((check,),) = [file.checks for file in run(["a.py"], Config(jobs=1, memory_limit=memory_limit)).files]
    return f"{check.rule} {check.message}"


def test_a_tree_that_does_not_fit() -> None:
    said = message(f"x = [{'a,' * 3_000_000}]", 700 * MIB)
    assert said == "RLX904 the analysis of this input needed more than 700 MiB of memory"


@pytest.mark.parametrize("text", ["x = " + "-" * 20_000 + "1", "x = " + "a if b else " * 20_000 + "c"])
def test_a_text_that_is_nested_too_deeply(text: str) -> None:
    assert message(text, 4 << 30) == "RLX901 nested too deeply to be read"
