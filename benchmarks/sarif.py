"""How large the SARIF log of many findings is, and whether it is valid and within GitHub's limits.

    python benchmarks/sarif.py [FINDINGS]

writes files with 50 functions each, every function with one tensor that does not always fit (1,000 findings
by default), lints them with RLX101 in one run, and prints the size of the log, plain and compressed, what
the schema of SARIF 2.1.0 says to it, and the largest of what GitHub counts.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import jsonschema

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from relax_lint.cli import main as relax_lint
from tests.published_schemas import SARIF, published_schema

PER_FILE = 50
HEAD = """\
from tvm.script import ir as I, relax as R, tirx as T


@I.ir_module
class Module:
"""
FUNCTION = """\
    @R.function(pure=False)
    def f{number}(x: R.Tensor(("n", "m"), "float32")):
        n = T.int64()
        m = T.int64()
        storage = R.memory.alloc_storage(R.shape([{size}]), 0, "global", "uint8")
        tensor = R.memory.alloc_tensor(storage, 0, R.shape([n, m]), "float32")
        return tensor

"""


def log_of(findings: int) -> str:
    """The SARIF log of a folder with so many findings."""
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, findings, PER_FILE):
            numbers = range(first, min(first + PER_FILE, findings))
            text = HEAD + "".join(FUNCTION.format(number=n, size=1024 + 4 * n) for n in numbers)
            Path(folder, f"model_{first}.py").write_text(text, encoding="utf-8")
        os.chdir(folder)
        output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        with contextlib.redirect_stdout(output):
            relax_lint(["--no-cache", "--select", "RLX101", "--output-format", "sarif", "."])
        output.seek(0)
        return output.read()


def steps(result: dict[str, Any]) -> int:
    flows = [flow for code in result.get("codeFlows", ()) for flow in code["threadFlows"]]
    return sum(len(flow["locations"]) for flow in flows)


def main() -> None:
    text = log_of(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
    log = json.loads(text)
    errors = list(jsonschema.Draft7Validator(published_schema(SARIF)).iter_errors(log))
    (run,) = log["runs"]
    results = run["results"]
    data = text.encode()
    print(f"results {len(results):,} (GitHub: 5,000 shown, 25,000 accepted)")
    print(f"bytes {len(data):,}, {len(data) / max(len(results), 1):,.0f} for each result")
    print(f"compressed {len(gzip.compress(data)):,} bytes (GitHub: 10 MB)")
    print(f"errors of the schema: {len(errors)}")
    print(f"rules {len(run['tool']['driver']['rules'])} (GitHub: 25,000)")
    print(f"most steps of a code flow {max(map(steps, results), default=0)} (GitHub: 1,000 shown)")
    places = max((1 + len(result.get("relatedLocations", ())) for result in results), default=0)
    print(f"most locations of a result {places} (GitHub: 100 shown)")
    for notification in run["invocations"][0]["toolExecutionNotifications"]:
        print(f"notification: {notification['message']['text']}")


if __name__ == "__main__":
    main()
