"""Decoders with a paged cache, written with TVM's frontend: small in numbers, not in kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tvm import relax, te, tirx
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import op
from tvm.relax.frontend.nn.llm.kv_cache import PagedKVCache

from tests.totals.corpus_packed import cache_of

CACHE = (
    "max_batch_size",
    "max_total_seq_len",
    "prefill_chunk_size",
    "page_size",
    "support_sliding_window",
)
"""The settings of the cache, in the order in which it takes them."""


@dataclass(frozen=True)
class Shape:
    """A decoder: `heads` of the queries and of the keys; `gated` says whether the feed-forward part is."""

    name: str
    layers: int
    hidden: int
    inner: int
    heads: tuple[int, int]
    size: int
    vocabulary: int
    dtype: str = "float32"
    gated: bool = True

    @property
    def rows(self) -> int:
        """Heads of queries, keys and values together."""
        return self.heads[0] + 2 * self.heads[1]


class _FeedForward(nn.Module):  # type: ignore[misc]
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gated = shape.gated
        self.up = nn.Linear(shape.hidden, shape.inner * (2 if shape.gated else 1), bias=False)
        self.down = nn.Linear(shape.inner, shape.hidden, bias=False)

    def forward(self, x: Any) -> Any:
        """Gated, or with a plain activation."""
        if not self.gated:
            return self.down(op.gelu(self.up(x)))
        one, other = op.split(self.up(x), 2, axis=-1)
        return self.down(op.silu(one) * other)


class _Attention(nn.Module):  # type: ignore[misc]
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.qkv = nn.Linear(shape.hidden, shape.rows * shape.size, bias=False)
        self.out = nn.Linear(shape.heads[0] * shape.size, shape.hidden, bias=False)

    def forward(self, x: Any, cache: PagedKVCache, layer: int) -> Any:
        """Attention to all that the cache holds."""
        batch, length, _ = x.shape
        qkv = op.reshape(self.qkv(x), (batch, length, self.shape.rows, self.shape.size))
        heads = cache.attention_with_fused_qkv(layer, qkv, self.shape.heads[0], self.shape.size**-0.5)
        return self.out(op.reshape(heads, (batch, length, self.shape.heads[0] * self.shape.size)))


class _Layer(nn.Module):  # type: ignore[misc]
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.attention = _Attention(shape)
        self.forward_part = _FeedForward(shape)
        self.before = nn.RMSNorm(shape.hidden, -1, 1e-5, bias=False)
        self.after = nn.RMSNorm(shape.hidden, -1, 1e-5, bias=False)

    def forward(self, x: Any, cache: PagedKVCache, layer: int) -> Any:
        """One layer, with what goes around it."""
        x = x + self.attention(self.before(x), cache, layer)
        return x + self.forward_part(self.after(x))


class Decoder(nn.Module):  # type: ignore[misc]
    """Embedding, layers and logits, and the functions that serving calls."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.tokens = nn.Embedding(shape.vocabulary, shape.hidden)
        self.layers = nn.ModuleList([_Layer(shape) for _ in range(shape.layers)])
        self.norm = nn.RMSNorm(shape.hidden, -1, 1e-5, bias=False)
        self.head = nn.Linear(shape.hidden, shape.vocabulary, bias=False)
        self.to(shape.dtype)

    def _hidden(self, x: Any, cache: PagedKVCache) -> Any:
        for number, layer in enumerate(self.layers):
            x = layer(x, cache, number)
        return self.norm(x)

    def _logits(self, x: Any) -> Any:
        logits = self.head(x)
        return logits.astype("float32") if self.shape.dtype != "float32" else logits

    def embed(self, ids: nn.Tensor) -> Any:
        """The rows of some tokens."""
        return self.tokens(ids)

    def prefill(self, x: nn.Tensor, cache: PagedKVCache) -> Any:
        """A prompt; the logits of its last token."""

        def last(each: te.Tensor) -> te.Tensor:
            batch, length, width = each.shape
            return te.compute((batch, 1, width), lambda i, _, k: each[i, length - 1, k], name="last")

        hidden = op.tensor_expr_op(last, name_hint="last", args=[self._hidden(x, cache)])
        return self._logits(hidden), cache

    def decode(self, x: nn.Tensor, cache: PagedKVCache) -> Any:
        """One token of each sequence."""
        return self._logits(self._hidden(x, cache)), cache

    def create_cache(
        self,
        max_batch_size: tirx.Var,
        max_total_seq_len: tirx.Var,
        prefill_chunk_size: tirx.Var,
        page_size: tirx.Var,
        support_sliding_window: tirx.Var,
    ) -> Any:
        """The paged cache of all layers."""
        sizes = max_batch_size, max_total_seq_len, prefill_chunk_size, page_size, support_sliding_window
        shape = self.shape
        return cache_of(sizes, shape.layers, shape.heads, shape.size, shape.dtype)


def exported(shape: Shape, bounds: dict[str, int] | None = None) -> tuple[Any, list[tuple[str, Any]]]:
    """The module, and its parameters by name. `bounds` are declared in every function."""
    packed = {"param_mode": "packed", "effect_mode": "none"}
    cache = nn.spec.Object(object_type=PagedKVCache)
    spec = {
        "embed": {"ids": nn.spec.Tensor(["seq_len"], "int32"), "$": packed},
        "prefill": {
            "x": nn.spec.Tensor([1, "seq_len", shape.hidden], shape.dtype),
            "cache": cache,
            "$": packed,
        },
        "decode": {
            "x": nn.spec.Tensor(["batch_size", 1, shape.hidden], shape.dtype),
            "cache": cache,
            "$": packed,
        },
        "create_cache": {**dict.fromkeys(CACHE, int), "$": {"param_mode": "none", "effect_mode": "none"}},
    }
    module, parameters = Decoder(shape).export_tvm(spec, allow_extern=False)
    for name, function in module.functions.items():
        if bounds and isinstance(function, relax.Function):
            module[name] = function.with_attr("tir_var_upper_bound", bounds)
    return module, parameters


TINY = Shape("tiny llama", 2, 256, 688, (8, 4), 32, 1000)
