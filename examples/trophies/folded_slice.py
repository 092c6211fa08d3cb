"""FoldConstant calls the legalisation of `dynamic_strided_slice`, which adds a kernel for the shape. It
keeps a call of that kernel and drops the kernel.
"""

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32")) -> R.Tensor("float32", ndim=2):
        with R.dataflow():
            result = R.dynamic_strided_slice(
                x, R.const([0, 0], "int64"), R.const([2, 4], "int64"), R.const([1, 1], "int64")
            )
            R.output(result)
        return result


PASSES = [relax.transform.FoldConstant()]
PIPELINE = "default"
ARGUMENTS = [np.ones((4, 4), "float32")]
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
