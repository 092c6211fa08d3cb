"""Null values where the virtual machine takes a tensor, a storage or something else: RLX505, with the VM."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import findings, parse

GIVEN = """
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), b: R.Tensor((), "bool")):
        s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        n = R.null_value()
        p = (x, (n, x))
        if b:
            q = n
        else:
            q = b
        if b:
            r = n
        else:
            r = s
        LINES
        return x
"""
CONDITION = "if VALUE:\n            u = x\n        else:\n            u = x"
ON_STORAGE = 'u = R.memory.alloc_tensor(VALUE, R.prim_value(0), R.shape([4]), R.dtype("float32"))'
COPY = 'u = R.call_packed("runtime.TVMTensorCopyFromTo", VALUE, x, ty_args=R.Tuple)'
NESTED = "u = R.match_cast(p, R.Tuple(R.Tensor, R.Tuple(FIELD, R.Tensor)))"
NULL = 'v = R.call_packed("vm.builtin.copy", n, ty_args=(R.Any,))\n        '


@pytest.mark.vm
@pytest.mark.parametrize(
    ("lines", "told", "fails"),
    [
        (CONDITION.replace("VALUE", "n"), ["no input passes the branch `n is a tensor`"], (True, True)),
        (
            CONDITION.replace("VALUE", "q"),
            ["not every path passes the branch `q is a tensor`"],
            (True, False),
        ),
        (CONDITION.replace("VALUE", "b"), [], (False, False)),
        (ON_STORAGE.replace("VALUE", "n"), ["no input passes the allocation `n is a storage`"], (True, True)),
        (
            NULL + ON_STORAGE.replace("VALUE", "v"),
            ["no input passes the allocation `v is a storage`"],
            (True, True),
        ),
        (
            ON_STORAGE.replace("VALUE", "r"),
            ["not every path passes the allocation `r is a storage`"],
            (True, False),
        ),
        (ON_STORAGE.replace("VALUE", "s"), [], (False, False)),
        (COPY.replace("VALUE", "n"), ["no input passes the call `n is a tensor`"], (True, True)),
        (COPY.replace("VALUE", "x"), [], (False, False)),
        (
            'u = R.call_packed("vm.builtin.reshape", n, R.shape([4]), ty_args=R.Tensor((4,), "float32"))',
            ["no input passes the view `n is a tensor`"],
            (True, True),
        ),
        ("u = R.match_cast(n, R.Tuple)", ["no input passes the match_cast `n is a tuple`"], (True, True)),
        (
            "u = R.match_cast(n, R.Callable((R.Tensor,), R.Tensor))",
            ["no input passes the match_cast `n is a function`"],
            (True, True),
        ),
        (
            NESTED.replace("FIELD", "R.Tensor"),
            ["no input passes the match_cast `n is a tensor`"],
            (True, True),
        ),
        (NESTED.replace("FIELD", "R.Any"), [], (False, False)),
    ],
)
def test_where_a_null_value_is_used(lines: str, told: list[str], fails: tuple[bool, bool]) -> None:
    module = parse(GIVEN.replace("LINES", lines))
    assert [check.message for check in findings(module, "RLX505")] == told
    # Most of these end the process: each is run in one of its own.
    assert tuple(_ends_badly(module, condition) for condition in (True, False)) == fails


def _ends_badly(module: Any, condition: bool) -> bool:
    executable = relax.build(module, "llvm")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            machine = relax.VirtualMachine(executable, tvm.cpu())
            given = (np.ones(4, "float32"), np.array(condition))
            machine["main"](*map(tvm.runtime.tensor, given))
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] != 0
