"""One small module for each of many Relax operators, with fixed and with symbolic extents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.bugs.bug import written_out
from relax_lint.replay.modules import UnreadableModuleError, load_module

_UNARY = "exp sqrt tanh sigmoid negative abs floor sign nn.relu nn.gelu nn.silu"
_BINARY = "add subtract multiply divide maximum minimum power"
_OTHERS = """
R.greater(x, y)
R.where(R.greater(x, y), x, y)
R.sum(x, axis=1)
R.mean(x, axis=0)
R.max(x)
R.argmax(x, axis=1)
R.cumsum(x, axis=1)
R.nn.softmax(x, axis=-1)
R.nn.log_softmax(x, axis=-1)
R.nn.layer_norm(x, R.ones((8,), 'float32'), R.zeros((8,), 'float32'), axes=[-1])
R.nn.rms_norm(x, R.ones((8,), 'float32'), axes=[-1])
R.permute_dims(x)
R.matmul(x, R.permute_dims(y))
R.concat((x, y), axis=0)
R.concat((x, y), axis=1)
R.split(x, 2, axis=1)
R.stack((x, y), axis=0)
R.expand_dims(x, 0)
R.squeeze(R.expand_dims(x, 0), 0)
R.flatten(x)
R.repeat(x, 2, axis=0)
R.tile(x, (2, 1))
R.flip(x, axis=0)
R.strided_slice(x, [1], [1], [7], [2])
R.take(x, R.const([0, 2], 'int64'), axis=1)
R.astype(x, 'float16')
R.astype(R.greater(x, y), 'int8')
R.full_like(x, R.const(2, 'float32'))
R.zeros_like(x)
R.triu(x)
R.clip(x, 0, 1)
R.variance(x, axis=1)
R.topk(x, 2, axis=1, ret_type='both')
R.sort(x, axis=1)
R.nn.pad(x, [0, 0, 1, 1])
R.one_hot(R.astype(R.sum(x, axis=1), 'int64'), R.prim_value(1), R.prim_value(0), 4)
R.gather_elements(x, R.zeros((2, 8), 'int64'), axis=0)
"""
_EXPRESSIONS = (
    *(f"R.{name}(x)" for name in _UNARY.split()),
    *(f"R.{name}(x, y)" for name in _BINARY.split()),
    *_OTHERS.strip().splitlines(),
)


def operators() -> Iterator[tuple[str, Any]]:
    """Names and modules; operators that this version of TVM does not take are left out."""
    for expression in _EXPRESSIONS:
        for extent, suffix in (("4", ""), ("n", " symbolic")):
            head = f"function main(x: f32[{extent}, 8], y: f32[{extent}, 8]):"
            lines = (head, f"    z = {expression}", "    t = R.add(x, y)", "    return (z, t)")
            try:
                yield f"{expression}{suffix}", load_module(written_out("\n".join(lines)), "script")
            except UnreadableModuleError:
                continue
