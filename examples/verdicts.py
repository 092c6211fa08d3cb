"""One function for each way in which a verdict is reached."""

from __future__ import annotations

from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Verdicts:
    @R.function(pure=False)
    def numbers():
        storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        tensor = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
        return tensor

    @R.function(pure=False)
    def polynomial(x: R.Tensor(("n", "m"), "float32")):
        n = T.int64()
        m = T.int64()
        storage = R.memory.alloc_storage(R.shape([8 * n * m + 64]), 0, "global", "uint8")
        tensor = R.memory.alloc_tensor(storage, 64, R.shape([n, m]), "float32")
        return tensor

    @R.function(pure=False)
    def rounded(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        storage = R.memory.alloc_storage(R.shape([(n + 15) // 16 * 64]), 0, "global", "uint8")
        tensor = R.memory.alloc_tensor(storage, 0, R.shape([n]), "float32")
        return tensor

    @R.function(pure=False)
    def divisible(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        R.assert_op(n % 16 == 0, [n], format="n = {} is not a multiple of 16")
        storage = R.memory.alloc_storage(R.shape([n // 16 * 64]), 0, "global", "uint8")
        tensor = R.memory.alloc_tensor(storage, 0, R.shape([n]), "float32")
        return tensor

    @R.function(pure=False)
    def asserted(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        R.assert_op(n <= 4, [n], format="n = {}, but n <= 4 is needed")
        storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        tensor = R.memory.alloc_tensor(storage, 0, R.shape([n]), "float32")
        return tensor

    @R.function(pure=False)
    def declared(x: R.Tensor(("n",), "float32")):
        R.func_attr({"tir_var_upper_bound": {"n": 4}})
        n = T.int64()
        storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        tensor = R.memory.alloc_tensor(storage, 0, R.shape([n]), "float32")
        return tensor

    @R.function(pure=False)
    def mixed(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        tensor = R.memory.alloc_tensor(storage, 0, R.shape([n]), "float32")
        return tensor

    @R.function(pure=False)
    def short(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        storage = R.memory.alloc_storage(R.shape([4 * n]), 0, "global", "uint8")
        tensor = R.memory.alloc_tensor(storage, 0, R.shape([n + 1]), "float32")
        return tensor

    @R.function(pure=False)
    def packed(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        storage = R.call_packed("make_storage", ty_args=[R.Object])
        tensor = R.memory.alloc_tensor(storage, 0, R.shape([n]), "float32")
        return tensor
