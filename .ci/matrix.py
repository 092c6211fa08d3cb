"""Run the tests with every Python and TVM of .ci/matrix.json that this machine has.

python .ci/matrix.py [--only PYTHON:TVM ...] -- PYTEST-ARGUMENT ...

`make matrix` runs it with what `make test` runs, `make matrix MATRIX=quick` with what `make quick` runs.
Each combination gets an environment in build/matrix/, which is used again while pyproject.toml is unchanged,
and a log. A table of all combinations ends the run; the exit code is 1 when tests failed somewhere. An
interpreter that is not there, or a package without a wheel for it, is told in the table and is no failure,
unless the combination was named by --only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "build" / "matrix"
NOT_MADE = ("no interpreter", "not installed")


@dataclass(frozen=True)
class Row:
    """What came of one combination."""

    python: str
    tvm: str
    outcome: str
    told: str = ""
    seconds: float = 0.0


def interpreter(version: str) -> str | None:
    """An interpreter of this version that starts: on PATH, or one that pyenv keeps."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    kept = sorted(pyenv.glob(f"{version}.*/bin/python{version}"))
    for candidate in (shutil.which(f"python{version}"), *map(str, reversed(kept))):
        # A shim of pyenv is there for every version, and fails where the version is not active.
        if (
            candidate
            and subprocess.run([candidate, "-c", ""], capture_output=True, check=False).returncode == 0
        ):
            return candidate
    return None


def environment(python: str, name: str, tvm: str, log: Path) -> Path | None:
    """The interpreter of an environment with the project and this TVM; None where it cannot be installed."""
    folder = KEPT / name
    own, stamp = folder / "bin" / "python", folder / ".installed"
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return own
    pip = [str(own), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    commands = (
        [python, "-m", "venv", "--clear", str(folder)],
        [*pip, "--upgrade", "pip"],
        [*pip, "--editable", ".[dev]", f"apache-tvm=={tvm}.*"],
    )
    if not all(_logged(command, log) for command in commands):
        return None
    stamp.write_text(wanted, encoding="utf-8")
    return own


def _logged(command: Sequence[str], log: Path) -> bool:
    with log.open("a", encoding="utf-8") as file:
        print(f"$ {' '.join(command)}", file=file, flush=True)
        return subprocess.run(command, cwd=ROOT, stdout=file, stderr=file, check=False).returncode == 0


def tried(version: str, tvm: str, arguments: Sequence[str]) -> Row:
    """One combination, installed and tested."""
    python = interpreter(version)
    if python is None:
        return Row(version, tvm, "no interpreter")
    name = f"py{version}-tvm{tvm}"
    log = KEPT / f"{name}.log"
    log.write_text("", encoding="utf-8")
    own = environment(python, name, tvm, log)
    if own is None:
        return Row(version, tvm, "not installed", _told(log))
    started = time.monotonic()
    passed = _logged([str(own), "-m", "pytest", *arguments], log)
    return Row(version, tvm, "passed" if passed else "failed", _told(log), time.monotonic() - started)


def _told(log: Path) -> str:
    """What pytest counted, or else the last line of the log."""
    lines = [line.strip("= ") for line in log.read_text(encoding="utf-8").splitlines() if line.strip()]
    counted = [line for line in lines if re.match(r"\d+ (passed|failed|error)", line)]
    return [*lines, *counted][-1][:100] if lines else ""


def main() -> int:
    """Try the combinations and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="PYTHON:TVM", help="only these combinations")
    parser.add_argument("arguments", nargs="+", metavar="PYTEST-ARGUMENT")
    options = parser.parse_args()
    matrix = json.loads((ROOT / ".ci" / "matrix.json").read_text(encoding="utf-8"))
    all_of_it = [f"{python}:{tvm}" for python in matrix["python"] for tvm in matrix["tvm"]]
    if unknown := set(options.only) - set(all_of_it):
        parser.error(f"not in .ci/matrix.json: {', '.join(sorted(unknown))}")
    KEPT.mkdir(parents=True, exist_ok=True)
    rows = []
    for combination in options.only or all_of_it:
        print(f"trying {combination}", file=sys.stderr, flush=True)
        python, tvm = combination.split(":")
        rows.append(tried(python, tvm, options.arguments))
    print("| Python | TVM | outcome | seconds | pytest says |\n|---|---|---|---|---|")
    for row in rows:
        print(f"| {row.python} | {row.tvm} | {row.outcome} | {row.seconds:.0f} | {row.told} |")
    bad = ("failed", *NOT_MADE) if options.only else ("failed",)
    return 1 if any(row.outcome in bad for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main())
