"""Modules whose packed functions take memory: caches, states, sorting."""

# TVMScript looks like Python but is not.
# ruff: noqa: RET504

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax, target, tirx
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn.llm.kv_cache import RopeMode, TIRPagedKVCache
from tvm.runtime import ShapeTuple
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

from tests.totals.cases import Case, Run, case, f32
from tests.totals.corpus_workspaces import CASES as KERNELS

SORTING = ("sort", "arg sort", "top k", "classes suppressed")
CASES: list[Case] = [each for each in KERNELS if each.name in SORTING]
SYMBOLS = (
    "max_batch_size",
    "max_total_seq_len",
    "prefill_chunk_size",
    "page_size",
    "support_sliding_window",
)


def cache_of(sizes: Sequence[tirx.Var], layers: int, heads: tuple[int, int], size: int, dtype: str) -> Any:
    """The paged cache that TVM's frontend makes for the CPU; `sizes` are those of `SYMBOLS`."""
    return TIRPagedKVCache(
        attn_kind="mha",
        **dict(zip(SYMBOLS, sizes, strict=True)),
        layer_partition=relax.ShapeExpr([0, layers]),
        num_hidden_layers=layers,
        num_attention_heads=heads[0],
        num_key_value_heads=heads[1],
        qk_head_dim=size,
        v_head_dim=size,
        mla_original_qk_head_dim=0,
        mla_original_v_head_dim=0,
        rope_mode=RopeMode.NORMAL,
        rope_scale=1,
        rope_theta=10000,
        rope_scaling={},
        rope_ext_factors=relax.prim_value(0),
        rotary_dim=size,
        enable_disaggregation=False,
        dtype=dtype,
        target=target.Target("llvm"),
    )


class Paged(nn.Module):
    """Makes a paged cache, as TVM's frontend for language models does."""

    def __init__(self, layers: int, heads: tuple[int, int], size: int, dtype: str) -> None:
        super().__init__()
        self.layers, self.heads, self.size, self.own_dtype = layers, heads, size, dtype

    def create(
        self,
        max_batch_size: tirx.Var,
        max_total_seq_len: tirx.Var,
        prefill_chunk_size: tirx.Var,
        page_size: tirx.Var,
        support_sliding_window: tirx.Var,
    ) -> Any:
        """The cache."""
        sizes = max_batch_size, max_total_seq_len, prefill_chunk_size, page_size, support_sliding_window
        return cache_of(sizes, self.layers, self.heads, self.size, self.own_dtype)


def paged_cache(layers: int, heads: tuple[int, int], size: int, dtype: str) -> Any:
    """A module with a function that makes the cache."""
    spec = dict.fromkeys(SYMBOLS, int) | {"$": {"param_mode": "none", "effect_mode": "none"}}
    module, _ = Paged(layers, heads, size, dtype).export_tvm({"create": spec})
    return module


def _paged(name: str, layers: int, heads: tuple[int, int], size: int, dtype: str, *settings: Any) -> Case:
    runs = tuple(
        Run(tuple(ShapeTuple([value]) for value in values), dict(zip(SYMBOLS, values, strict=True)))
        for values in settings
    )
    return Case(name, lambda: paged_cache(layers, heads, size, dtype), runs, entry="create")


CASES += [
    _paged(
        "paged cache", 4, (8, 2), 32, "float32", (1, 16, 8, 16, 0), (4, 1000, 64, 16, 0), (3, 77, 600, 8, 1)
    ),
    _paged("paged cache, half precision", 2, (4, 4), 64, "float16", (7, 4096, 128, 16, 0)),
]


@I.ir_module
class Appended:
    @R.function(pure=False)
    def main(x: R.Tensor((3, 2, 8), "float16")):
        cache = R.call_packed(
            "vm.builtin.attention_kv_cache_create", x, R.shape([2, 2, 8]), 0, ty_args=[R.Any]
        )
        return cache


CASES.append(case("cache that is doubled when made", Appended, Run((np.ones((3, 2, 8), "float16"),))))


@I.ir_module
class State:
    @T.prim_func
    def get(x: T.Buffer((4,), "float32")):
        T.evaluate(0)

    @R.function(pure=False)
    def main(x: R.Tensor((5, 3), "float32"), y: R.Tensor((6,), "int8")):
        cls = State
        state = R.call_packed(
            "vm.builtin.rnn_state_create",
            R.prim_value(2),
            R.prim_value(7),
            R.prim_value(3),
            (cls.get, cls.get),
            (cls.get, cls.get),
            (x, y),
            ty_args=[R.Any],
        )
        return state


CASES.append(case("recurrent state", State, Run((f32(5, 3), np.ones((6,), "int8")))))


@I.ir_module
class LittleKnown:
    @R.function(pure=False)
    def main(x: R.Tensor("float32", ndim=2)):
        return R.call_packed("vm.builtin.attention_kv_cache_create", x, R.shape([4, 8]), 0, ty_args=[R.Any])
