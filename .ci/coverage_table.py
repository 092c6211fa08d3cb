"""Run tests under coverage and print a table by package: python .ci/coverage_table.py -- PYTEST-ARGUMENT ...

Processes that the tests start are measured too (`patch` in pyproject.toml), except those that are killed.
The lines are shown in build/coverage/index.html.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "build" / "coverage"
COLUMNS = ("num_statements", "missing_lines", "num_branches", "missing_branches")


def _coverage(*arguments: str) -> int:
    return subprocess.run([sys.executable, "-m", "coverage", *arguments], cwd=ROOT, check=False).returncode


def package(path: str) -> str:
    """`relax_lint/model/` of `relax_lint/model/builder.py`; what lies at the top goes by the top."""
    parts = Path(path).parts
    parts = parts[1:] if parts[0] == "rules" else parts
    return "/".join(parts[:2] if len(parts) > 2 else parts[:1]) + "/"


def table(report: Path) -> str:
    """Statements, branches and the share of both that ran, by package."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for path, file in json.loads(report.read_text(encoding="utf-8"))["files"].items():
        for name in (package(path), "all"):
            found[name].update({column: file["summary"][column] for column in COLUMNS})
    lines = [f"{'package':36}{'statements':>12}{'missing':>9}{'branches':>10}{'missing':>9}{'covered':>9}"]
    for name in (*sorted(set(found) - {"all"}), "all"):
        statements, unseen, branches, untaken = (found[name][column] for column in COLUMNS)
        share = 100 * (1 - (unseen + untaken) / max(statements + branches, 1))
        lines.append(f"{name:36}{statements:12}{unseen:9}{branches:10}{untaken:9}{share:8.1f}%")
    return "\n".join(lines)


def main() -> int:
    """Test, combine, write, print; the exit code is that of the tests."""
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir(parents=True)
    status = _coverage("run", "-m", "pytest", *[word for word in sys.argv[1:] if word != "--"])
    _coverage("combine", "--quiet")
    _coverage("html", "--quiet", "--directory", str(DATA))
    _coverage("json", "--quiet", "-o", str(DATA / "coverage.json"))
    print(table(DATA / "coverage.json"))
    return status


if __name__ == "__main__":
    raise SystemExit(main())
