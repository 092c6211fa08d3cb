"""Models: a decoder, and a small network as ONNX describes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tvm.relax.frontend.onnx import from_onnx

from tests.programs import transformer
from tests.totals.cases import Case, Run, f32

CASES: list[Case] = []

BATCHES_AND_LENGTHS = ((1, 1), (2, 16), (3, 100), (8, 33))


def _decoder_runs(
    layers: int, sizes: tuple[tuple[int, int], ...], *, symbolic_batch: bool
) -> tuple[Run, ...]:
    function = transformer.exported(layers, bounded=False)["forward"]
    weights = [np.full([int(d) for d in p.ty.shape.values], 0.1, "float32") for p in function.params[1:]]

    def binding(batch: int, length: int) -> dict[str, int]:
        return {"batch": batch, "n": length} if symbolic_batch else {"n": length}

    return tuple(Run((np.zeros((b, n), "int32"), *weights), binding(b, n)) for b, n in sizes)


for _bounded in (True, False):
    CASES.append(
        Case(
            f"decoder, {'bounded' if _bounded else 'unbounded'}",
            lambda bounded=_bounded: transformer.exported(1, bounded=bounded),
            _decoder_runs(1, ((1, 1), (1, 16), (1, 100), (1, 512)), symbolic_batch=False),
            "forward",
        )
    )

CASES.append(
    Case(
        "decoder, symbolic batch and length",
        lambda: transformer.exported(2, bounded=False, batch="batch"),
        _decoder_runs(2, BATCHES_AND_LENGTHS, symbolic_batch=True),
        "forward",
    )
)


def _network() -> Any:
    """Two convolutions with batch normalisation and a shortcut, then a mean: images are [n, 3, h, h]."""
    random = np.random.default_rng(0)

    def weight(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array(random.random(shape, "float32"), name)

    weights = [weight("w1", 8, 3, 3, 3), weight("w2", 8, 8, 3, 3)]
    weights += [weight(f"{part}{i}", 8) for i in (1, 2) for part in ("scale", "shift", "mean", "variance")]
    nodes = []
    for i, source in ((1, "x"), (2, "r1")):
        parts = [f"{part}{i}" for part in ("scale", "shift", "mean", "variance")]
        nodes += [
            helper.make_node("Conv", [source, f"w{i}"], [f"c{i}"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
            helper.make_node("BatchNormalization", [f"c{i}", *parts], [f"b{i}"]),
            helper.make_node("Relu", [f"b{i}"], [f"r{i}"]),
        ]
    nodes += [
        helper.make_node("Add", ["r1", "r2"], ["s"]),
        helper.make_node("GlobalAveragePool", ["s"], ["y"]),
    ]
    image = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 16, 16])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 8, 1, 1])
    graph = helper.make_graph(nodes, "network", [image], [result], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return from_onnx(model)


CASES.append(
    Case("network from ONNX", _network, tuple(Run((f32(n, 3, 16, 16),), {"n": n}) for n in (1, 2, 5)))
)
