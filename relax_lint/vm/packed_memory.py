"""What packed functions of TVM's runtime allocate besides the VM's allocator: one row for each of them.

From TVM's `src/runtime/vm` (`builtin.cc`, `kv_state.cc`, `paged_kv_cache.cc`, `attn_utils.h`, `rnn_state.cc`,
`lm_support.cc`) and `src/runtime/extra/contrib/sort/sort.cc`. A function without a row may allocate anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from relax_lint.support.lazy_dataclass import dataclass

CACHE_DEPTHS = 2
"""`kPagedKVCacheMaxBlockDepth`: each of the paged cache's arrays on common prefixes is there so often."""

TREE_SIZE = 256
"""`kTreeAttnMaxTreeSize`."""

CACHE_AUXILIARY_ELEMENTS = 32 << 20
"""Elements of int32 that the paged cache reserves, on the host and on the device, for the arrays that kernels
read; where the device is a CPU or CUDA."""

INDEX_BYTES = 4
"""The auxiliary arrays of caches and states are of int32."""

SORTED_PAIR_BYTES = 16
"""Sorting keeps pairs of an index (int64) and a value of at most 8 bytes."""


class Takes(Enum):
    """What becomes of the memory that a function takes."""

    NOTHING = auto()
    OBJECT = auto()
    """What it returns holds the memory."""
    SCRATCH = auto()
    """It is given back before the call returns; at most so much."""
    UNCOUNTED = auto()
    """How much depends on what happened before."""


@dataclass(frozen=True)
class PackedRow:
    """One packed function; `note` says why its memory is not counted."""

    name: str
    takes: Takes
    note: str = ""


PAGED_CACHE = "vm.builtin.paged_attention_kv_cache_create"
LEGACY_CACHE = "vm.builtin.attention_kv_cache_create"
RNN_STATE = "vm.builtin.rnn_state_create"
COPY_TO_DEVICE = "vm.builtin.to_device"
ZERO_OFFSET = "vm.builtin.ensure_zero_offset"
SORT = "tvm.contrib.sort.sort"
ARGSORT = "tvm.contrib.sort.argsort"
ARGSORT_NMS = "tvm.contrib.sort.argsort_nms"
TOP_K = "tvm.contrib.sort.topk"

_GROWS = "it doubles the cache where that is full"
_KERNELS = "the kernels that it calls may request workspaces"
_GRAPH = "what a captured graph takes belongs to the driver"
_NOTHING = [
    "alloc_shape_heap",
    "alloc_storage",
    "alloc_tensor",
    "attention_kv_cache_array_clear",
    "attention_kv_cache_array_popn",
    "attention_kv_cache_update",
    "attention_kv_cache_view",
    "attention_kv_cache_get_query_positions",
    "attention_kv_cache_empty",
    "attention_kv_cache_get_num_available_pages",
    "attention_kv_cache_get_total_sequence_length",
    "attention_kv_cache_enable_sliding_window_for_seq",
    "check_func_info",
    "check_prim_value_info",
    "check_shape_info",
    "check_string_info",
    "check_tensor_info",
    "check_tuple_info",
    "copy",
    "kv_state_add_sequence",
    "kv_state_begin_forward",
    "kv_state_clear",
    "kv_state_end_forward",
    "kv_state_fork_sequence",
    "kv_state_popn",
    "kv_state_remove_sequence",
    "make_prim_value",
    "make_shape",
    "make_tuple",
    "match_prim_value",
    "match_shape",
    "null_value",
    "read_if_cond",
    "reshape",
    "shape_of",
    "tensor_to_shape",
    "tuple_getitem",
    "tuple_reset_item",
    "apply_softmax_with_temperature",
    "apply_repetition_penalty",
    "apply_presence_and_frequency_penalty",
]
_CALLS_KERNELS = [
    "attention_kv_cache_append_mla_kv",
    "attention_kv_cache_attention_with_fused_qkv",
    "attention_kv_cache_cross_attention",
    "attention_kv_cache_merge_attn_output_inplace",
    "attention_kv_cache_self_attention",
    "rnn_state_get",
    "rnn_state_set",
]
_RUNTIME = ("CreateView", "CopyFromTo", "CopyFromBytes", "CopyToBytes")

_ROWS = (
    *(PackedRow(f"vm.builtin.{name}", Takes.NOTHING) for name in _NOTHING),
    *(PackedRow(f"runtime.TVMTensor{name}", Takes.NOTHING) for name in _RUNTIME),
    PackedRow(PAGED_CACHE, Takes.OBJECT),
    PackedRow(LEGACY_CACHE, Takes.OBJECT),
    PackedRow(RNN_STATE, Takes.OBJECT),
    PackedRow(COPY_TO_DEVICE, Takes.OBJECT),
    PackedRow(ZERO_OFFSET, Takes.NOTHING),
    PackedRow(SORT, Takes.SCRATCH),
    PackedRow(ARGSORT, Takes.SCRATCH),
    PackedRow(ARGSORT_NMS, Takes.SCRATCH),
    PackedRow(TOP_K, Takes.SCRATCH),
    PackedRow("vm.builtin.attention_kv_cache_append", Takes.UNCOUNTED, _GROWS),
    PackedRow("vm.builtin.attention_kv_cache_window_override", Takes.UNCOUNTED, _GROWS),
    PackedRow("vm.builtin.attention_kv_cache_window_override_with_sinks", Takes.UNCOUNTED, _GROWS),
    *(PackedRow(f"vm.builtin.{name}", Takes.UNCOUNTED, _KERNELS) for name in _CALLS_KERNELS),
    PackedRow("vm.builtin.cuda_graph.run_or_capture", Takes.UNCOUNTED, _GRAPH),
    PackedRow("vm.builtin.cuda_graph.get_cached_alloc", Takes.UNCOUNTED, _GRAPH),
)

PACKED_MEMORY: Mapping[str, PackedRow] = {row.name: row for row in _ROWS}
NO_ROW = "what it allocates, and what it keeps of its arguments, is not known"
