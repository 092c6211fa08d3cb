"""Import every backend model of the `onnx` package, by TVM's frontend alone and as the linter does.

python -m benchmarks.onnx_models             how many each of the two imports, and why not
python -m benchmarks.onnx_models --every 10  a tenth of the models
python -m benchmarks.onnx_models --lower     and how many of them are lowered for `llvm`
"""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
from onnx.backend.test import data
from onnx.backend.test.case.node import collect_testcases
from tvm.relax.frontend.onnx import from_onnx

from benchmarks.common import options
from relax_lint.sources.lowering import lower_unit
from relax_lint.sources.models import load_model
from relax_lint.sources.unit import ParsedUnit


def models() -> Iterator[tuple[str, Any]]:
    """Names and models: those of single operators, and those that the package brings as files."""
    for case in collect_testcases(None):
        if case.model is not None:
            yield case.name, case.model
    for folder in data.__path__:
        for path in sorted(Path(folder).rglob("*.onnx")):
            yield path.parent.name, onnx.load(path)


def main() -> None:
    arguments = options(__doc__, every=1, lower=False)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    started, counted = time.time(), Counter[str]()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model in list(models())[:: arguments.every]:
            path = Path(folder, "model.onnx")
            path.write_bytes(model.SerializeToString())
            theirs = _imports(model)
            found = load_model(str(path), "onnx", name, constant_weights=False)
            ours = isinstance(found, ParsedUnit)
            counted["models"] += 1
            counted["imported by TVM"] += theirs
            counted["imported by the linter"] += ours
            counted["imported by TVM only"] += theirs and not ours
            if not isinstance(found, ParsedUnit):
                named = "named" if "`" in found.message else "not named"
                counted[f"failed, the node is {named}"] += 1
                if theirs:
                    print(f"{name}: {found.message[:140]}")
            elif arguments.lower:
                lowered = lower_unit(found, "llvm")
                whole = isinstance(lowered, ParsedUnit) and not lowered.skipped
                counted["lowered"] += whole
                if isinstance(lowered, ParsedUnit) and not whole:
                    print(f"{name}: {lowered.skipped[0].reason[:140]}")
    for words, count in counted.items():
        print(f"{count:6} {words}")
    print(f"{time.time() - started:.0f} s")


def _imports(model: Any) -> bool:
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            from_onnx(onnx.load_from_string(model.SerializeToString()))
        except Exception:
            return False
    return True


if __name__ == "__main__":
    main()
