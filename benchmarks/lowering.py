"""A module after each pass of TVM's default pipeline for the CPU, and what the linter says there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tvm
from tvm.relax.backend.cpu_generic import pipeline

from relax_lint.judging.report import check_module
from relax_lint.results.check import Check
from relax_lint.settings.config import Config

EVERY_RULE = Config(select=("RLX",))
"""Also the rules that are off by default."""


def stages(module: Any) -> Iterator[tuple[str, Any]]:
    """The module as it is, and after each pass by the pass's name."""
    target = tvm.target.Target("llvm")
    passes = [
        *pipeline.library_dispatch_passes(target),
        *pipeline.legalize_passes(target),
        *pipeline.dataflow_lower_passes(target),
        *pipeline.finalize_passes(target),
    ]
    yield "as written", module
    with target:
        for step in passes:
            module = step(module)
            yield str(step.info.name), module


def checks(module: Any, config: Config = EVERY_RULE) -> list[Check]:
    """Every judged operation."""
    return list(check_module(module, config).checks)


def findings(found: list[Check]) -> list[Check]:
    """What is reported of the checks."""
    return [check for check in found if check.severity.value != "none"]
