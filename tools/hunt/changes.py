"""What passes do to a module, counted. Importing this module imports TVM."""

from __future__ import annotations

from collections import Counter
from typing import Any

import tvm
import tvm_ffi
from tvm import relax

from relax_lint.vm.versions import operator_name, relax_functions


@tvm.instrument.pass_instrument
class Changes:
    """Which passes ran, which of them changed the module, and of which operators the number changed."""

    def __init__(self) -> None:
        self.ran: Counter[str] = Counter()
        self.changed: Counter[str] = Counter()
        self.rewrites: Counter[str] = Counter()
        self._before: list[tuple[list[Any], Any]] = []

    def run_before_pass(self, module: Any, info: Any) -> None:
        """A pass is about to run."""
        self._before.append(([function for _, function in module.functions.items()], module.clone()))

    def run_after_pass(self, module: Any, info: Any) -> None:
        """A pass has run."""
        if not self._before:
            return
        name = str(info.name)
        before, given = self._before.pop()
        after = [function for _, function in module.functions.items()]
        is_same = len(before) == len(after) and all(map(_same, before, after))
        self.ran[name] += 1
        if is_same:
            return
        self.changed[name] += 1
        if name not in ("sequential", "_pipeline") and not name.startswith(("tirx.", "s_tir.")):
            one, other = _operators(given), _operators(module)
            self.rewrites.update({f"{name} {operator}" for operator in {*(one - other), *(other - one)}})


def _same(one: Any, other: Any) -> bool:
    return bool(one.same_as(other)) or bool(tvm_ffi.structural_equal(one, other, map_free_vars=True))


def _operators(module: Any) -> Counter[str]:
    found: Counter[str] = Counter()

    def visit(node: Any) -> None:
        name = operator_name(node)
        if name:
            found[name] += 1

    for _, function in relax_functions(module):
        relax.analysis.post_order_visit(function, visit)
    return found
