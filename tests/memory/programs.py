"""The modules that these tests report on, as text."""

from __future__ import annotations

HEADER = "from tvm.script import ir as I, relax as R, tirx as T\n\n\n"

# Two storages of 4*n and 1000 bytes one after the other, then 16*n + 8 bytes of both kinds.
SYMBOLIC = (
    HEADER
    + """@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        R.func_attr({"tir_var_upper_bound": {"n": 2048}})
        n = T.int64()
        s = R.memory.alloc_storage(R.shape([1000]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(s, 0, R.shape([250]), "float32")
        k = R.memory.kill_tensor(a)
        k1 = R.memory.kill_storage(s)
        t = R.memory.alloc_storage(R.shape([4 * n]), 0, "global", "uint8")
        b = R.memory.alloc_tensor(t, 0, R.shape([n]), "float32")
        return b
"""
)

BRANCHES = (
    HEADER
    + """@I.ir_module
class Branching:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        s = R.memory.alloc_storage(R.shape([4 * n]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(s, 0, R.shape([n]), "float32")
        if c:
            t = R.memory.alloc_storage(R.shape([8 * n]), 0, "global", "uint8")
            b = R.memory.alloc_tensor(t, 0, R.shape([n]), "float32")
            r = R.add(a, b)
        else:
            r = R.add(a, a)
        return r
"""
)
