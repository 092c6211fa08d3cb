"""The ways in which a program is compiled. Importing this module imports TVM."""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax

_t = relax.transform


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


def _llm() -> Any:
    """The passes of TVM that mlc-llm runs, in its order."""
    return tvm.transform.Sequential(
        [
            _t.CombineParallelMatmul(),
            relax.backend.DispatchSampling(),
            relax.backend.DispatchSortScan(),
            _t.LegalizeOps(),
            _t.AnnotateTIROpPattern(),
            _t.FoldConstant(),
            _t.FuseOps(),
            _t.FuseTIR(),
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


def pipelines() -> dict[str, tuple[list[Any], Any]]:
    """For each name the passes that run first, and the pipeline of the compilation."""
    sort = [_t.TopologicalSort(order, way) for order, way in SORTS]
    return {
        "cpu": ([], _cpu()),
        "default": ([], _default()),
        "llm": ([], _llm()),
        "inplace": ([_t.DataflowUseInplaceCalls()], _default()),
        "inplace-cpu": ([_t.DataflowUseInplaceCalls()], _cpu()),
        "cse": ([_t.EliminateCommonSubexpr()], _cpu()),
        "canonical": ([_t.CanonicalizeBindings(), _t.DeadCodeElimination(), _t.Normalize()], _default()),
        "sort": ([sort[0]], _default()),
        "sort-back": ([sort[1]], _default()),
        "matmul": (
            [
                _t.ExpandMatmulOfSum(),
                _t.ReorderTakeAfterMatmul(),
                _t.ReorderPermuteDimsAfterConcat(),
                _t.AdjustMatmulOrder(),
                _t.CombineParallelMatmul(),
            ],
            _cpu(),
        ),
        "dataflow": ([_t.ConvertToDataflow()], _cpu()),
        "flat": (
            [
                _t.InlinePrivateFunctions(),
                _t.ExpandTupleArguments(),
                _t.RemoveUnusedParameters(),
                _t.RemoveUnusedOutputs(),
            ],
            _default(),
        ),
        "flat-inplace": (
            [_t.InlinePrivateFunctions(), _t.ConvertToDataflow(), _t.DataflowUseInplaceCalls()],
            _default(),
        ),
        "decompose": ([_t.DecomposeOpsForInference(), _t.LambdaLift(), _t.FoldConstant()], _default()),
    }


SORTS = (("breadth-first", "from-outputs"), ("depth-first", "from-inputs"))


def judged_only() -> dict[str, Any]:
    """Pipelines for devices that are not here, up to code generation: their result is judged and not run."""
    gpu = tvm.target.Target("nvidia/geforce-rtx-3090")
    return {"cuda": relax.get_default_pipeline(gpu)}
