"""The kernels that TVM writes for language models: paged attention, rotary positions, scans and sampling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tvm.relax.backend.gpu_generic import cumsum, sampling
from tvm.relax.frontend.nn.llm import kv_cache, position_embedding

_HEADS, _KV_HEADS, _WIDTH, _PAGE = 8, 4, 64, 16
_NO_SCALING: dict[str, Any] = {}


def kernels(target: Any) -> Iterator[tuple[str, Any]]:
    """Names and PrimFuncs; what this version of TVM does not make for a target is left out."""
    makers = _for_every_target()
    makers |= _for_cpu() if target.kind.name == "llvm" else _for_gpu(target)
    for name, make in makers.items():
        try:
            yield name, make()
        except Exception:
            # The makers check limits of the target with assertions of their own.
            continue


Makers = dict[str, Callable[[], Any]]


def _for_every_target() -> Makers:
    dtype = "float16"
    return {
        "kv append": lambda: kv_cache._kv_cache_transpose_append(_KV_HEADS, _WIDTH, dtype, _PAGE),
        "kv append mla": lambda: kv_cache._kv_cache_transpose_append_mla(_WIDTH, dtype, _PAGE),
        "kv debug": lambda: kv_cache._kv_cache_debug_get_kv(2, _KV_HEADS, _WIDTH, dtype),
        "kv debug mla": lambda: kv_cache._kv_cache_debug_get_kv_mla(2, _WIDTH, dtype),
        "rope": lambda: position_embedding.llama_rope_with_position_map(
            10000.0, 1.0, _WIDTH, _HEADS, _KV_HEADS, dtype, _NO_SCALING, _WIDTH
        ),
    }


def _for_cpu() -> Makers:
    dtype, sizes = "float32", (_KV_HEADS, _HEADS, _WIDTH, "float32")
    return {
        "decode": lambda: kv_cache._attention_decode_cpu(*sizes, False, _NO_SCALING),
        "decode sliding": lambda: kv_cache._attention_decode_cpu(*sizes, True, _NO_SCALING),
        "prefill": lambda: kv_cache._attention_prefill_cpu(*sizes, False, _NO_SCALING),
        "prefill sliding": lambda: kv_cache._attention_prefill_cpu(*sizes, True, _NO_SCALING),
        "prefill ragged": lambda: kv_cache._attention_prefill_ragged_cpu(
            _KV_HEADS, _HEADS, _WIDTH, _WIDTH, dtype, _NO_SCALING
        ),
        "merge state": lambda: kv_cache._merge_state_inplace_cpu(dtype),
        "copy page": lambda: kv_cache._copy_single_page_cpu(_KV_HEADS, _PAGE, _WIDTH, dtype),
        "compact": lambda: kv_cache._compact_kv_copy_cpu(_KV_HEADS, _WIDTH, dtype),
        "tree attention": lambda: kv_cache.tree_attn_cpu(*sizes, _NO_SCALING),
        "tree attention paged": lambda: kv_cache.tree_attn_with_paged_kv_cache_cpu(*sizes, _NO_SCALING),
    }


def _for_gpu(target: Any) -> Makers:
    dtype, sizes = "float16", (_KV_HEADS, _HEADS, _WIDTH, "float16")
    return {
        "decode": lambda: kv_cache._attention_decode(*sizes, False, _NO_SCALING, target),
        "decode sliding": lambda: kv_cache._attention_decode(*sizes, True, _NO_SCALING, target),
        "prefill": lambda: kv_cache._attention_prefill(*sizes, False, _NO_SCALING, target),
        "prefill sliding": lambda: kv_cache._attention_prefill(*sizes, True, _NO_SCALING, target),
        "prefill ragged": lambda: kv_cache._attention_prefill_ragged(
            _KV_HEADS, _HEADS, _WIDTH, _WIDTH, dtype, _NO_SCALING, target
        ),
        "prefill mla": lambda: kv_cache._attention_prefill_mla(_HEADS, 64, 16, dtype, False, target),
        "prefill sequence": lambda: kv_cache._attention_sequence_prefill(*sizes, target),
        "prefill masked": lambda: kv_cache._attention_sequence_prefill_with_mask(*sizes, target),
        "merge state": lambda: kv_cache._merge_state_inplace(_HEADS, _WIDTH, dtype, target),
        "copy page": lambda: kv_cache._copy_single_page(_KV_HEADS, _PAGE, _WIDTH, dtype, target),
        "copy page mla": lambda: kv_cache._copy_single_page_mla(_PAGE, _WIDTH, dtype, target),
        "compact": lambda: kv_cache._compact_kv_copy(_KV_HEADS, _WIDTH, dtype, target),
        "tree attention": lambda: kv_cache.tree_attn(*sizes, _NO_SCALING, target),
        "tree attention paged": lambda: kv_cache.tree_attn_with_paged_kv_cache(*sizes, _NO_SCALING, target),
        "cumsum": lambda: cumsum.gpu_2d_continuous_cumsum(in_dtype="int32", out_dtype="int32"),
        "cumsum axis 1": lambda: cumsum.gpu_3d_axis_1_cumsum(),
        "multinomial": lambda: sampling.gpu_multinomial_from_uniform(),
        "sample index": lambda: sampling.generic_get_sample_index(),
    }
