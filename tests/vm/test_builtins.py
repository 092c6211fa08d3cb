"""The table of builtins: TVM agrees with its rows, and the memory program has an operation for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm

from relax_lint.model.calls import HANDLERS
from relax_lint.vm.builtins import BUILTINS, Builtin, KillKind, Operation, Returns
from relax_lint.vm.calls import CONVENTIONS

OPERATORS = [row for row in BUILTINS.values() if row.is_operator]
FUNCTIONS = [row for row in BUILTINS.values() if not row.is_operator]
# Builds of TVM without CUDA lack these.
_CUDA = ("vm.builtin.cuda_graph.", "runtime.disco.cuda_ipc.")
_SINCE_0_27 = {"vm.builtin.check_string_info"}


@pytest.mark.parametrize("row", OPERATORS, ids=lambda row: row.name)
def test_an_operator_takes_as_many_arguments_as_tvm_says(row: Builtin) -> None:
    declared = int(tvm.ir.Op.get(row.name).num_inputs)
    # -1: any number.
    assert declared in (-1, len(row.arguments), len(row.arguments) + len(row.further))


@pytest.mark.parametrize("row", FUNCTIONS, ids=lambda row: row.name)
def test_tvm_has_the_function(row: Builtin) -> None:
    found = tvm.get_global_func(row.name, allow_missing=True)
    if tvm.__version__.startswith("0.26") and row.name in _SINCE_0_27:
        assert found is None
    else:
        assert found is not None or row.name.startswith(_CUDA)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_tvm_has_the_convention(name: str) -> None:
    assert str(tvm.ir.Op.get(name).name) == name


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("vm.builtin.copy", ()),
        ("vm.builtin.reshape", (tvm.runtime.ShapeTuple([3, 2]),)),
        ("vm.builtin.ensure_zero_offset", ()),
        ("runtime.TVMTensorCreateView", (tvm.runtime.ShapeTuple([3]), "float32", 0)),
    ],
)
def test_what_returns_a_view_or_its_argument_shares_its_memory(name: str, arguments: tuple[Any, ...]) -> None:
    given = tvm.runtime.tensor(np.arange(6, dtype="float32").reshape(2, 3))
    result = tvm.get_global_func(name)(given, *arguments)
    assert BUILTINS[name].returns in (Returns.VIEW, Returns.ARGUMENT)
    assert _address(result) == _address(given)
    assert result.same_as(given) or BUILTINS[name].returns is Returns.VIEW


@pytest.mark.parametrize("name", [row.name for row in FUNCTIONS if row.view is not None])
def test_a_view_that_copies_what_does_not_start_at_its_data_reads_it(name: str) -> None:
    whole = tvm.runtime.tensor(np.arange(6, dtype="float32"))
    shape = tvm.runtime.ShapeTuple([3])
    create = tvm.get_global_func("runtime.TVMTensorCreateView")
    given = create(whole, shape, "float32", 12)
    further = {"vm.builtin.reshape": (shape,), "runtime.TVMTensorCreateView": (shape, "float32", 0)}
    result = tvm.get_global_func(name)(given, *further.get(name, ()))
    assert BUILTINS[name].reads == ({0} if _address(result) != _address(given) else set())


def _array(values: list[Any], dtype: str) -> Any:
    return tvm.runtime.tensor(np.array(values, dtype))


NUMBERS = ([3, 1, 2], "float32"), ([1, 2, 4], "float32")
CALLS: dict[str, list[Any]] = {
    # Each argument: two contents of a tensor, or a number.
    "vm.builtin.tensor_to_shape": [(([3, 1], "int64"), ([1, 3], "int64"))],
    "runtime.TVMTensorCopyFromTo": [NUMBERS, (([7, 8, 9], "float32"),) * 2],
    "tvm.contrib.sort.argsort": [NUMBERS, (([7, 7, 7], "int32"),) * 2, 0, True],
    "tvm.contrib.sort.sort": [NUMBERS, (([7, 7, 7], "float32"),) * 2, 0, False],
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_reads_what_changes_its_outcome_and_writes_what_it_changes(name: str) -> None:
    arguments = CALLS[name]
    tensors = [place for place, one in enumerate(arguments) if isinstance(one, tuple)]
    usual = _outcome(name, arguments, None)
    written = {place for place in tensors if usual[0][place] != _list(arguments[place][0])}
    read = {
        place
        for place in set(tensors) - written
        if _without(_outcome(name, arguments, place), place) != _without(usual, place)
    }
    assert BUILTINS[name].writes == written
    assert BUILTINS[name].reads == read


def _list(contents: Any) -> list[Any]:
    values, dtype = contents
    return list(np.array(values, dtype).tolist())


def _outcome(name: str, arguments: list[Any], other: int | None) -> tuple[dict[int, list[Any]], Any]:
    """What the tensors hold after a call, and what it returns; one may begin with its other contents."""
    given = [
        _array(*one[place == other]) if isinstance(one, tuple) else one for place, one in enumerate(arguments)
    ]
    result = tvm.get_global_func(name)(*given)
    held = {place: list(one.numpy().tolist()) for place, one in enumerate(given) if hasattr(one, "numpy")}
    return held, str(result)


def _without(outcome: tuple[dict[int, list[Any]], Any], place: int) -> Any:
    held, result = outcome
    return {at: values for at, values in held.items() if at != place}, result


def _address(tensor: Any) -> int:
    return int(np.from_dlpack(tensor).ctypes.data)


@pytest.mark.parametrize("row", BUILTINS.values(), ids=lambda row: row.name)
def test_a_row_says_what_its_operation_needs(row: Builtin) -> None:
    assert row.is_call is (row.operation not in HANDLERS)
    assert (row.view is not None) is (row.operation is Operation.VIEW)
    assert (row.kills is not None) is (row.operation is Operation.KILL)
    assert (row.unit is not None) is row.allocates
    assert (row.level is not None) is (row.allocates and row.operation is not Operation.HEAP)


def test_a_kill_names_what_its_operator_is_called_after() -> None:
    kinds = {row.name.rpartition("kill_")[2]: row.kills for row in BUILTINS.values() if row.kills is not None}
    assert kinds == {
        "storage": KillKind.STORAGE,
        "tensor": KillKind.TENSOR,
        "object": KillKind.OBJECT,
    }


def test_what_a_captured_function_allocated_is_not_new_in_the_next_call() -> None:
    graphs = [row for row in BUILTINS.values() if row.operation is Operation.CUDA_GRAPH]
    assert {row.name.rpartition(".")[2] for row in graphs} == {"get_cached_alloc", "run_or_capture"}
    assert {row.returns for row in graphs} == {Returns.UNKNOWN}
