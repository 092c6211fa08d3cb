"""Collections of modules with kernels: what TVM makes of Relax operators and of language models.

Each function yields names and modules; each kernel of a module is called by one of its functions. Nothing is
compiled and no device is needed. What TVM refuses to make is left out; `CORPORA` has all of them by name.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import tvm
from tvm import relax, s_tir, tirx
from tvm.s_tir import dlight

from benchmarks import llm_kernels, own_kernels
from benchmarks.kernel_callers import called
from benchmarks.llama import exported
from benchmarks.operator_corpus import random_operators
from benchmarks.operators import operators as plain_operators
from benchmarks.serving import SHAPES
from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import ParsedUnit
from relax_lint.vm import versions
from tests.programs.transformer import lowered as lowered_transformer

Modules: TypeAlias = Iterator[tuple[str, Any]]

TARGETS: Mapping[str, dict[str, Any]] = {
    "cuda": {
        "kind": "cuda",
        "arch": "sm_80",
        "max_threads_per_block": 1024,
        "max_num_threads": 1024,
        "max_shared_memory_per_block": 49152,
        "thread_warp_size": 32,
    },
    "vulkan": {
        "kind": "vulkan",
        "max_threads_per_block": 256,
        "max_num_threads": 256,
        "max_shared_memory_per_block": 32768,
        "thread_warp_size": 32,
        "supports_float16": True,
        "supports_int64": True,
    },
    "metal": {
        "kind": "metal",
        "max_threads_per_block": 256,
        "max_num_threads": 256,
        "max_shared_memory_per_block": 32768,
        "thread_warp_size": 32,
    },
    "webgpu": {"kind": "webgpu"},
}


def sources(path: Path) -> Modules:
    """Every module, function and PrimFunc that can be read in a Python file, which is not executed."""
    text = path.read_bytes()
    units = read_units(text, str(path)).units
    yield from _parsed(path, units)
    inside = [range(unit.node.lineno, (unit.node.end_lineno or 0) + 1) for unit in units]
    for line, written in _stand_alone(text.decode("utf-8")):
        if not any(line in lines for lines in inside):
            yield from _parsed(path, read_units(written.encode(), str(path)).units, line)


def _parsed(path: Path, units: Iterable[Any], line: int = 0) -> Modules:
    for unit in units:
        parsed = parse_unit(unit)
        if isinstance(parsed, ParsedUnit):
            yield f"{path.name}:{line or unit.line}", parsed.ir_module


_AROUND = """\
from tvm.script import ir as I
from tvm.script import relax as R

{imports}

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1,), "float32")):
        return x

{body}
"""


def _stand_alone(text: str) -> Iterator[tuple[int, str]]:
    """Every PrimFunc of a text with its line, in a module that the reader takes."""
    tree, lines = ast.parse(text), text.splitlines()
    imported = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    imports = "\n".join(line for node in imported if "tvm" in (line := ast.unparse(node)))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(
            "prim_func" in ast.unparse(d) for d in node.decorator_list
        ):
            first = min(decorator.lineno for decorator in node.decorator_list)
            body = textwrap.dedent("\n".join(lines[first - 1 : node.end_lineno]))
            yield node.lineno, _AROUND.format(imports=imports, body=textwrap.indent(body, "    "))


def uncalled(module: Any) -> Modules:
    """The PrimFuncs that no Relax function of their module calls, by name. One that is only handed over, as a
    cache of keys and values takes its kernels, is among them.
    """
    named: set[str] = set()

    def see(node: Any) -> None:
        if not isinstance(node, relax.Call):
            return
        callee = node.args[0] if _calls_first(node) else node.op
        if isinstance(callee, tvm.ir.GlobalVar):
            named.add(str(callee.name_hint))

    functions = dict(versions.prim_functions(module))
    for function in module.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, see)
    return ((name, function) for name, function in functions.items() if name not in named)


def _calls_first(call: Any) -> bool:
    return isinstance(call.op, tvm.ir.Op) and call.op.name.startswith("relax.call_tir")


def transformer(layers: int = 8, stage: str = "planned") -> Modules:
    """A transformer of so many layers with a symbolic length, after TVM's passes up to a stage."""
    yield "transformer", lowered_transformer(layers, bounded=False, stage=stage)


def scheduled_transformer(target: str = "cuda", layers: int = 8) -> Modules:
    """The transformer with dlight's schedules for a GPU."""
    yield from _made(
        transformer(layers, "fused"), (dlight.ApplyDefaultSchedule(*_gpu_rules()),), target_of(target)
    )


def decoders(target: str = "llvm") -> Modules:
    """Decoders with a paged cache, from TVM's frontend, with symbolic shapes and the schedules of a GPU."""
    steps: tuple[Any, ...] = (relax.transform.LegalizeOps(),)
    if target != "llvm":
        steps = (
            relax.backend.DispatchSampling(),
            relax.backend.DispatchSortScan(),
            *steps,
            relax.transform.AnnotateTIROpPattern(),
            relax.transform.FoldConstant(),
            relax.transform.FuseOps(),
            relax.transform.FuseTIR(),
            # Transpose fails on kernels that it does not know.
            dlight.ApplyDefaultSchedule(
                *(r for r in _gpu_rules() if not isinstance(r, dlight.gpu.Transpose))
            ),
        )
    yield from _made(((shape.name, exported(shape)[0]) for shape in SHAPES), steps, target_of(target))


def target_of(name: str) -> Any:
    """A target with its limits; `llvm` is the CPU."""
    return tvm.target.Target(TARGETS[name], host="llvm") if name in TARGETS else tvm.target.Target(name)


def legalized(seed: int = 1) -> Modules:
    """Every operator on random shapes, after `LegalizeOps`."""
    yield from _made(_sources(seed), (relax.transform.LegalizeOps(),), target_of("llvm"))


def fused(seed: int = 1) -> Modules:
    """Every operator after TVM's passes for the CPU up to the fused kernels."""
    steps = (
        relax.transform.LegalizeOps(),
        relax.transform.AnnotateTIROpPattern(),
        relax.transform.FoldConstant(),
        relax.transform.FuseOps(),
        relax.transform.FuseTIR(),
    )
    yield from _made(_sources(seed), steps, target_of("llvm"))


def cpu_schedules(seed: int = 1) -> Modules:
    """Every operator with TVM's schedules for the CPU."""
    rules = (dlight.cpu.GEMV(), dlight.cpu.Reduction())
    steps = (relax.transform.LegalizeOps(), dlight.ApplyDefaultSchedule(*rules))
    yield from _made(_sources(seed), steps, target_of("llvm"))


def gpu_schedules(target: str = "cuda", seed: int = 1) -> Modules:
    """Every operator with TVM's schedules for a GPU."""
    steps = (
        relax.backend.DispatchSampling(),
        relax.backend.DispatchSortScan(),
        relax.transform.LegalizeOps(),
        dlight.ApplyDefaultSchedule(*_gpu_rules()),
    )
    yield from _made(_sources(seed), steps, target_of(target))


def _gpu_rules() -> tuple[Any, ...]:
    return (
        dlight.gpu.Matmul(),
        dlight.gpu.GEMV(),
        dlight.gpu.LowBatchGEMV(),
        dlight.gpu.Reduction(),
        dlight.gpu.RMSNorm(),
        dlight.gpu.GeneralReduction(),
        dlight.gpu.Transpose(),
        dlight.gpu.Fallback(),
    )


def llm(target: str = "cuda") -> Modules:
    """The kernels of TVM's paged cache for language models, and those of its sampling and scans."""
    for name, prim_func in llm_kernels.kernels(target_of(target)):
        yield f"{name} {target}", called(prim_func)


def own() -> Modules:
    """Kernels in the manner of language models, written for this corpus."""
    for name, prim_func in own_kernels.KERNELS.items():
        yield name, called(prim_func)


def lowered(target: str = "cuda", seed: int = 1) -> Modules:
    """The kernels of a target after TVM's lowering, before host and device are split."""
    made = cpu_schedules(seed) if target == "llvm" else gpu_schedules(target, seed)
    for name, module in made:
        with target_of(target):
            try:
                yield name, lowered_kernels(module, target_of(target))
            except Exception:
                # TVM does not lower everything that it schedules.
                continue


def lowered_kernels(module: Any, target: Any) -> Any:
    """The module with its PrimFuncs as TVM's lowering leaves them."""
    passes = [
        tirx.transform.BindTarget(target),
        s_tir.transform.CanonicalizeLoop(),
        s_tir.transform.LowerCrossThreadReduction(),
        s_tir.transform.LowerInitBlock(),
        s_tir.transform.PlanAndUpdateBufferAllocationLocation(),
        s_tir.transform.ConvertBlocksToOpaque(),
        s_tir.transform.LiftThreadBinding(),
        s_tir.transform.ManifestSharedMemoryLocalStage(),
        s_tir.transform.CompactBufferAllocation(),
        s_tir.transform.LowerAutoCopy(),
        s_tir.transform.UnifyThreadBinding(),
        s_tir.transform.LowerMatchBuffer(),
        (s_tir if hasattr(s_tir.transform, "StmtSimplify") else tirx).transform.StmtSimplify(),
        s_tir.transform.InjectSoftwarePipeline(),
        s_tir.transform.LowerOpaqueBlock(),
        tirx.transform.FlattenBuffer(),
        tirx.transform.NarrowDataType(32),
        s_tir.transform.LoopPartition(),
        tirx.transform.VectorizeLoop(True),
        s_tir.transform.InjectVirtualThread(),
        tirx.transform.StorageRewrite(),
        tirx.transform.UnrollLoop(),
        tirx.transform.StmtSimplify(),
        tirx.transform.RemoveNoOp(),
        s_tir.transform.RewriteUnsafeSelect(),
        s_tir.transform.ThreadSync("shared"),
        s_tir.transform.ThreadSync("shared.dyn"),
    ]
    return tvm.ir.transform.Sequential(passes)(module)


def _sources(seed: int) -> Modules:
    yield from plain_operators()
    yield from random_operators(seed)


def _made(sources: Modules, steps: Iterable[Any], target: Any) -> Modules:
    passes = tuple(steps)
    for name, module in sources:
        with target:
            try:
                for step in passes:
                    module = step(module)
            except Exception:
                # TVM's schedules raise whatever they meet.
                continue
        yield name, module


CORPORA: Mapping[str, Callable[[], Modules]] = {
    "operators": legalized,
    "fused operators": fused,
    "CPU schedules": cpu_schedules,
    **{f"{name} schedules": partial(gpu_schedules, name) for name in TARGETS},
    **{f"{name} lowered": partial(lowered, name) for name in ("llvm", *TARGETS)},
    **{f"{name} language models": partial(llm, name) for name in ("llvm", *TARGETS)},
    "own kernels": own,
    "transformer": transformer,
    "transformer, cuda schedules": scheduled_transformer,
    "decoders": decoders,
    "decoders, cuda schedules": partial(decoders, "cuda"),
}
