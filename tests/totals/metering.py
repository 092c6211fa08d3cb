"""The subprocess that measures: `LD_PRELOAD=meter.so python -m tests.totals.metering`.

Builds every module of a corpus with TVM's default pipeline, runs it with both allocators, and prints one JSON
line per prediction: what the totals of the lowered module say, and what the allocators really obtained.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import json
import threading
from collections.abc import Iterator, Sequence
from itertools import groupby, product
from pathlib import Path
from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

from relax_lint.model.builder import build_program
from relax_lint.model.operations import KernelCall
from relax_lint.model.program import Function, Program
from relax_lint.model.types import PrimType, ValueType
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.compute import Counted, measure, size_of
from relax_lint.totals.pool_profile import rounded
from relax_lint.totals.quantities import evaluate
from relax_lint.totals.walk import ExecMode
from relax_lint.vm.allocators import Allocator
from relax_lint.vm.builtins import SHAPE_HEAP
from tests import quick_parser, quick_stack
from tests.totals.cases import Case, Run

# The corpora are written with decorators.
quick_stack.install()
quick_parser.install()

TARGET = "llvm"
_BUILT_FOR = tvm.target.Target({"kind": TARGET, "opt-level": 0})
"""What is measured are calls for memory, which LLVM leaves as they are."""
FIGURES = ("meter_peak", "meter_asked", "meter_pool", "meter_together", "meter_others", "meter_heap")

# TVM 0.26 cannot compile a kill of the null value that stands for an argument of `R.memory.view` left out.
CANNOT_BE_BUILT = {("0.26", ExecMode.COMPILED, "views by hand")}


@I.ir_module
class Probe:
    """One allocation, to learn who asks for memory on behalf of an allocator."""

    @R.function(pure=False)
    def main() -> R.Any:
        return R.memory.alloc_storage(R.shape([64]), 0, "global", "uint8")


class Meter:
    """The interposer, in this process."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)
        for name in (*FIGURES, "meter_live", "meter_callers", "meter_event"):
            getattr(self._library, name).restype = ctypes.c_int64
        runtime = ctypes.CDLL(str(Path(tvm.__file__).parent / "lib" / "libtvm_runtime.so"))
        self._library.meter_workspaces(
            ctypes.cast(runtime.TVMBackendAllocWorkspace, ctypes.c_void_p),
            ctypes.cast(runtime.TVMBackendFreeWorkspace, ctypes.c_void_p),
        )
        self._clear = tvm.get_global_func("vm.builtin.memory_manager.clear")
        executable = tvm.compile(Probe, _BUILT_FOR)
        for allocator in Allocator:
            self._clear()
            machine = relax.VirtualMachine(executable, tvm.cpu(), memory_cfg=allocator.value)
            self._library.meter_learn(1)
            machine["main"]()
            self._library.meter_learn(0)
        if self._library.meter_callers() != len(Allocator):
            raise RuntimeError("the allocators cannot be told apart from other callers")

    def most_obtained(
        self, executable: Any, entry: str, runs: Sequence[Run], allocator: Allocator
    ) -> list[int]:
        """Bytes that the allocator held from the system at most, from a cold start to the end of each of
        several calls; the caller lets go of each result before it calls again.
        """
        machine = relax.VirtualMachine(executable, tvm.cpu(), memory_cfg=allocator.value)
        function = machine[entry]
        inputs = [
            [tvm.runtime.tensor(i) if isinstance(i, np.ndarray) else i for i in run.inputs] for run in runs
        ]
        self._clear()
        self._library.meter_start()
        most = []
        for arguments in inputs:
            result = function(*arguments)
            most.append(int(self._library.meter_peak()))
            del result
        self._library.meter_stop()
        return most

    def start(self) -> None:
        """Begin to count, from a cold start."""
        self._clear()
        self._library.meter_start()

    def stop(self) -> None:
        """Count no more."""
        self._library.meter_stop()

    def figures(self) -> dict[str, int]:
        """What was counted since `start`: the most of each kind."""
        return {name.removeprefix("meter_"): int(getattr(self._library, name)()) for name in FIGURES}

    def one_call(self, executable: Any, entry: str, run: Run, allocator: Allocator) -> dict[str, int]:
        """The most bytes over one call from a cold start: of the allocator, asked of the workspace pool by one
        kernel, held by that pool, and of the allocator and the pool together; what other callers hold of the
        device while the result lives, and the most that came from C++'s `new`.
        """
        found: dict[str, int] = {}

        def call() -> None:
            machine = relax.VirtualMachine(executable, tvm.cpu(), memory_cfg=allocator.value)
            inputs = [tvm.runtime.tensor(i) if isinstance(i, np.ndarray) else i for i in run.inputs]
            self.start()
            result = machine[entry](*inputs)
            found.update(self.figures())
            self.stop()
            del result

        # Each thread has a workspace pool of its own, which ends with it.
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        return found


def allocating(*, planned: bool) -> Any:
    """TVM's default pipeline for a CPU, down to explicit memory operations."""
    transform = relax.transform
    return tvm.transform.Sequential(
        [
            transform.LegalizeOps(),
            transform.AnnotateTIROpPattern(),
            transform.FoldConstant(),
            transform.FuseOps(),
            transform.FuseTIR(),
            transform.RewriteDataflowReshape(),
            transform.ToNonDataflow(),
            transform.RemovePurityChecking(),
            transform.CallTIRRewrite(),
            *([transform.StaticPlanBlockMemory()] if planned else []),
            transform.LowerAllocTensor(),
        ]
    )


def lowering() -> Any:
    """The rest of the pipeline, down to what the code generator gets."""
    transform = relax.transform
    return tvm.transform.Sequential(
        [
            transform.KillAfterLastUse(),
            transform.LowerRuntimeBuiltin(),
            transform.ComputePrimValue(),
            transform.VMShapeLower(),
            transform.AttachGlobalSymbol(),
        ]
    )


def built(lowered: Any, exec_mode: ExecMode = ExecMode.BYTECODE) -> Any:
    """An executable of what was lowered. Nothing here is called with what its kernels refuse: the checks of their
    arguments are left out, which LLVM takes longer for than for all else.
    """
    as_it_is = tvm.transform.Sequential([])
    with tvm.transform.PassContext(config={"tirx.disable_assert": True}):
        return relax.build(lowered, _BUILT_FOR, relax_pipeline=as_it_is, exec_mode=exec_mode.value)


def measured(meter: Meter, case: Case, exec_mode: ExecMode) -> Iterator[dict[str, Any]]:
    """One row per binding and allocator. Runs of one binding are alternatives: the most counts."""
    with tvm.target.Target(TARGET):
        allocated = allocating(planned=case.planned)(case.make())
        lowered = lowering()(allocated)
    executable = built(lowered, exec_mode)
    before, after = build_program(allocated), build_program(lowered)
    formulas = measure(after, _entry(after, case), exec_mode=exec_mode)
    for binding, runs in groupby(case.runs, key=lambda run: run.binding):
        alternatives = list(runs)
        early = measure(before, _entry(before, case), exec_mode=exec_mode, binding=binding)
        late = measure(after, _entry(after, case), exec_mode=exec_mode, binding=binding)
        for allocator in Allocator:
            obtained = [
                meter.most_obtained(executable, case.entry, pair, allocator)
                for pair in product(alternatives, repeat=2)
            ]
            yield {
                "case": case.name,
                "exec_mode": exec_mode.value,
                "binding": binding,
                "allocator": allocator.value,
                "measured": max(first for first, _ in obtained),
                "measured again": max(both for _, both in obtained),
                "predicted": _value(late.reserved[allocator]),
                "predicted again": _value(late.repeated[allocator]),
                "formula again": _evaluated(formulas.repeated[allocator], binding),
                "formula": _evaluated(formulas.reserved[allocator], binding),
                "without shape heap": _value(early.reserved[allocator]),
                "shape heap": shape_heap(_entry(after, case), allocator),
                "unplanned": _counted(early.unplanned),
                "planned": _counted(early.planned),
                "lower bound": _value(size_of(early.lower_bound)),
                "parameters": _value(early.parameters),
                "constants": _value(early.constants),
            }


def _entry(program: Program, case: Case) -> Function:
    return next(function for function in program.functions if function.name == case.entry)


def _count(type_: ValueType) -> int:
    assert isinstance(type_, PrimType)
    assert type_.value is not None
    return int(type_.value)


def shape_heap(function: Function, allocator: Allocator) -> int:
    """Bytes of the shape heap, which lowering adds and which lives as long as the call."""
    heaps = [op for op in function.body.walk() if isinstance(op, KernelCall) and op.callee == SHAPE_HEAP]
    slots = sum(_count(function.type_of(op.arguments[0])) for op in heaps)
    return int(rounded(8 * slots, 4096)) if allocator is Allocator.POOLED else 8 * slots


def _value(quantity: Any) -> int | str:
    return quantity.reason if isinstance(quantity, Unknown) else quantity


def _counted(counted: Counted) -> int | str:
    dynamic = _value(counted.dynamic_bytes)
    return dynamic if isinstance(dynamic, str) else counted.static_bytes + dynamic


def _evaluated(quantity: Any, binding: dict[str, int]) -> int | str:
    if isinstance(quantity, Unknown | int):
        return _value(quantity)
    return evaluate(quantity, binding)


def main() -> None:
    """Measure the cases of a corpus in the execution modes that are named on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpus", default="tests.totals.corpus")
    parser.add_argument("modes", nargs="+", type=ExecMode)
    options = parser.parse_args()
    meter = Meter()
    for case in importlib.import_module(options.corpus).CASES:
        for mode in options.modes:
            if (tvm.__version__[:4], mode, case.name) in CANNOT_BE_BUILT:
                continue
            for row in measured(meter, case, mode):
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
