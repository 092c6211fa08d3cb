"""Modules whose kernels make buffers of their own: through TVM's operators, and written by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import relax, tirx
from tvm.relax.op import image, nn, vision
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

from tests.totals.cases import Case, Run, case, f32

CASES: list[Case] = []


def _of(
    name: str, build: Callable[..., Any], shapes: list[tuple[Any, ...]], runs: list[dict[str, int]]
) -> None:
    """A function that is one expression of inputs of these shapes; a text in a shape is a symbol."""
    symbols: dict[str, Any] = {}

    def make() -> Any:
        symbols.clear()
        builder = relax.BlockBuilder()
        parameters = [
            relax.Var(
                f"x{position}",
                relax.TensorType(
                    [symbols.setdefault(e, tirx.Var(e, "int64")) if isinstance(e, str) else e for e in shape],
                    "float32",
                ),
            )
            for position, shape in enumerate(shapes)
        ]
        with builder.function("main", parameters):
            with builder.dataflow():
                result = builder.emit_output(builder.normalize(build(*parameters)))
            builder.emit_func_output(result)
        return builder.finalize()

    def inputs(binding: dict[str, int]) -> tuple[Any, ...]:
        return tuple(f32(*(binding[e] if isinstance(e, str) else e for e in shape)) for shape in shapes)

    CASES.append(Case(name, make, tuple(Run(inputs(binding), binding) for binding in runs)))


def _n(*values: int) -> list[dict[str, int]]:
    return [{"n": value} for value in values]


_of("softmax", nn.softmax, [("n", 64)], _n(1, 3, 4, 5, 100, 1024))
_of("softmax of nothing", nn.softmax, [("n", 64)], _n(0))
_of("log softmax", nn.log_softmax, [(8, 1000)], [{}])
_of("attention", nn.attention, [(1, "n", 4, 16)] * 3, _n(1, 7, 16, 33, 128))
_of("attention with a mask", nn.attention, [(2, 17, 4, 16)] * 3 + [(2, 4, 17, 17)], [{}])
_of("convolution", lambda x, w: nn.conv2d(x, w, padding=1), [("n", 3, 16, 16), (8, 3, 3, 3)], _n(1, 2, 5))
_of(
    "transposed convolution",
    lambda x, w: nn.conv2d_transpose(x, w, strides=2),
    [(1, 8, 9, 9), (8, 4, 3, 3)],
    [{}],
)
_of("pad", lambda x: nn.pad(x, [0, 0, 1, 1]), [("n", 64)], _n(1, 100))
_of("resize", lambda x: image.resize2d(x, (32, 32), layout="NCHW"), [("n", 3, 16, 16)], _n(1, 4))
_of(
    "resize cubic",
    lambda x: image.resize2d(x, (32, 32), layout="NCHW", method="cubic"),
    [("n", 3, 16, 16)],
    _n(2),
)
_of("sort", relax.op.sort, [("n", 640)], _n(1, 4))
_of("arg sort", relax.op.argsort, [(4, 640)], [{}])
_of("top k", lambda x: relax.op.topk(x, 5, ret_type="values"), [(4, 640)], [{}])
_of("cumulative sum", lambda x: relax.op.cumsum(x, 1), [("n", 640)], _n(1, 4))
_of(
    "layer norm",
    lambda x, g, b: nn.layer_norm(x, g, b, axes=[-1]),
    [("n", 300), (300,), (300,)],
    _n(1, 9, 500),
)
_of("batch norm", lambda x, *p: nn.batch_norm(x, *p, axis=1)[0], [(2, 400, 5, 5), *[(400,)] * 4], [{}])
_of("variance", lambda x: relax.op.variance(x, axis=[1]), [("n", 300)], _n(1, 9, 2000))
_of(
    "two attentions of other lengths",
    lambda q, k: relax.op.add(relax.op.sum(nn.attention(q, q, q)), relax.op.sum(nn.attention(k, k, k))),
    [(1, "n", 4, 16), (1, "m", 2, 16)],
    [{"n": 5, "m": 40}, {"n": 40, "m": 5}, {"n": 64, "m": 33}],
)
_of("max pool", lambda x: nn.max_pool2d(x, (3, 3), (2, 2), padding=1), [("n", 3, 33, 33)], _n(1, 2))
_of(
    "classes suppressed",
    lambda boxes, scores: vision.all_class_non_max_suppression(
        boxes,
        scores,
        relax.const(10, "int64"),
        relax.const(0.5, "float32"),
        relax.const(0.1, "float32"),
    )[0],
    [(1, 30, 4), (1, 3, 30)],
    [{"shape_0": 30, "shape_1": 3, "s": 30, "s_1": 3}],
)


@I.ir_module
class ByHand:
    @T.prim_func(private=True)
    def three(x: T.Buffer((64, 64), "float32"), y: T.Buffer((64, 64), "float32")):
        a = T.alloc_buffer((255,), "float32")
        b = T.alloc_buffer((256,), "float32")
        c = T.alloc_buffer((64, 64), "float32")
        for i in range(255):
            a[i] = x[i // 64, i % 64]
        for i in range(256):
            b[i] = x[i // 64, i % 64]
        for i, j in T.grid(64, 64):
            c[i, j] = x[i, j] + a[j] + b[j]
        for i, j in T.grid(64, 64):
            y[i, j] = c[j, i] + a[i] + b[i]

    @T.prim_func(private=True)
    def one(x: T.Buffer((64, 64), "float32"), y: T.Buffer((64, 64), "float32")):
        a = T.alloc_buffer((64, 65), "float32")
        for i, j in T.grid(64, 64):
            a[i, j] = x[i, j]
        for i, j in T.grid(64, 64):
            y[i, j] = a[j, i]

    @R.function
    def main(x: R.Tensor((64, 64), "float32")):
        cls = ByHand
        a = R.call_tir(cls.one, (x,), out_ty=R.Tensor((64, 64), "float32"))
        b = R.call_tir(cls.three, (a,), out_ty=R.Tensor((64, 64), "float32"))
        return R.call_tir(cls.one, (b,), out_ty=R.Tensor((64, 64), "float32"))


CASES.append(case("by hand", ByHand, Run((np.ones((64, 64), "float32"),))))
