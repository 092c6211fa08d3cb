"""The table of builtins: TVM agrees with its rows, and the memory program has an operation for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm

from relax_lint.model.calls import HANDLERS
from relax_lint.vm.builtins import BUILTINS, Builtin, Operation, Returns
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


def _address(tensor: Any) -> int:
    return int(np.from_dlpack(tensor).ctypes.data)


@pytest.mark.parametrize("row", BUILTINS.values(), ids=lambda row: row.name)
def test_a_row_says_what_its_operation_needs(row: Builtin) -> None:
    assert row.is_call is (row.operation not in HANDLERS)
    assert (row.view is not None) is (row.operation is Operation.VIEW)
    assert (row.kills is not None) is (row.operation is Operation.KILL)
    assert (row.unit is not None) is row.allocates
    assert (row.level is not None) is (row.allocates and row.operation is not Operation.HEAP)
