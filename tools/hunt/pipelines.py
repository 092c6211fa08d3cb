"""The ways in which a program is compiled. Importing this module imports TVM."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import tvm
from tvm import relax

_t = relax.transform
EXACT, ROUGH = 2e-3, 5e-2
"""How far the numbers may be apart: where operations are in another order, and where they are other ones."""
SORTS = (("breadth-first", "from-outputs"), ("depth-first", "from-inputs"))


@dataclass(frozen=True)
class Way:
    """The passes that run first, the pipeline of the compilation, and what the context says. `is_measured`:
    what it allocates is compared with the totals. `is_bound`: it takes the first of the extents only.
    """

    passes: tuple[Any, ...]
    pipeline: Any
    opt_level: int = 2
    exec_mode: str = "bytecode"
    tolerance: float = EXACT
    config: dict[str, Any] = field(default_factory=dict)
    is_measured: bool = True
    is_bound: bool = False


def lifted(passes: Any) -> list[Any]:
    """Passes for a program with inner functions, which nothing but `LambdaLift` takes away."""
    return [_t.LambdaLift(), *passes]


def reference() -> Any:
    """No fusion, no folding, no views, no kills, no reuse: every tensor has a storage of its own."""
    return tvm.transform.Sequential(
        [
            relax.backend.DispatchSampling(),
            relax.backend.DispatchSortScan(),
            _t.LegalizeOps(),
            _t.ToNonDataflow(),
            _t.RemovePurityChecking(),
            _t.CallTIRRewrite(),
            _t.LowerAllocTensor(),
            _t.LowerRuntimeBuiltin(),
            _t.ComputePrimValue(),
            _t.VMShapeLower(),
            _t.AttachGlobalSymbol(),
        ]
    )


def _cpu() -> Any:
    return relax.get_default_pipeline(tvm.target.Target("llvm"))


def _default() -> Any:
    return relax.get_pipeline("default_build")


def _fused() -> list[Any]:
    return [
        _t.LegalizeOps(),
        _t.AnnotateTIROpPattern(),
        _t.FoldConstant(),
        _t.FuseOps(),
        _t.FuseTIR(),
    ]


def _llm() -> Any:
    """The passes of TVM that mlc-llm runs, in its order."""
    return tvm.transform.Sequential(
        [
            _t.FuseTransposeMatmul(),
            _t.CombineParallelMatmul(),
            relax.backend.DispatchSampling(),
            relax.backend.DispatchSortScan(),
            *_fused(),
            _t.DeadCodeElimination(),
            _t.RewriteDataflowReshape(),
            _t.ToNonDataflow(),
            _t.RemovePurityChecking(),
            _t.CallTIRRewrite(),
            _t.StaticPlanBlockMemory(),
            _t.RewriteCUDAGraph(),
            _t.LowerAllocTensor(),
            _t.KillAfterLastUse(),
            _t.LowerRuntimeBuiltin(),
            _t.ComputePrimValue(),
            _t.VMShapeLower(),
            _t.AttachGlobalSymbol(),
        ]
    )


def pipelines(extent: int | None = 3) -> dict[str, Way]:
    """The ways whose result runs on this machine; `extent` is the first value of `n`, if there is one."""
    binding = {} if extent is None else {"n": extent}
    sort = [_t.TopologicalSort(order, way) for order, way in SORTS]
    return {
        "cpu": Way((), _cpu()),
        "cpu-compiled": Way((), _cpu(), exec_mode="compiled"),
        "default": Way((), _default()),
        "opt0": Way((), _cpu(), opt_level=0),
        "opt3": Way((), _cpu(), opt_level=3),
        "llm": Way((), _llm()),
        "llm-graph": Way((), _llm(), config={"relax.backend.use_cuda_graph": True}, is_measured=False),
        "inplace": Way((_t.DataflowUseInplaceCalls(),), _default()),
        "inplace-cpu": Way((_t.DataflowUseInplaceCalls(),), _cpu()),
        "cse": Way((_t.EliminateCommonSubexpr(),), _cpu()),
        "canonical": Way((_t.CanonicalizeBindings(), _t.DeadCodeElimination(), _t.Normalize()), _default()),
        "sort": Way((sort[0],), _default()),
        "sort-back": Way((sort[1],), _default()),
        "matmul": Way(_matmuls(), _cpu()),
        "dataflow": Way((_t.ConvertToDataflow(),), _cpu()),
        "flat": Way(_flat(), _default()),
        "flat-inplace": Way(
            (_t.InlinePrivateFunctions(), _t.ConvertToDataflow(), _t.DataflowUseInplaceCalls()), _default()
        ),
        "decompose": Way((_t.DecomposeOpsForInference(), _t.LambdaLift(), _t.FoldConstant()), _default()),
        "training": Way((_t.DecomposeOpsForTraining(), _t.FoldBatchnormToConv2D()), _cpu()),
        "layout": Way(_layouts(), _cpu()),
        "late": Way((*_fused(), _t.EliminateCommonSubexpr(), _t.DeadCodeElimination()), _default()),
        "late-inplace": Way((_t.LegalizeOps(), _t.DataflowUseInplaceCalls(), sort[0]), _default()),
        "bound": Way((_t.BindSymbolicVars(binding, "main"),), _cpu(), is_bound=True),
        "mixed": Way((_t.ToMixedPrecision("float32"),), _cpu(), tolerance=ROUGH),
        "fast": Way((_t.FastMathTransform(),), _cpu(), tolerance=ROUGH),
        "devices": Way((_t.RealizeVDevice(),), _cpu()),
    }


def _matmuls() -> tuple[Any, ...]:
    return (
        _t.ExpandMatmulOfSum(),
        _t.ReorderTakeAfterMatmul(),
        _t.ReorderPermuteDimsAfterConcat(),
        _t.AdjustMatmulOrder(),
        _t.CombineParallelMatmul(),
    )


def _flat() -> tuple[Any, ...]:
    return (
        _t.InlinePrivateFunctions(),
        _t.ExpandTupleArguments(),
        _t.RemoveUnusedParameters(),
        _t.RemoveUnusedOutputs(),
    )


def _layouts() -> tuple[Any, ...]:
    return (
        _t.Normalize(),
        _t.ConvertLayout({"relax.nn.conv2d": ["NHWC", "OHWI"]}),
        _t.RemoveRedundantReshape(),
        _t.OptimizeLayoutTransform(),
        _t.LegalizeOps(),
        _t.AttachAttrLayoutFreeBuffers(),
        _t.SpecializePrimFuncBasedOnCallSite(),
        _t.SplitLayoutRewritePreproc(),
        _t.AllocateWorkspace(),
    )


def judged_only() -> dict[str, Any]:
    """The targets and pipelines for devices that are not here, up to code generation: their result is judged
    and not run.
    """
    gpus = {
        "cuda": tvm.target.Target("nvidia/geforce-rtx-3090"),
        "vulkan": tvm.target.Target("vulkan"),
        "metal": tvm.target.Target("metal"),
    }
    return {name: (target, relax.get_default_pipeline(target)) for name, target in gpus.items()}
