"""`Schedule.reindex` copies what a block reads into a buffer with one element for each step of the block, and
does so also for the steps in which a condition keeps the block from reading: the last one reads behind the
argument. The number is not used. Where no memory is behind the argument, the process may end.
"""

import numpy as np
import tvm
from tvm import relax, s_tir
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def shifted(x: T.Buffer((16384,), "float32"), y: T.Buffer((16384,), "float32")):
        for i in range(16384):
            with T.sblock("shifted"):
                a = T.axis.spatial(16384, i)
                y[a] = T.if_then_else(a + 1 < 16384, x[a + 1], T.float32(0))

    @R.function
    def main(x: R.Tensor((16384,), "float32")) -> R.Tensor((16384,), "float32"):
        cls = Module
        y = R.call_tir(cls.shifted, (x,), out_ty=R.Tensor((16384,), "float32"))
        return y


@tvm.transform.module_pass(opt_level=0, name="ReIndex")
class ReIndex:
    def transform_module(self, module, context):
        schedule = s_tir.Schedule(module)
        schedule.work_on("shifted")
        schedule.reindex("shifted", ("read", 0))
        return schedule.mod


PASSES = [ReIndex()]
PIPELINE = "default"
ARGUMENTS = [np.ones(16384, "float32")]
CALLS = 1


def results(module, pipeline):
    built = tvm.compile(module, target="llvm", relax_pipeline=pipeline)
    machine = relax.VirtualMachine(built, tvm.cpu())
    arguments = [tvm.runtime.tensor(values) for values in ARGUMENTS]
    return [machine["main"](*arguments).numpy() for _ in range(CALLS)]


if __name__ == "__main__":
    print("right, though it reads outside:", *results(tvm.transform.Sequential(PASSES)(Module), PIPELINE))
