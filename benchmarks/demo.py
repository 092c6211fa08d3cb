"""What `make demo` shows: the real command on the files in `examples/`, as a user would see it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUNS = (
    ("the program of apache/tvm#17322", ["examples/storage_overflow.py"]),
    ("a planned transformer, as TVM prints it", ["examples/planned_transformer.py"]),
    ("a clean module", ["examples/scoped_storage.py"]),
)
# Findings are what is to be seen here; anything above is the tool failing.
EXPECTED = (0, 1)


def main() -> int:
    for title, arguments in RUNS:
        print(f"\n# {title}\n$ relax-lint {' '.join(arguments)}", flush=True)
        command = [sys.executable, "-c", "from relax_lint.cli import main; raise SystemExit(main())"]
        status = subprocess.run([*command, *arguments], cwd=ROOT, check=False).returncode
        print(f"(exit code {status})", flush=True)
        if status not in EXPECTED:
            return status
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
