"""Completion scripts, run in a real shell."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from relax_lint import cli

BASH = shutil.which("bash")


def completed(script: str, line: str, folder: Path) -> list[str]:
    """What bash offers for the last word of a line."""
    words = line.split(" ")
    program = f"""
        source "$SCRIPT"
        COMP_WORDS=({" ".join(f"'{word}'" for word in words)}) COMP_CWORD={len(words) - 1}
        _relax_lint
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    path = folder / "completion.bash"
    path.write_text(script)
    assert BASH is not None
    done = subprocess.run(
        [BASH, "--norc", "-c", program],
        cwd=folder,
        env={**os.environ, "SCRIPT": str(path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.skipif(BASH is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("relax-lint mem", ["memory"]),
        ("relax-lint check --allo", ["--allocator"]),
        ("relax-lint --sandb", ["--sandbox"]),
        ("relax-lint memory --bi", ["--bind"]),
        # `--bind` is not an option of `check`.
        ("relax-lint check --bi", []),
        ("relax-lint check --fail-on ", ["error", "warning", "note"]),
        ("relax-lint memory --output-format ht", ["html"]),
        ("relax-lint completion ", ["bash", "zsh"]),
        ("relax-lint check mod", ["model.py"]),
    ],
)
def test_bash_completes(
    line: str, offered: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model.py").touch()
    assert cli.main(["completion", "bash"]) == 0
    assert completed(capsys.readouterr().out, line, tmp_path) == offered


def test_zsh_reads_the_same_script(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["completion", "bash"])
    bash = capsys.readouterr().out
    cli.main(["completion", "zsh"])
    zsh = capsys.readouterr().out
    assert zsh.endswith(bash)
    assert "bashcompinit" in zsh


def test_another_shell_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", "bsh"]) == 2
    assert capsys.readouterr().err == "relax-lint: error: no completion for `bsh`; did you mean `bash`?\n"
