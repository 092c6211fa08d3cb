"""A decoder-only transformer with a symbolic sequence length and, if wanted, batch, built with TVM's own frontend
and passes.
"""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import op

WIDTH = 64
HEADS = 4
VOCABULARY = 128
CONTEXT = 2048

# The CPU pipeline of `tvm.compile`, cut where a module is worth looking at.
STAGES: dict[str, list[Any]] = {
    "fused": [
        relax.transform.LegalizeOps(),
        relax.transform.AnnotateTIROpPattern(),
        relax.transform.FoldConstant(),
        relax.transform.FuseOps(),
        relax.transform.FuseTIR(),
    ],
    "allocated": [
        relax.transform.RewriteDataflowReshape(),
        relax.transform.ToNonDataflow(),
        relax.transform.RemovePurityChecking(),
        relax.transform.CallTIRRewrite(),
    ],
    "planned": [relax.transform.StaticPlanBlockMemory()],
    "killed": [relax.transform.LowerAllocTensor(), relax.transform.KillAfterLastUse()],
    "lowered": [relax.transform.LowerRuntimeBuiltin(), relax.transform.ComputePrimValue()],
    "shapes": [relax.transform.VMShapeLower()],
}


class _Layer(nn.Module):
    def __init__(self) -> None:
        self.attention_norm = nn.RMSNorm(WIDTH, -1, bias=False)
        self.query = nn.Linear(WIDTH, WIDTH, bias=False)
        self.key = nn.Linear(WIDTH, WIDTH, bias=False)
        self.value = nn.Linear(WIDTH, WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.mlp_norm = nn.RMSNorm(WIDTH, -1, bias=False)
        self.gate = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.up = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.down = nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x: Any, mask: Any) -> Any:
        batch, length = x.shape[0], x.shape[1]
        normal = self.attention_norm(x)
        query, key, value = (
            _to_heads(project(normal), batch, length) for project in (self.query, self.key, self.value)
        )
        scores = op.matmul(query, op.permute_dims(key, [0, 1, 3, 2])) / (WIDTH // HEADS) ** 0.5
        mixed = op.matmul(op.softmax(scores + mask, axis=-1), value)
        x = x + self.out(op.reshape(op.permute_dims(mixed, [0, 2, 1, 3]), (batch, length, WIDTH)))
        normal = self.mlp_norm(x)
        return x + self.down(op.silu(self.gate(normal)) * self.up(normal))


def _to_heads(part: Any, batch: Any, length: Any) -> Any:
    return op.permute_dims(op.reshape(part, (batch, length, HEADS, WIDTH // HEADS)), [0, 2, 1, 3])


class _Decoder(nn.Module):
    def __init__(self, layers: int) -> None:
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList([_Layer() for _ in range(layers)])
        self.norm = nn.RMSNorm(WIDTH, -1, bias=False)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens: Any) -> Any:
        x = self.embedding(tokens)
        length = tokens.shape[1]
        causal = op.triu(op.full((1, 1, length, length), -1e9, "float32"), 1)
        for layer in self.layers:
            x = layer(x, causal)
        return self.head(self.norm(x))


def exported(layers: int, *, bounded: bool, batch: int | str = 1) -> Any:
    """The model as the frontend exports it; `bounded` declares that the length `n` is at most CONTEXT. `batch` may
    be the name of a symbol.
    """
    tokens = nn.spec.Tensor([batch, "n"], "int32")
    module, _ = _Decoder(layers).export_tvm({"forward": {"tokens": tokens}})
    if bounded:
        name = module.get_global_var("forward")
        module[name] = module[name].with_attr("tir_var_upper_bound", {"n": CONTEXT})
    return module


def lowered(layers: int, *, bounded: bool, stage: str = "planned") -> Any:
    """The model after the passes up to and including `stage`."""
    module = exported(layers, bounded=bounded)
    names = list(STAGES)
    with tvm.target.Target("llvm"):
        for name in names[: names.index(stage) + 1]:
            module = tvm.transform.Sequential(STAGES[name])(module)
    return module


def binding_count(module: Any) -> int:
    """The number of bindings of `forward`."""
    return sum(len(block.bindings) for block in module["forward"].body.blocks)
