"""Models: a small network as ONNX describes it. Importing this needs onnx."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tvm.relax.frontend.onnx import from_onnx

from tests.totals.cases import Case, Run, f32


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


CASES: list[Case] = [
    Case("network from ONNX", _network, tuple(Run((f32(n, 3, 16, 16),), {"n": n}) for n in (1, 2, 5)))
]
