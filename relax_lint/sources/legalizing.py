"""Which operator of a module TVM cannot make a kernel of: each is tried alone. Imports TVM."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import tvm
from tvm import relax

from relax_lint.vm import reshapes, versions

_MOST = 2000


def failing_operator(module: Any) -> str | None:
    """The first operator of a module that `LegalizeOps` fails at, by its name in TVMScript."""
    tried: set[str] = set()
    for call, name in _calls(module):
        key = f"{name} {[str(argument) for argument in call.args]} {call.attrs}"
        if key in tried or len(tried) > _MOST:
            continue
        tried.add(key)
        if not _legalizes(call):
            return name.replace("relax.", "R.", 1)
    return None


def _calls(module: Any) -> Iterator[tuple[Any, str]]:
    """The calls of operators, with their names."""
    found: list[tuple[Any, str]] = []

    def visit(node: Any) -> None:
        if versions.kind(node) == "Call" and versions.kind(node.op) == "Op":
            found.append((node, str(node.op.name)))

    for _, function in versions.relax_functions(module):
        relax.analysis.post_order_visit(function, visit)
    yield from found


def _legalizes(call: Any) -> bool:
    """Whether a call alone, on parameters in place of its variables, becomes one of a kernel."""
    try:
        built = reshapes.alone(call)
    except Exception:
        # What cannot be cut out is not known to fail.
        return True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with tvm.transform.PassContext():
                relax.transform.LegalizeOps()(built)
    except Exception:
        return False
    return True
