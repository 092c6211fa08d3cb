"""FuseOpsByPattern, which FuseTransposeMatmul calls, puts a matched group where its last operator was:
the transposed `a` was read before `increment` overwrites `a`, the product of the group reads it
afterwards.
"""

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def increment(values: T.Buffer((T.int64(4), T.int64(4)), "float32")):
        for i, j in T.grid(T.int64(4), T.int64(4)):
            with T.sblock("increment"):
                vi, vj = T.axis.remap("SS", [i, j])
                values[vi, vj] = values[vi, vj] + T.float32(1)

    @R.function
    def main(x: R.Tensor((4, 4), "float32"), y: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
        cls = Module
        with R.dataflow():
            a = R.add(x, y)
            transposed = R.permute_dims(a)
            changed = R.call_tir_inplace(
                cls.increment, (a,), inplace_indices=[0], out_ty=R.Tensor((4, 4), "float32")
            )
            later = R.multiply(changed, x)
            result = R.matmul(later, transposed)
            R.output(result)
        return result


PASSES = [relax.transform.FuseTransposeMatmul()]
PIPELINE = "default"
ARGUMENTS = [
    np.arange(16, dtype="float32").reshape(4, 4) / 8,
    np.arange(16, 0, -1, dtype="float32").reshape(4, 4) / 8,
]
CALLS = 1


def results(module, pipeline):
    if pipeline == "cpu":
        pipeline = relax.get_default_pipeline(tvm.target.Target("llvm"))
    built = tvm.compile(module, target="llvm", relax_pipeline=pipeline)
    machine = relax.VirtualMachine(built, tvm.cpu())
    arguments = [tvm.runtime.tensor(values) for values in ARGUMENTS]
    return [machine["main"](*arguments).numpy() for _ in range(CALLS)]


if __name__ == "__main__":
    print("right:", *results(Module, "default"))
    print("wrong:", *results(tvm.transform.Sequential(PASSES)(Module), PIPELINE))
