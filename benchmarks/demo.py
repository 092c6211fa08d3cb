"""What `make demo` shows: the real command on the files in `examples/`, as a user would see it."""

from __future__ import annotations

import subprocess

from benchmarks.common import COMMAND, ROOT

RUNS = {
    "the program of apache/tvm#17322": "examples/storage_overflow.py",
    "a planned transformer, as TVM prints it": "examples/planned_transformer.py",
    "a clean module": "examples/scoped_storage.py",
}


def main() -> int:
    for title, path in RUNS.items():
        print(f"\n# {title}\n$ relax-lint {path}", flush=True)
        status = subprocess.run([*COMMAND, path], cwd=ROOT, check=False).returncode
        print(f"(exit code {status})", flush=True)
        # Findings are what is to be seen here; anything above is the tool failing.
        if status not in (0, 1):
            return status
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
