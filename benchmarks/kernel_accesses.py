"""How many accesses of kernels are proved: Relax's operators, a transformer, and their GPU schedules.

python -m benchmarks.kernel_accesses [--layers 8] [--target nvidia/geforce-rtx-3090] [--undecided]

Counts each access of each kernel once, without a call: *proved* is inside its buffer in every call, *by the
call* is left to the shapes of a call, *assumed* depends on indices in an argument, *undecided* on what cannot
be read, with the reasons. `--undecided` prints the accesses.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import tvm
from tvm import relax

from benchmarks.common import options, table
from benchmarks.operators import operators
from relax_lint.model.kernel_access.accesses import KernelAccess
from relax_lint.model.kernel_access.reading import read_accesses
from relax_lint.vm import versions
from tests.programs.transformer import lowered

HEAD = ("kernels of", "kernels", "accesses", "proved", "by the call", "assumed", "undecided", "share", "ms")


def legalised() -> Iterator[tuple[str, Any]]:
    """Each operator after LegalizeOps."""
    for name, module in operators():
        with tvm.target.Target("llvm"):
            yield name, relax.transform.LegalizeOps()(module)


def scheduled(modules: Iterable[tuple[str, Any]], target: str) -> Iterator[tuple[str, Any]]:
    """Each module with dlight's GPU schedules; no device is needed for that."""
    from tvm.s_tir import dlight

    gpu = dlight.gpu
    rules = (gpu.Matmul(), gpu.GEMV(), gpu.Reduction(), gpu.GeneralReduction(), gpu.Fallback())
    for name, module in modules:
        with tvm.target.Target(target):
            yield name, dlight.ApplyDefaultSchedule(*rules)(module)


def kind_of(access: KernelAccess) -> str:
    """What is known of an access without a call."""
    if access.unread or any(not one.exact and not one.holds for one in access.obligations):
        return "undecided"
    if access.assumed or any(one.holds for one in access.obligations):
        return "assumed"
    return "by the call" if access.obligations else "proved"


def reason(access: KernelAccess) -> str:
    """Why an access is undecided."""
    return access.unread or next(one.why for one in access.obligations if not one.exact)


def row(
    title: str, modules: Iterable[tuple[str, Any]], reasons: Counter[str], *, show: bool
) -> tuple[str, ...]:
    """The counts over some modules."""
    counts: Counter[str] = Counter()
    kernels, spent = 0, 0.0
    for name, module in modules:
        for kernel, function in versions.prim_functions(module):
            started = time.process_time()
            found = read_accesses(function)
            spent += time.process_time() - started
            kernels += 1
            reasons.update(found.unread)
            for access in found.accesses:
                kind = kind_of(access)
                counts[kind] += 1
                if kind == "undecided":
                    reasons[reason(access)] += 1
                    if show:
                        print(f"{title}: {name}, {kernel}: {access.text}: {reason(access)}")
    total = sum(counts.values())
    share = f"{100 * counts['proved'] / total:.1f} %" if total else "-"
    numbers = [f"{counts[kind]:,}" for kind in HEAD[3:7]]
    return title, f"{kernels:,}", f"{total:,}", *numbers, share, f"{1000 * spent:.0f}"


def main() -> None:
    arguments = options(__doc__, layers=8, target="nvidia/geforce-rtx-3090", undecided=False)
    show, reasons = arguments.undecided, Counter[str]()
    planned = [("transformer", lowered(arguments.layers, bounded=False, stage="planned"))]
    fused = [("transformer", lowered(arguments.layers, bounded=False, stage="fused"))]
    rows = [
        row("operators", legalised(), reasons, show=show),
        row(f"transformer, {arguments.layers} layers", planned, reasons, show=show),
        row("operators, dlight", scheduled(legalised(), arguments.target), reasons, show=show),
        row("transformer, dlight", scheduled(fused, arguments.target), reasons, show=show),
    ]
    print(f"TVM {tvm.__version__}, target {arguments.target}\n")
    print(table(HEAD, rows))
    if reasons:
        print("\n" + table(("undecided because", "accesses"), reasons.most_common()))


if __name__ == "__main__":
    main()
