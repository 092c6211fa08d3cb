from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from relax_lint.replay import Machine, Module, Outcome, Scalar, Shape, Tensor, describe

pytestmark = pytest.mark.vm

HEADER = "from tvm.script import ir as I, relax as R, tirx as T\n"

# Shows every kind of input, and tuples as a result.
MIXED = Module(
    HEADER
    + """
@I.ir_module
class Module:
    @R.function
    def pair(x: R.Tensor(("m",), "float32"), s: R.Shape(["k"]), p: R.Prim("int64")):
        m = T.int64()
        k = T.int64()
        y = R.add(x, x)
        return (y, (R.shape([k, m]), x))
"""
)

CRASHING = Module(
    HEADER
    + """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(flag: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
        if flag:
            storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
            kill = R.memory.kill_storage(storage)
            late = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
            result = late
        else:
            other = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
            alloc = R.memory.alloc_tensor(other, 0, R.shape([4]), "float32")
            result = alloc
        return result
"""
)

# The kernel never ends.
ENDLESS = Module(
    HEADER
    + """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def spin(x: T.Buffer((1,), "int32"), y: T.Buffer((1,), "int32")):
        for i, j, k in T.grid(1000000, 1000000, 1000000):
            y[0] = (y[0] * 3 + x[0]) % 1000003

    @R.function
    def main(x: R.Tensor((1,), "int32")):
        y = R.call_tir(Module.spin, (x,), out_ty=R.Tensor((1,), "int32"))
        return y
"""
)


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with Machine() as machine:
        yield machine


@pytest.mark.parametrize("allocator", ["naive", "pooled"])
@pytest.mark.parametrize("exec_mode", ["bytecode", "compiled"])
def test_inputs_and_outputs_of_every_kind(machine: Machine, allocator: str, exec_mode: str) -> None:
    inputs = (Tensor("float32", (3,)), Shape((-5,)), Scalar(2))
    result = machine.run(MIXED, "pair", inputs, allocator=allocator, exec_mode=exec_mode)
    assert describe(result) == "ok, float32[3] = 0.0, 2.0, 4.0, shape(-5, 3), float32[3] = 0.0, 1.0, 2.0"


def test_an_unknown_function_is_an_error(machine: Machine) -> None:
    result = machine.run(MIXED, "missing", ())
    assert (result.outcome, result.stage) == (Outcome.ERROR, "run")
    assert "missing" in str(result.message)


def test_a_text_without_a_module_is_an_error_of_the_build(machine: Machine) -> None:
    result = machine.run(Module("x = 1\n"), "main", ())
    assert (result.outcome, result.stage) == (Outcome.ERROR, "build")
    assert result.message == "one module is needed, the text has 0"


def test_a_crash_is_a_result_and_the_next_run_works(machine: Machine) -> None:
    yes, no = Tensor("bool", ()), Tensor("bool", ())
    # The first element of every tensor is 0, so `flag` is false: only the second branch is sound.
    assert machine.run(CRASHING, "main", (no,)).outcome is Outcome.OK
    crash = machine.run(Module(CRASHING.text.replace("if flag:", "if R.logical_not(flag):")), "main", (yes,))
    assert (crash.outcome, crash.signal) == (Outcome.SIGNAL, "SIGSEGV")
    assert machine.run(CRASHING, "main", (no,)).outcome is Outcome.OK


def test_a_run_without_end_is_stopped() -> None:
    with Machine(time_limit=5) as machine:
        assert machine.run(ENDLESS, "main", (Tensor("int32", (1,)),)).outcome is Outcome.TIMEOUT


def test_the_memory_limit_holds() -> None:
    with Machine(memory_limit=3 * 2**30) as machine:
        module = Module(MIXED.text.replace("y = R.add(x, x)", "y = R.zeros(R.shape([k]), 'float32')"))
        inputs = (Tensor("float32", (3,)), Shape((2**30,)), Scalar(2))
        assert machine.run(module, "pair", inputs).outcome in (Outcome.ERROR, Outcome.SIGNAL)


def test_nothing_of_the_callers_folder_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tvm.py").write_text("raise RuntimeError('the wrong tvm')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "")
    with Machine() as machine:
        assert (
            machine.run(MIXED, "pair", (Tensor("float32", (3,)), Shape((1,)), Scalar(2))).outcome
            is Outcome.OK
        )


def _children() -> set[str]:
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads the processes from /proc")
def test_no_process_is_left_behind() -> None:
    before = _children()
    with Machine() as machine:
        machine.run(MIXED, "pair", ())
        assert _children() > before
    assert _children() == before
