"""Buffers of a kernel of which it loads elements that it has not stored: each is looked at as if it were a
parameter, of which nobody may see what it held before the call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.confirmed import confirmed
from relax_lint.model.kernel_body.coverage import Coverage
from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_body.quick_reader import QuickReader
from relax_lint.model.kernel_body.reader import BodyReader
from relax_lint.model.kernel_body.sure_reads import of_kernel
from relax_lint.model.kernel_body.unwritten import Unwritten
from relax_lint.model.kernel_inside.findings import OwnBuffer, PartlyWritten
from relax_lint.support.lazy_dataclass import record

ReadBy = Callable[
    [type[BodyReader], Any],
    "tuple[BodyReader, Any, list[tuple[sympy.Expr, ...] | None], Loops, Any]",
]
"""Walks over a body: what was read, the shapes of the parameters and the loops."""


@record(frozen=True, eq=False)
class _WithBuffers:
    """A PrimFunc to which buffers of its own were added as parameters."""

    params: tuple[Any, ...]
    body: Any


def partly_written(prim_func: Any, read_by: ReadBy, own: Sequence[OwnBuffer]) -> Iterator[PartlyWritten]:
    """Those of its own buffers of which a PrimFunc loads what it has not written, and an output tells."""
    params = tuple(prim_func.params[:])
    for one in _open(params, prim_func.body, read_by, own):
        found = _found(_WithBuffers((*params, one.buffer), prim_func.body), read_by, one)
        if found is not None:
            yield found


def _open(params: Sequence[Any], body: Any, read_by: ReadBy, own: Sequence[OwnBuffer]) -> Iterator[OwnBuffer]:
    """Those of which an element may be loaded that was not stored to."""
    everything = _WithBuffers((*params, *(one.buffer for one in own)), body)
    reader, _, shapes, loops, _ = read_by(QuickReader, everything)
    effects, coverage = reader.effects, Coverage(reader.touches, shapes, loops)
    given = {
        symbol for shape in shapes[: len(params)] for extent in shape or () for symbol in extent.free_symbols
    }
    given |= {symbol for var, symbol in loops.signature.items() if var in set(params)}
    for position, one in enumerate(own, len(params)):
        shape = shapes[position]
        if position in effects.opaque or position in effects.lent or shape is None:
            continue
        # What the loops around it count is no size of a parameter.
        if not all(extent.free_symbols <= given for extent in shape):
            continue
        if position in effects.reads or coverage.is_read(position):
            yield one


def _found(prim_func: _WithBuffers, read_by: ReadBy, own: OwnBuffer) -> PartlyWritten | None:
    reader, _, shapes, loops, _ = read_by(BodyReader, prim_func)
    position = len(shapes) - 1
    written = sorted(reader.effects.writes)
    outputs = [one for one in written if one != position]
    if not outputs:
        return None
    tried = Unwritten(prim_func, shapes, loops.signature, outputs)
    seen = tried.seen(own.asked)
    if own.asked != sympy.true and seen == sympy.false:
        return None
    wrong: Boolean = sympy.false
    if not reader.takes_unknown:
        told = of_kernel(reader.effects.sure, shapes, loops)
        sure = confirmed(
            prim_func, told, {position}, written, shapes, loops.signature, lambda _: False, outputs
        )
        has_any = sympy.And(*(sympy.Ge(extent, 1) for extent in shapes[position] or ()))
        wrong = tried.always(sympy.And(sure.get(position, sympy.false), has_any))
    if tried.node is None or (wrong == sympy.false and seen == sympy.false):
        return None
    return PartlyWritten(own.buffer, tried.node, wrong, seen)
