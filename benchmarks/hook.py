"""What the pre-commit hook costs, in units of a hook that does nothing.

python -m benchmarks.hook [--runs 5]

Makes a git repository in a temporary folder and lets pre-commit run a hook that is `true`, and then the hook
`relax-lint-system`: on 500 ordinary Python files, on the program of apache/tvm#17322 with an empty cache and
again with what the first run left. It prints the median and the least time of the whole process, and the
ratios to the hook that does nothing on the same files.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.bugs import HAND_WRITTEN
from benchmarks.common import RATIO_HEAD, ROOT, options, process_seconds, ratio_row, table, write

HOOK = "relax-lint-system"
NAMES = {"nothing": "nothing", HOOK: "relax-lint (the project's own TVM)"}
ORDINARY = "import os\n\n\ndef name() -> str:\n    return os.name\n"
CONFIG = """\
repos:
  - repo: local
    hooks:
      - {{id: nothing, name: nothing, entry: "true", language: system, types: [python], require_serial: true}}
  - repo: {hooks}
    rev: {revision}
    hooks: [{{id: relax-lint-system}}]
"""


def _git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, stdout=-1, text=True, check=True)
    return done.stdout.strip()


def prepare(folder: Path) -> None:
    """A repository with 500 ordinary files and one with Relax, which uses the hook of this checkout."""
    hooks = folder.parent / "hooks"
    hooks.mkdir()
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks)
    for where in (hooks, folder):
        _git(where, "init", "--quiet")
    _git(hooks, "add", "--all")
    _git(hooks, "commit", "--quiet", "--message", "hooks")
    text = CONFIG.format(hooks=hooks, revision=_git(hooks, "rev-parse", "HEAD"))
    (folder / ".pre-commit-config.yaml").write_text(text, encoding="utf-8")
    write(folder, {f"ordinary_{number}": ORDINARY for number in range(500)})
    write(folder, {"overflow": HAND_WRITTEN[0].text})
    _git(folder, "add", "--all")


def seconds(folder: Path, hook: str, files: list[str], runs: int, *, cached: bool = False) -> list[float]:
    """Wall-clock times of whole runs of pre-commit."""
    cache = folder.parent / "cache"
    command = [sys.executable, "-m", "pre_commit", "run", hook, "--files", *files]
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PRE_COMMIT_HOME": str(folder.parent / "home"),
        "RELAX_LINT_CACHE_DIR": str(cache),
    }

    def forget() -> None:
        if not cached:
            shutil.rmtree(cache, ignore_errors=True)

    return process_seconds(command, folder, runs, forget, NAMES[hook], **environment)


def main() -> None:
    runs = options(__doc__, runs=5).runs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "user"
        folder.mkdir()
        prepare(folder)
        ordinary, relax = [f"ordinary_{number}.py" for number in range(500)], ["overflow.py"]
        # The first run of all clones the hook repository.
        seconds(folder, HOOK, ordinary[:1], 1)
        many, one = (seconds(folder, "nothing", files, runs) for files in (ordinary, relax))
        rows = [
            ratio_row("nothing, 500 ordinary files", many, many),
            ratio_row("500 ordinary files", seconds(folder, HOOK, ordinary, runs), many),
            ratio_row("nothing, 1 file", one, one),
            ratio_row("17322", seconds(folder, HOOK, relax, runs), one),
            ratio_row("17322 again", seconds(folder, HOOK, relax, runs, cached=True), one),
        ]
    print(table(RATIO_HEAD, rows))


if __name__ == "__main__":
    main()
