"""A tensor beside the unit of a kernel, of which nobody knows how many elements it has: RLX303, with what the VM
does.
"""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

TEXT = """
@T.prim_func(private=True, s_tir=True)
def one(a: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32", elem_offset=T.int64())
    for i in range(n):
        x[i] = T.float32(1)

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    s = R.vm.alloc_storage(R.shape([256]), R.prim_value(0), R.dtype("uint8"), R.str("global"))
    t = R.vm.alloc_tensor(s, R.prim_value(2), R.shape([EXTENT]), R.dtype("float32"))
    p = R.call_packed("vm.builtin.make_tuple", x, t, ty_args=R.Tuple(TYPE, TYPE))
    o = p[1]
    w = Module.one(o)
    return o
"""


@pytest.mark.parametrize(
    ("extent", "type_", "verdict"),
    [
        # Where no extent is known the tensor may have no element, which nothing can put out of line.
        (0, 'R.Tensor("float32", ndim=1)', Verdict.NEEDS_RUNTIME_CHECK),
        (4, 'R.Tensor("float32", ndim=1)', Verdict.NEEDS_RUNTIME_CHECK),
        (4, 'R.Tensor((4,), "float32")', Verdict.ALWAYS_WRONG),
    ],
)
def test_only_a_tensor_with_elements_is_out_of_line(extent: int, type_: str, verdict: Verdict) -> None:
    module = parse(TEXT.replace("EXTENT", str(extent)).replace("TYPE", type_))
    (found,) = checks(module, "RLX303")
    assert found.verdict is verdict
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    # The kernel counts in elements: it writes two bytes before the tensor, where there is one.
    made = machine["main"](tvm.runtime.tensor(np.zeros(4, "float32"))).numpy()
    assert made.shape == (extent,)
    assert (made == 1).all() == (extent == 0)
