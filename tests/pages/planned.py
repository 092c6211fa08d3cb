"""Modules as TVM's memory planner leaves them."""

from __future__ import annotations

import tvm
from tvm import relax

from relax_lint.replay.modules import load_module


def planned(text: str) -> str:
    """The module in a text after the passes up to `StaticPlanBlockMemory`, as saved IR."""
    passes = [
        relax.transform.LegalizeOps(),
        relax.transform.ToNonDataflow(),
        relax.transform.RemovePurityChecking(),
        relax.transform.CallTIRRewrite(),
        relax.transform.StaticPlanBlockMemory(),
    ]
    with tvm.target.Target("llvm"):
        module = tvm.transform.Sequential(passes)(load_module(text, "script"))
    saved: str = tvm.ir.save_json(module)
    return saved
