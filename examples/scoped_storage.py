"""A clean one: the size of an `R.vm` storage counts elements of its dtype, here 4 floats of 4 bytes."""

from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func
    def add(x: T.Buffer((2, 2), "float32"), y: T.Buffer((2, 2), "float32"), out: T.Buffer((2, 2), "float32")):
        T.func_attr({"global_symbol": "add"})
        for i, j in T.grid(2, 2):
            out[i, j] = x[i, j] + y[i, j]

    @R.function(pure=False)
    def main(x: R.Tensor((2, 2), "float32")) -> R.Tensor((2, 2), "float32"):
        storage = R.vm.alloc_storage(
            R.shape([2 * 2]), runtime_device_index=0, dtype="float32", storage_scope="global"
        )
        alloc = R.vm.alloc_tensor(storage, offset=0, shape=R.shape([2, 2]), dtype="float32")
        Module.add(x, x, alloc)
        return alloc
