"""The text of TVM's own `relax.analysis.estimate_memory_usage`, byte for byte; only what no terminal should
get is escaped in the names.
"""

from __future__ import annotations

from collections.abc import Iterable

from relax_lint.results.memory_figures import Estimate
from relax_lint.results.report import Report
from relax_lint.support.escaping import printable, without_commands

GIGABYTE = 2**30


def render_tvm(report: Report) -> str:
    """The text of every module of the report, one after the other."""
    return without_commands("".join(text(module) for file in report.files for module in file.estimates))


def text(found: Iterable[Estimate]) -> str:
    """The report; empty if there is no function."""
    blocks = [f"- Function {printable(estimate.function)}:\n{_lines(estimate)}\n" for estimate in found]
    return "Memory usage estimation:\n" + "".join(blocks) if blocks else ""


def _lines(estimate: Estimate) -> str:
    lines = (
        f" * Without memory planning, there are {estimate.tensors} constant-size memory allocation(s) "
        f"with total size {_gigabytes(estimate.tensor_bytes)} GB"
    )
    if estimate.dynamic_tensors:
        lines += f", and {estimate.dynamic_tensors} dynamic-size allocation(s)"
    lines += (
        f".\n * With memory planning, there are {estimate.storages} constant-size memory allocation(s) "
        f"with total size {_gigabytes(estimate.storage_bytes)} GB"
    )
    if estimate.dynamic_storages:
        lines += f", and {estimate.dynamic_storages} dynamic-size allocation(s)"
    lines += ".\n"
    if estimate.tensor_bytes:
        share = estimate.storage_bytes / estimate.tensor_bytes
        lines += f" * Memory planning reduces constant memory size to {share:.1%}."
    return lines


def _gigabytes(count: int) -> str:
    return f"{count / GIGABYTE:.4}"
