"""`--lower` and `--target`."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tvm

import relax_lint
from relax_lint.results.memory_figures import Amount
from relax_lint.settings.config import Config
from relax_lint.sources.lowering import LoweringError, allocates, lowered
from tests.models.conftest import Run, judged, totals
from tests.programs import transformer

HEADER = "from tvm.script import ir as I, relax as R, tirx as T\n\n\n"

HIGH_LEVEL = (
    HEADER
    + """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        with R.dataflow():
            a = R.add(x, R.const([1.0, 2.0, 3.0, 4.0], "float32"))
            b = R.sum(a, axis=[0], keepdims=True)
            c = R.subtract(a, b)
            R.output(c)
        return c
"""
)

ALLOCATED = (
    HEADER
    + """@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
        m = T.int64()
        storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        alloc = R.memory.alloc_tensor(storage, 0, R.shape([m]), "float32")
        return alloc
"""
)

OWN_KERNEL = (
    HEADER
    + """@I.ir_module
class Module:
    @T.prim_func(private=True)
    def fill(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i]

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.fill, (R.const([1.0, 2.0, 3.0, 4.0], "float32"),), out_ty=R.Tensor((4,), "float32"))
            R.output(a)
        return a
"""
)

LOWER = Config(lower=True)


def written(folder: Path, text: str, name: str = "model.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_pipeline_is_that_of_the_target_up_to_planning() -> None:
    module = transformer.exported(1, bounded=True)
    assert not allocates(module)
    tvm.ir.assert_structural_equal(
        lowered(module, "llvm"), transformer.lowered(1, bounded=True, stage="planned")
    )


@pytest.mark.parametrize("target", ["vulkan", '{"kind": "cuda", "arch": "sm_80"}'])
def test_other_targets_need_no_device(target: str) -> None:
    assert allocates(lowered(transformer.exported(1, bounded=True), target))


def test_tvmscript_is_lowered_before_it_is_totalled(tmp_path: Path) -> None:
    path = written(tmp_path, HIGH_LEVEL)
    assert totals(path, Config()).unplanned_dynamic_count == 0
    found = judged(path, LOWER)
    (total,) = found.memory
    # x + constant and the result have n rows of 4 floats, the sum one.
    assert total.unplanned_dynamic_bytes == Amount("32*n", None)
    assert total.unplanned_static_bytes == 16
    assert found.notes == ("lowered for `llvm` up to memory planning",)


def test_saved_modules_are_lowered(tmp_path: Path) -> None:
    saved = tvm.ir.save_json(transformer.exported(1, bounded=True))
    total = totals(written(tmp_path, saved, "model.json"), LOWER)
    (expected,) = relax_lint.memory(transformer.lowered(1, bounded=True, stage="planned"))
    assert total.peak_live == expected.peak_live


def test_a_module_in_memory_is_lowered() -> None:
    module = transformer.exported(1, bounded=True)
    (total,) = relax_lint.memory(module, config=LOWER)
    (expected,) = relax_lint.memory(transformer.lowered(1, bounded=True, stage="planned"))
    assert total == expected


def test_explicit_allocations_are_left_as_they_are(tmp_path: Path) -> None:
    path = written(tmp_path, ALLOCATED)
    checks = judged(path, LOWER).checks
    assert checks == judged(path, Config()).checks
    assert {check.location and check.location.line for check in checks if check.rule == "RLX101"} == {10}


def test_kernels_of_the_input_are_not_run(tmp_path: Path) -> None:
    found = judged(written(tmp_path, OWN_KERNEL), LOWER)
    assert found.notes[1].startswith("constants were not folded")
    # Folded, the copy of the constant would be a constant itself.
    assert found.memory[0].unplanned_static_bytes == 16


def test_a_pass_that_fails_is_reported_at_the_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @tvm.transform.module_pass(opt_level=0)
    def failing(module: Any, context: Any) -> Any:
        raise ValueError("this operator has no kernel")

    monkeypatch.setattr(tvm.relax, "get_default_pipeline", lambda target: failing)
    (check,) = judged(written(tmp_path, HIGH_LEVEL), LOWER).checks
    assert check.rule == "RLX904"
    assert check.message.startswith("TVM cannot lower this for `llvm`: ")
    assert "this operator has no kernel" in check.message
    assert check.location is not None
    assert check.location.line == HIGH_LEVEL[: HIGH_LEVEL.index("def main")].count("\n") + 1


@pytest.mark.parametrize("target", ["nonsense", "c", "{"])
def test_what_is_no_target(target: str) -> None:
    with pytest.raises(
        LoweringError, match=rf"^`{re.escape(target)}` is not a target that TVM can lower for: "
    ):
        lowered(tvm.IRModule({}), target)


def test_an_unknown_target_is_a_wrong_request(run: Run, tmp_path: Path) -> None:
    written(tmp_path, HIGH_LEVEL)
    found = run("memory", "model.py", "--lower", "--target", "nonsense")
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith("relax-lint: error: `nonsense` is not a target that TVM can lower for: ")
    assert found.err.count("\n") == 1


def test_progress_is_shown_on_a_terminal_and_gone_at_the_end(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    from tests.models.test_onnx import model

    onnx.save(model(), tmp_path / "model.onnx")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "relax_lint.cli", "memory", "model.onnx", "--lower"]
    environment = {**os.environ, "TERM": "xterm"}
    done = subprocess.run(
        command, stderr=theirs, stdout=subprocess.PIPE, env=environment, cwd=tmp_path, check=True
    )
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    steps = [step.removeprefix("\x1b[K") for step in shown.split("\r") if step]
    expected = [f"model.onnx: {what}" for what in ("importing", "lowering for llvm", "judging")]
    assert steps[:3] == expected
    assert steps[-1] == ""
    assert b"\r" not in done.stdout


def test_the_operator_at_fault_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = tvm.relax.transform.LegalizeOps

    def picky() -> Any:
        @tvm.transform.module_pass(opt_level=0, name="LegalizeOps")
        def legalize(module: Any, context: Any) -> Any:
            if "R.tanh" in module.script():
                raise ValueError("this operator has no kernel")
            return real()(module)

        return legalize

    monkeypatch.setattr(tvm.relax.transform, "LegalizeOps", picky)
    monkeypatch.setattr(tvm.relax, "get_default_pipeline", lambda target: picky())
    text = HIGH_LEVEL.replace("        return", "        last = R.tanh(x)\n        return", 1)
    found = judged(written(tmp_path, text), LOWER)
    (check,) = [check for check in found.checks if check.rule == "RLX904"]
    assert "`LegalizeOps` fails at `R.tanh`: this operator has no kernel" in check.message
    # What was not lowered is judged as it stands.
    assert found.functions == 1
    assert check.proof == "a part of the block cannot be analysed"
