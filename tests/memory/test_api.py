"""`relax_lint.memory` and the lazily loaded pass."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import relax_lint
from tests.memory.programs import SYMBOLIC


def test_a_file_and_a_module_have_the_same_totals(tmp_path: Path) -> None:
    import tvm

    file = tmp_path / "model.py"
    file.write_text(SYMBOLIC, encoding="utf-8")
    module = tvm.script.from_source(SYMBOLIC[SYMBOLIC.index("@I.ir_module") :])
    (from_file,) = relax_lint.memory(file, {"n": 500})
    (from_module,) = relax_lint.memory(module, {"n": 500})
    assert from_file.peak_live == from_module.peak_live
    assert from_file.peak_live is not None
    assert (from_file.peak_live.expr, from_file.peak_live.value) == ("Max(4*n, 1000)", 2000)
    (symbolic,) = relax_lint.memory(module)
    assert symbolic.peak_live is not None
    assert symbolic.peak_live.value is None


@pytest.mark.parametrize(
    ("bindings", "message"), [({"m": 1}, "no function has a symbol `m`"), ({"n": -1}, "cannot be negative")]
)
def test_bindings_that_make_no_sense(bindings: dict[str, int], message: str, tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(SYMBOLIC, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        relax_lint.memory(file, bindings)


def test_what_cannot_be_read_is_an_exception(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        relax_lint.memory(tmp_path / "missing.py")


def test_the_pass_is_there_and_tvm_is_loaded_for_it_only() -> None:
    code = (
        "import sys, relax_lint; assert 'tvm' not in sys.modules; "
        "print(relax_lint.AnnotateUsedMemory().info.name); assert 'tvm' in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "AnnotateUsedMemory\n", done.stderr
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        relax_lint.nothing  # noqa: B018
