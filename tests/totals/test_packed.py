"""What packed functions take, predicted and measured; what is in no total is named."""

from __future__ import annotations

from typing import Any

import pytest
import sympy
import tvm
import tvm_ffi

import relax_lint
from relax_lint.model.types import DType, OpaqueType, PrimType, ShapeType, TensorType, TupleType, ValueType
from relax_lint.totals.packed_formulas import FORMULAS, Arguments
from relax_lint.totals.quantities import Indeterminate, Scope
from relax_lint.vm.builtins import BUILTINS, Operation
from relax_lint.vm.packed_memory import PACKED_MEMORY, Takes
from tests.rules.checking import parse
from tests.totals import interposer
from tests.totals.corpus_packed import LittleKnown, paged_cache


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What the subprocess reports, over the whole corpus."""
    return interposer.run(tmp_path_factory.mktemp("meter"), "tests.totals.measuring_packed")


@pytest.mark.vm
@pytest.mark.skipif(not interposer.AVAILABLE, reason="needs gcc and LD_PRELOAD")
class TestMeasured:
    def test_objects_hold_what_is_predicted(self, rows: list[dict[str, Any]]) -> None:
        assert [row for row in rows if row["predicted"] != row["measured"]] == []
        assert [row for row in rows if row["formula"] != row["measured"]] == []
        assert sum(row["measured"] > 0 for row in rows) >= 6

    def test_sorting_takes_at_most_what_is_said(self, rows: list[dict[str, Any]]) -> None:
        sorting = [row for row in rows if row["heap at most"]]
        assert [row for row in sorting if row["heap"] > row["heap at most"]] == []
        # The bound is not far off: within a factor of three where anything large was taken.
        assert all(3 * row["heap"] >= row["heap at most"] for row in sorting if row["heap"])
        assert sum(row["heap"] > 0 for row in sorting) >= 4


def test_a_paged_cache_is_a_formula_of_its_settings() -> None:
    (total,) = relax_lint.memory(paged_cache(2, (4, 2), 16, "float16"))
    assert total.packed is not None
    assert total.packed.device is not None
    assert total.packed.not_counted == {}
    assert "max_total_seq_len" in total.packed.device.expr
    assert total.packed.device.value is None


def test_a_function_whose_arguments_tell_too_little_is_not_counted() -> None:
    (total,) = relax_lint.memory(LittleKnown)
    assert total.packed is not None
    assert total.packed.calls == ()
    assert "vm.builtin.attention_kv_cache_create" in total.packed.not_counted


# Functions of TVM's VM without a row: what they take is not known. Most are called from outside of a module.
WITHOUT_A_ROW = """
    attention_kv_cache_attention_with_shared_kv attention_kv_cache_commit_accepted_token_tree_nodes
    attention_kv_cache_debug_get_kv attention_kv_cache_debug_get_kv_mla attention_kv_cache_export_page_group
    attention_kv_cache_finish_import attention_kv_cache_get_checkpoint_metadata
    attention_kv_cache_get_layout_hash attention_kv_cache_get_sequence_length
    attention_kv_cache_import_page_group attention_kv_cache_prepare_import call_py_func call_tir_dyn
    clear_py_func_registry debug_print get_py_func invoke_closure invoke_debug_func kv_cache_disagg_mark_send
    kv_cache_disagg_prepare_recv make_closure memory_manager.clear multinomial_from_uniform
    param_array_from_cache param_array_from_cache_by_name param_array_from_cache_by_name_unpacked
    param_module_from_cache param_module_from_cache_by_name register_py_func rnn_state_debug_get
    sample_top_p_from_logits sample_top_p_from_prob tensor_cache.clear tensor_cache.get tensor_cache.load
    tensor_cache.remove tensor_cache.update
"""


@pytest.mark.skipif(tvm.__version__.startswith("0.26"), reason="the list is that of TVM 0.27")
def test_each_function_of_the_machine_has_a_row_or_is_known_to_have_none() -> None:
    begin = "vm.builtin."
    names = {name for name in tvm_ffi.registry.list_global_func_names() if name.startswith(begin)}
    assert {name.removeprefix(begin) for name in names - PACKED_MEMORY.keys()} == set(WITHOUT_A_ROW.split())


OUTSIDE_OF_THE_MACHINE = {
    **dict.fromkeys(["sort", "argsort", "argsort_nms", "topk"], ("tvm.contrib.sort.", Takes.SCRATCH)),
    **dict.fromkeys(
        ["CreateView", "CopyFromTo", "CopyFromBytes", "CopyToBytes"], ("runtime.TVMTensor", Takes.NOTHING)
    ),
}


def test_which_other_functions_have_a_row() -> None:
    registered = set(tvm_ffi.registry.list_global_func_names())
    others = {name: row.takes for name, row in PACKED_MEMORY.items() if not name.startswith("vm.builtin.")}
    assert others.keys() <= registered
    assert others == {begin + name: takes for name, (begin, takes) in OUTSIDE_OF_THE_MACHINE.items()}


def test_every_builtin_has_a_row() -> None:
    calls = (Operation.CALL, Operation.VIEW, Operation.CUDA_GRAPH)
    packed = [name for name, row in BUILTINS.items() if row.operation in calls and not row.is_operator]
    assert set(packed) - PACKED_MEMORY.keys() - {"runtime.TVMTensorCreateView"} == set()


_FUNCTIONS = 8
"""How many functions for attention a paged cache is given."""


def _cache(kind: int, *, library: int = -1) -> Any:
    """What a paged cache takes whose layers are of a kind, and whose functions are of the module but for one."""
    numbers = [ShapeType(tuple(map(sympy.Integer, each))) for each in ((2, 64, 16, 16, 0), (0, 2))]
    heads = [PrimType("int64", sympy.Integer(4)) for _ in range(4)]
    kinds = ShapeType((sympy.Integer(kind), sympy.Integer(kind)))
    element = TensorType((sympy.Integer(1),), DType("float32", 32), 1)
    before: list[ValueType] = [*numbers, *heads, kinds, *[kinds] * 5, element, *[kinds] * 2]
    names = ["ExternFunc" if library == position else "PrimFunc" for position in range(_FUNCTIONS)]
    types = [*before, *(TupleType((OpaqueType(name),)) for name in names)]
    return FORMULAS["vm.builtin.paged_attention_kv_cache_create"](Arguments(types, Scope(None)), True)


def test_what_nobody_measured_is_not_counted() -> None:
    # Two layers of 5 pages: keys and values of 4 heads, 16 tokens, 4 numbers of 4 bytes.
    assert _cache(0).device > 2 * 5 * 2 * 4 * 16 * 4 * 4
    with pytest.raises(Indeterminate, match="latent or linear"):
        _cache(1)
    for position in range(_FUNCTIONS):
        with pytest.raises(Indeterminate, match="FlashInfer"):
            _cache(0, library=position)


@pytest.mark.parametrize(
    ("offsets", "ensured", "counted"),
    [
        (("0",), True, True),
        (("0", "64", "128"), True, True),
        (("4",), True, False),
        # One that is copied is enough, wherever it stands.
        (("0", "4"), True, False),
        (("32", "64"), True, False),
        (("0", "n * 64"), True, False),
        # Nothing copies it.
        (("4",), False, True),
    ],
)
def test_a_copy_of_what_is_moved_is_not_counted(
    offsets: tuple[str, ...], ensured: bool, counted: bool
) -> None:
    lines = [
        f"t{place} = R.memory.alloc_tensor(s, {offset}, R.shape([1]), 'float32')"
        for place, offset in enumerate(offsets)
    ]
    lines.append("z = R.memory.ensure_zero_offset(t0)" if ensured else "z = t0")
    body = "".join(f"    {line}\n" for line in lines)
    module = parse(
        f"""
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    s = R.memory.alloc_storage(R.shape([64 * n + 1000]), 0, "global", "uint8")
{body}    return z
"""
    )
    (main,) = relax_lint.memory(module)
    assert main.packed is not None
    assert ("vm.builtin.ensure_zero_offset" not in main.packed.not_counted) is counted
