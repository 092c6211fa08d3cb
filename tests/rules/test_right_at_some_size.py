"""RLX203 and RLX206 of what is right at one size only, or only of many elements: it is not wrong at all sizes."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

KERNEL = """
@T.prim_func(private=True, s_tir=True)
def {name}(y_: T.handle):
    n = T.int64()
    y = T.match_buffer(y_, (n,), "float32")
    for i in range({extent}):
        y[i] = {value}
"""
# The extent of the loop, what is stored in each step, and at which of some sizes that does harm.
SIZES = (1, 2, 3, 150)
CASES = {
    "half": ("n // 2", "y[i] * T.float32(2)", (2, 3, 150)),
    "but_one": ("n - 1", "y[i] * T.float32(2)", (2, 3, 150)),
    "of_few": ("n", "T.if_then_else(n > 100, y[i], y[i] * T.float32(2))", (1, 2, 3)),
    "all_of_it": ("n", "y[i] * T.float32(2)", (1, 2, 3, 150)),
}
FUNCTION = """
@R.function(pure=False)
def {name}_main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    a = R.add(x, x)
    b = R.call_tir_inplace(Module.{name}, (a,), inplace_indices=[0], out_ty=[R.Tensor((n,), "float32")])
    return (a, b)
"""


def text() -> str:
    """The module."""
    kernels = (KERNEL.format(name=name, extent=one[0], value=one[1]) for name, one in CASES.items())
    return "".join(kernels) + "".join(FUNCTION.format(name=name) for name in CASES)


def test_what_is_right_at_some_size_is_not_certain() -> None:
    found = [one for one in checks(parse(text()), "RLX206") if one.verdict.value != "always-fine"]
    for name, (_, _, harmed) in CASES.items():
        (told,) = (one for one in found if one.function == f"{name}_main")
        assert told.safe_when == ("n <= 0" if harmed == SIZES else None), name


@pytest.mark.vm
@pytest.mark.parametrize("name", CASES)
def test_the_machine_doubles_what_has_an_older_name(name: str) -> None:
    machine = relax.VirtualMachine(tvm.compile(parse(text()), "llvm"), tvm.cpu())
    for size in SIZES:
        x = np.arange(1, size + 1, dtype="float32")
        older = machine[f"{name}_main"](tvm.runtime.tensor(x))[0].numpy()
        assert np.array_equal(older, x + x) == (size not in CASES[name][2]), size
