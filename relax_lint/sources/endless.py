"""Values of TVM that Python would walk through for ever: they have items, and neither a length nor an end.

Whatever function of TVM or numpy walks through one gets so many items, then a refusal.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from relax_lint.sources.refusal import RefusedError

MOST_ITEMS = 16384
_PATHS = (
    *("tvm.ir.Expr", "tvm.ir.BaseExpr", "tvm.ir.PrimExpr", "tvm.relax.Expr", "tvm.relax.expr.ExprWithOp"),
    *("tvm.te.tensor.Tensor", "tvm.te.tensor.TensorSlice", "tvm.tirx.Buffer", "tvm.tirx.BufferRegion"),
    *("tvm.tirx.stmt.TensorRegion", "tvm.tirx.script.builder.ir.TensorRegion"),
    *("tvm.tirx.script.builder.ir.DtypeConstructor", "tvm.tirx.script.builder.ir.LetAnnotation"),
    *("tvm.tirx.script.builder.ir.scalar_wrapper", "tvm.tirx.script.builder.utils._BufferProxy"),
    *("tvm.tirx.script.parser.entry.BufferProxy", "tvm.tirx.script.parser.entry.PtrProxy"),
    *(f"tvm.tirx._buffer_view.{kind}Indexer" for kind in ("Chunk", "Sub", "Tile")),
)
_lock = threading.RLock()
_entered = 0


def _walked(value: Any) -> Iterator[Any]:
    for index in range(MOST_ITEMS):
        try:
            item = value[index]
        except IndexError:
            return
        yield item
    raise RefusedError(f"a walk through a `{type(value).__name__}`, which has no end")


def _endless_classes() -> set[type]:
    """Those that give items to whoever asks, and have no order of their own to walk through them."""
    found: set[type] = set()
    for path in _PATHS:
        module, _, name = path.rpartition(".")
        kind = getattr(sys.modules.get(module), name, None)
        if isinstance(kind, type) and "__getitem__" in vars(kind) and not hasattr(kind, "__iter__"):
            found.add(kind)
    return found


@contextmanager
def with_an_end() -> Iterator[None]:
    """Each walk through such a value ends inside of this context."""
    global _entered
    with _lock:
        changed = set() if _entered else _endless_classes()
        _entered += 1
        for kind in changed:
            kind.__iter__ = _walked  # type: ignore[attr-defined]
        try:
            yield
        finally:
            _entered -= 1
            for kind in changed:
                del kind.__iter__  # type: ignore[attr-defined]
