"""FuseTIR gives what one kernel writes and the next one overwrites one buffer. It refuses a kernel for
any number of elements behind one for four.
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
    def increment(given: T.handle):
        m = T.int64()
        values = T.match_buffer(given, (m,), "float32")
        for i in range(m):
            with T.sblock("increment"):
                vi = T.axis.spatial(m, i)
                values[vi] = values[vi] + T.float32(1)

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        with R.dataflow():
            a = R.exp(x)
            result = R.call_tir_inplace(
                cls.increment, (a,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32")
            )
            R.output(result)
        return result


PASSES = []
PIPELINE = "cpu"
ARGUMENTS = [np.ones(4, "float32")]
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
