"""What the pre-commit hook costs, in units of a hook that does nothing.

    python benchmarks/hook.py [RUNS]

makes a git repository in a temporary folder and lets pre-commit run a hook that is `true`, and then the hook
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
import time
from pathlib import Path

from startup import ORDINARY, OVERFLOW, report

ROOT = Path(__file__).resolve().parents[1]
NAMES = {"nothing": "nothing", "relax-lint-system": "relax-lint (the project's own TVM)"}
CONFIG = """\
repos:
  - repo: local
    hooks:
      - {{id: nothing, name: nothing, entry: "true", language: system, types: [python], require_serial: true}}
  - repo: {hooks}
    rev: {revision}
    hooks: [{{id: relax-lint-system}}]
"""


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def prepare(folder: Path) -> None:
    """A repository with 500 ordinary files and one with Relax, which uses the hook of this checkout."""
    hooks = folder.parent / "hooks"
    hooks.mkdir()
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks)
    for where in (hooks, folder):
        git(where, "init", "--quiet")
    git(hooks, "add", "--all")
    git(hooks, "commit", "--quiet", "--message", "hooks")
    revision = git(hooks, "rev-parse", "HEAD")
    text = CONFIG.format(hooks=hooks, revision=revision)
    (folder / ".pre-commit-config.yaml").write_text(text, encoding="utf-8")
    for number in range(500):
        (folder / f"ordinary_{number}.py").write_text(ORDINARY, encoding="utf-8")
    (folder / "overflow.py").write_text(OVERFLOW, encoding="utf-8")
    git(folder, "add", "--all")


def seconds(folder: Path, hook: str, files: list[str], runs: int, *, cached: bool) -> list[float]:
    """Wall-clock times of whole runs of pre-commit."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    cache = folder.parent / "cache"
    environment = {
        **os.environ,
        "PATH": path,
        "PRE_COMMIT_HOME": str(folder.parent / "home"),
        "RELAX_LINT_CACHE_DIR": str(cache),
    }
    times = []
    for _ in range(runs):
        if not cached:
            shutil.rmtree(cache, ignore_errors=True)
        begin = time.perf_counter()
        command = [sys.executable, "-m", "pre_commit", "run", hook, "--files", *files]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        times.append(time.perf_counter() - begin)
        if NAMES[hook] not in done.stdout:
            raise SystemExit(f"pre-commit did not run `{hook}`: {done.stdout}{done.stderr}")
    return times


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "user"
        folder.mkdir()
        prepare(folder)
        ordinary = [f"ordinary_{number}.py" for number in range(500)]
        relax = ["overflow.py"]
        # The first run of all clones the hook repository.
        seconds(folder, "relax-lint-system", ordinary[:1], 1, cached=False)
        base = seconds(folder, "nothing", ordinary, runs, cached=False)
        report("nothing, 500 ordinary files", base, base)
        report("500 ordinary files", seconds(folder, "relax-lint-system", ordinary, runs, cached=False), base)
        base = seconds(folder, "nothing", relax, runs, cached=False)
        report("nothing, 1 file", base, base)
        report("17322", seconds(folder, "relax-lint-system", relax, runs, cached=False), base)
        report("17322 again", seconds(folder, "relax-lint-system", relax, runs, cached=True), base)


if __name__ == "__main__":
    main()
