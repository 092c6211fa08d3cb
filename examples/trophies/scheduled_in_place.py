"""The schedule that the pipelines of GPUs fall back to refuses every kernel that reads what it writes, as one
that works in place does.
"""

import numpy as np
import tvm
from tvm import relax
from tvm.s_tir import dlight
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def increment(values: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("increment"):
                v = T.axis.spatial(4, i)
                values[v] = values[v] + T.float32(1)

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        a = R.exp(x)
        b = R.call_tir_inplace(cls.increment, (a,), [0], R.Tensor((4,), "float32"))
        return b


def scheduled(module, _):
    with tvm.target.Target("cuda"):
        return dlight.ApplyDefaultSchedule(dlight.gpu.Fallback())(module)


PASSES = [tvm.transform.module_pass(scheduled, opt_level=0, name="ScheduledForGPU")]
PIPELINE = "default"
ARGUMENTS = [np.zeros(4, "float32")]
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
