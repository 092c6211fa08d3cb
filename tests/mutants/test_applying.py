"""A fault is put into functions that exist."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest

from tools.mutants import applying, generating


def test_functions_that_the_garbage_collector_no_longer_looks_at_have_the_fault_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (applying, generating):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    path = tmp_path / "code.py"
    path.write_text("def f(a, b):\n    return a < b\n", encoding="utf-8")
    space: dict[str, Any] = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), space)
    compared = next(one for one in generating.mutants(path) if one.key.operator == "comparison")
    gc.freeze()
    try:
        assert applying.Functions(["code.py"]).put(compared)
    finally:
        gc.freeze()
    assert space["f"](1, 1)
