"""From the text of a module to what the rules say of it."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import Any

import tvm
from tvm.relax import transform

from relax_lint.judging.report import check_module
from relax_lint.results.check import Check
from relax_lint.settings.config import Config

DOUBLE = """
@T.prim_func(private=True, s_tir=True)
def double(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        with T.sblock("double"):
            v = T.axis.spatial(n, i)
            y[v] = x[v] * T.float32(2)
"""
"""A kernel of two vectors of one length."""

LOWERING = (
    transform.LegalizeOps,
    transform.ToNonDataflow,
    transform.RemovePurityChecking,
    transform.CallTIRRewrite,
    transform.StaticPlanBlockMemory,
    transform.LowerAllocTensor,
    transform.KillAfterLastUse,
    transform.LowerRuntimeBuiltin,
    transform.VMShapeLower,
)


def parse(body: str, *, before: str = "") -> Any:
    """A module with the functions of `body`."""
    text = before + "@I.ir_module\nclass Module:\n" + indent(dedent(body), "    ")
    return tvm.script.from_source(text, check_well_formed=False)


def stages(module: Any) -> list[tuple[str, Any]]:
    """The module at every stage of TVM's lowering."""
    found = [("parsed", module)]
    with tvm.target.Target("llvm"):
        for make in LOWERING:
            module = make()(module)
            found.append((make.__name__, module))
    return found


def checks(module: Any, code: str, **options: Any) -> list[Check]:
    """What the rules whose codes begin with `code` say, the fine ones too."""
    return list(check_module(module, Config(select=(code,), **options)).checks)


def findings(module: Any, code: str = "RLX", **options: Any) -> list[Check]:
    """What the rules report."""
    return [check for check in checks(module, code, **options) if check.severity.value != "none"]


def verdicts(found: list[Check]) -> list[tuple[str, str, str | None]]:
    """Rule, verdict and safe region of each check, in the order of the operations."""
    return [(check.rule, check.verdict.value, check.safe_when) for check in found]
