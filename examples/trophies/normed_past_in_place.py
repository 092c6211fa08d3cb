"""FoldBatchnormToConv2D replaces a convolution and the normalisation behind it by one convolution where
the normalisation was, which reads `a` after `increment` overwrote it.
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
    def increment(values: T.Buffer((T.int64(1), T.int64(2), T.int64(2), T.int64(2)), "float32")):
        for i, j, k in T.grid(T.int64(2), T.int64(2), T.int64(2)):
            with T.sblock("increment"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                values[T.int64(0), vi, vj, vk] = values[T.int64(0), vi, vj, vk] + T.float32(1)

    @R.function
    def main(x: R.Tensor((1, 2, 2, 2), "float32")) -> R.Tensor((1, 2, 2, 2), "float32"):
        cls = Module
        with R.dataflow():
            a = R.exp(x)
            convolved = R.nn.conv2d(a, R.const([[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]], "float32"))
            changed = R.call_tir_inplace(
                cls.increment, (a,), inplace_indices=[0], out_ty=R.Tensor((1, 2, 2, 2), "float32")
            )
            normed = R.nn.batch_norm(
                convolved,
                R.const([1.0, 2.0], "float32"),
                R.const([0.0, 1.0], "float32"),
                R.const([0.0, 1.0], "float32"),
                R.const([1.0, 4.0], "float32"),
                axis=1,
                training=False,
            )
            first = normed[0]
            result = R.add(first, changed)
            R.output(result)
        return result


PASSES = [relax.transform.FoldBatchnormToConv2D()]
PIPELINE = "default"
ARGUMENTS = [np.arange(8, dtype="float32").reshape(1, 2, 2, 2) / 8]
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
