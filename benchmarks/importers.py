"""Modules from TVM's importers: ONNX graphs and programs of torch.export, with fixed and symbolic extents.

Those of a library that is not installed are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np


def imported() -> Iterator[tuple[str, Any]]:
    """Names and modules; what this version of TVM does not import is left out."""
    makers: list[tuple[str, Callable[[], Any]]] = []
    if find_spec("onnx") is not None:
        makers += _onnx_makers()
    if find_spec("torch") is not None:
        makers += _torch_makers()
    for name, make in makers:
        try:
            module = make()
        except Exception as error:
            print(f"{name}: not imported: {type(error).__name__}: {str(error).strip()[:90]}")
        else:
            yield name, module


# -- ONNX -------------------------------------------------------------------------------------


def _onnx_makers() -> list[tuple[str, Callable[[], Any]]]:
    from onnx import helper as h

    rng = np.random.default_rng(1)

    def weights(*shape: int) -> Any:
        return (rng.standard_normal(shape) / 4).astype("float32")

    def then_branch(name: str, operators: tuple[str, ...]) -> Any:
        """Operators one after another on `x`."""
        nodes, last = [], "x"
        for position, operator in enumerate(operators):
            result = f"{name}{position}"
            nodes.append(h.make_node(operator, [last], [result]))
            last = result
        return h.make_graph(nodes, name, [], [h.make_tensor_value_info(last, 1, None)])

    perceptron = [
        h.make_node("Gemm", ["x", "w0", "b0"], ["a"]),
        h.make_node("Relu", ["a"], ["b"]),
        h.make_node("Gemm", ["b", "w1", "b1"], ["c"]),
        h.make_node("Softmax", ["c"], ["y"], axis=-1),
    ]
    convolution = [
        h.make_node("Conv", ["x", "k0"], ["a"], pads=[1, 1, 1, 1]),
        h.make_node("BatchNormalization", ["a", "s", "t", "m", "v"], ["b"]),
        h.make_node("Relu", ["b"], ["c"]),
        h.make_node("Conv", ["c", "k1"], ["d"], pads=[1, 1, 1, 1]),
        h.make_node("Add", ["d", "c"], ["e"]),
        h.make_node("MaxPool", ["e"], ["f"], kernel_shape=[2, 2], strides=[2, 2]),
        h.make_node("GlobalAveragePool", ["f"], ["g"]),
        h.make_node("Flatten", ["g"], ["y"]),
    ]
    attention = [
        h.make_node("MatMul", ["x", "wq"], ["q"]),
        h.make_node("MatMul", ["x", "wk"], ["k"]),
        h.make_node("MatMul", ["x", "wv"], ["v"]),
        h.make_node("Transpose", ["k"], ["kt"], perm=[0, 2, 1]),
        h.make_node("MatMul", ["q", "kt"], ["p"]),
        h.make_node("Softmax", ["p"], ["pp"], axis=-1),
        h.make_node("MatMul", ["pp", "v"], ["o"]),
        h.make_node("Add", ["o", "x"], ["r"]),
        h.make_node("LayerNormalization", ["r", "g", "bb"], ["y"]),
    ]
    shuffle = [
        h.make_node("Split", ["x"], ["a", "b"], axis=1, num_outputs=2),
        h.make_node("Concat", ["b", "a"], ["c"], axis=1),
        h.make_node("Reshape", ["c", "flat"], ["d"]),
        h.make_node("Exp", ["d"], ["e"]),
        h.make_node("Reshape", ["e", "back"], ["f"]),
        h.make_node("Gather", ["f", "picked"], ["g"], axis=1),
        h.make_node("ReduceMean", ["g"], ["i"], keepdims=1),
        h.make_node("Sub", ["g", "i"], ["y"]),
    ]
    choice = [
        h.make_node("ReduceSum", ["x"], ["s"], keepdims=0),
        h.make_node("Greater", ["s", "zero"], ["positive"]),
        h.make_node(
            "If",
            ["positive"],
            ["z"],
            then_branch=then_branch("p", ("Exp", "Relu", "Tanh")),
            else_branch=then_branch("q", ("Neg", "Sigmoid", "Abs")),
        ),
        h.make_node("Mul", ["z", "x"], ["w"]),
        h.make_node("Exp", ["w"], ["y"]),
    ]
    integers = {"flat": [-1], "back": [-1, 8], "picked": [0, 3, 5]}
    constants = {name: np.array(value, "int64") for name, value in integers.items()}
    constants["zero"] = np.array(0, "float32")
    variables: dict[str, Any] = {
        "perceptron": (perceptron, ("n", 8), {"w0": (8, 16), "b0": (16,), "w1": (16, 4), "b1": (4,)}),
        "convolution": (
            convolution,
            ("n", 3, 12, 12),
            {"k0": (6, 3, 3, 3), "k1": (6, 6, 3, 3), **dict.fromkeys("stmv", (6,))},
        ),
        "attention": (
            attention,
            (1, "n", 16),
            {**dict.fromkeys(("wq", "wk", "wv"), (16, 16)), "g": (16,), "bb": (16,)},
        ),
        "shuffle": (shuffle, ("n", 8), {}),
        "If": (choice, ("n", 8), {}),
    }

    def made(name: str, extent: int | str) -> Any:
        from tvm.relax.frontend.onnx import from_onnx

        nodes, shape, shapes = variables[name]
        shape = [extent if e == "n" else e for e in shape]
        used = {i for node in nodes for i in node.input}
        tensors = {n: v for n, v in constants.items() if n in used}
        tensors |= {n: np.abs(weights(*s)) for n, s in shapes.items()}
        graph = h.make_graph(
            nodes,
            "main",
            [h.make_tensor_value_info("x", 1, shape)],
            [h.make_tensor_value_info("y", 1, None)],
            [h.make_tensor(n, h.np_dtype_to_tensor_dtype(v.dtype), v.shape, v) for n, v in tensors.items()],
        )
        return from_onnx(h.make_model(graph, opset_imports=[h.make_opsetid("", 18)]), opset=18)

    return [
        (f"onnx {name}{' symbolic' if extent == 'n' else ''}", lambda n=name, e=extent: made(n, e))
        for name in variables
        for extent in (4, "n")
    ]


# -- torch.export -----------------------------------------------------------------------------


def _torch_makers() -> list[tuple[str, Callable[[], Any]]]:
    import torch
    from torch import nn

    class Residual(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Conv2d(3, 6, 3, padding=1), nn.Conv2d(6, 6, 3, padding=1)
            self.norm, self.head = nn.BatchNorm2d(6), nn.Linear(6, 4)

        def forward(self, x: Any) -> Any:
            a = torch.relu(self.norm(self.first(x)))
            return self.head((self.second(a) + a).mean(dim=(2, 3)))

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv, self.out, self.norm = nn.Linear(16, 48), nn.Linear(16, 16), nn.LayerNorm(16)

        def forward(self, x: Any) -> Any:
            q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
            return x + self.out(torch.softmax(q @ k.transpose(-1, -2) / 4, dim=-1) @ v)

    class Views(nn.Module):
        def forward(self, x: Any) -> Any:
            a = (x + x).reshape(-1)
            b = torch.exp(a).view(x.shape)
            c, d = b.split(4, dim=1)
            return torch.cat((d, c), dim=1) * b - x.cumsum(dim=1)

    class Gated(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gate, self.up, self.down = nn.Linear(8, 32), nn.Linear(8, 32), nn.Linear(32, 8)

        def forward(self, x: Any) -> Any:
            return self.down(nn.functional.silu(self.gate(x)) * self.up(x)) + x

    class Choice(nn.Module):
        def forward(self, x: Any) -> Any:
            y = torch.cond(x.sum() > 0, lambda v: torch.tanh(torch.exp(v)), lambda v: torch.abs(-v), (x,))
            return torch.exp(y * x)

    inputs = {
        Residual: ((4, 3, 12, 12), 0),
        Attention: ((1, 6, 16), 1),
        Views: ((6, 8), 0),
        Gated: ((6, 8), 0),
        Choice: ((6, 8), 0),
    }

    def made(kind: Any, *, symbolic: bool) -> Any:
        from tvm.relax.frontend.torch import from_exported_program

        torch.manual_seed(1)
        shape, axis = inputs[kind]
        example = (torch.randn(shape),)
        dynamic = ({axis: torch.export.Dim("n", min=1, max=64)},) if symbolic else None
        with torch.no_grad():
            program = torch.export.export(kind().eval(), example, dynamic_shapes=dynamic)
        return from_exported_program(program)

    return [
        (
            f"torch {kind.__name__}{' symbolic' if symbolic else ''}",
            lambda k=kind, s=symbolic: made(k, symbolic=s),
        )
        for kind in inputs
        for symbolic in (False, True)
    ]
