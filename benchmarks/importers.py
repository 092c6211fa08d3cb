"""Modules from TVM's importers: ONNX graphs and programs of torch.export, with fixed and symbolic extents.

Those of a library that is not installed are left out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial
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

_WEIGHTS = {
    "perceptron": {"w0": (8, 16), "b0": (16,), "w1": (16, 4), "b1": (4,)},
    "convolution": {"k0": (6, 3, 3, 3), "k1": (6, 6, 3, 3), **dict.fromkeys("stmv", (6,))},
    "attention": {**dict.fromkeys(("wq", "wk", "wv"), (16, 16)), "g": (16,), "bb": (16,)},
}
_SHAPES: dict[str, tuple[int | str, ...]] = {"convolution": ("n", 3, 12, 12), "attention": (1, "n", 16)}
_GRAPHS: dict[str, str] = {
    "perceptron": "a = Gemm(x, w0, b0); b = Relu(a); c = Gemm(b, w1, b1); y = Softmax(c, axis=-1)",
    "convolution": """
        a = Conv(x, k0, pads=[1, 1, 1, 1]); b = BatchNormalization(a, s, t, m, v); c = Relu(b)
        d = Conv(c, k1, pads=[1, 1, 1, 1]); e = Add(d, c); f = MaxPool(e, kernel_shape=[2, 2], strides=[2, 2])
        g = GlobalAveragePool(f); y = Flatten(g)""",
    "attention": """
        q = MatMul(x, wq); k = MatMul(x, wk); v = MatMul(x, wv); kt = Transpose(k, perm=[0, 2, 1])
        p = MatMul(q, kt); pp = Softmax(p, axis=-1); o = MatMul(pp, v); r = Add(o, x)
        y = LayerNormalization(r, g, bb)""",
    "shuffle": """
        a, b = Split(x, axis=1, num_outputs=2); c = Concat(b, a, axis=1); d = Reshape(c, flat); e = Exp(d)
        f = Reshape(e, back); g = Gather(f, picked, axis=1); i = ReduceMean(g, keepdims=1); y = Sub(g, i)""",
    "If": """
        s = ReduceSum(x, keepdims=0); positive = Greater(s, zero)
        z = If(positive); w = Mul(z, x); y = Exp(w)""",
}
_BRANCHES = {
    "then_branch": "p = Exp(x); pp = Relu(p); ppp = Tanh(pp)",
    "else_branch": "q = Neg(x); qq = Sigmoid(q); qqq = Abs(qq)",
}
_CONSTANTS = {
    "flat": np.array([-1]),
    "back": np.array([-1, 8]),
    "picked": np.array([0, 3, 5]),
    "zero": np.array(0, "float32"),
}


def _nodes(text: str) -> list[Any]:
    """The nodes of a graph that is written as assignments."""
    from onnx import helper as h

    nodes = []
    for statement in ast.parse("\n".join(part.strip() for part in text.replace("\n", ";").split(";"))).body:
        assert isinstance(statement, ast.Assign)
        assert isinstance(statement.value, ast.Call)
        names = [name.id for name in ast.walk(statement.targets[0]) if isinstance(name, ast.Name)]
        operator, arguments = ast.unparse(statement.value.func), map(ast.unparse, statement.value.args)
        keywords = {str(word.arg): ast.literal_eval(word.value) for word in statement.value.keywords}
        if operator == "If":
            for branch, inner in _BRANCHES.items():
                result = [h.make_tensor_value_info(inner.split("; ")[-1].split()[0], 1, None)]
                keywords[branch] = h.make_graph(_nodes(inner), branch, [], result)
        nodes.append(h.make_node(operator, list(arguments), names, **keywords))
    return nodes


def _onnx(name: str, extent: int | str) -> Any:
    from onnx import helper as h
    from tvm.relax.frontend.onnx import from_onnx

    rng = np.random.default_rng(1)
    nodes = _nodes(_GRAPHS[name])
    used = {argument for node in nodes for argument in node.input}
    tensors = {n: v for n, v in _CONSTANTS.items() if n in used}
    for weight, size in _WEIGHTS.get(name, {}).items():
        tensors[weight] = np.abs(rng.standard_normal(size) / 4).astype("float32")
    shape = [extent if e == "n" else e for e in _SHAPES.get(name, ("n", 8))]
    graph = h.make_graph(
        nodes,
        "main",
        [h.make_tensor_value_info("x", 1, shape)],
        [h.make_tensor_value_info("y", 1, None)],
        [h.make_tensor(n, h.np_dtype_to_tensor_dtype(v.dtype), v.shape, v) for n, v in tensors.items()],
    )
    return from_onnx(h.make_model(graph, opset_imports=[h.make_opsetid("", 18)]), opset=18)


def _onnx_makers() -> list[tuple[str, Callable[[], Any]]]:
    return [
        (f"onnx {name}{' symbolic' if extent == 'n' else ''}", partial(_onnx, name, extent))
        for name in _GRAPHS
        for extent in (4, "n")
    ]


# -- torch.export -----------------------------------------------------------------------------


def _torch_makers() -> list[tuple[str, Callable[[], Any]]]:
    import torch
    from torch import nn

    class Residual(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Conv2d(3, 6, 3, padding=1), nn.Conv2d(6, 6, 3, padding=1)
            self.norm, self.head = nn.BatchNorm2d(6), nn.Linear(6, 4)

        def forward(self, x: Any) -> Any:
            a = torch.relu(self.norm(self.first(x)))
            return self.head((self.second(a) + a).mean(dim=(2, 3)))

    class Attention(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.qkv, self.out, self.norm = nn.Linear(16, 48), nn.Linear(16, 16), nn.LayerNorm(16)

        def forward(self, x: Any) -> Any:
            q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
            return x + self.out(torch.softmax(q @ k.transpose(-1, -2) / 4, dim=-1) @ v)

    class Views(nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            a = (x + x).reshape(-1)
            b = torch.exp(a).view(x.shape)
            c, d = b.split(4, dim=1)
            return torch.cat((d, c), dim=1) * b - x.cumsum(dim=1)

    class Gated(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.gate, self.up, self.down = nn.Linear(8, 32), nn.Linear(8, 32), nn.Linear(32, 8)

        def forward(self, x: Any) -> Any:
            return self.down(nn.functional.silu(self.gate(x)) * self.up(x)) + x

    class Choice(nn.Module):  # type: ignore[misc]
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
        (f"torch {kind.__name__}{' symbolic' if symbolic else ''}", partial(made, kind, symbolic=symbolic))
        for kind in inputs
        for symbolic in (False, True)
    ]
