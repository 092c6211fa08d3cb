"""`Schedule.transform_layout` simplifies the new indices of a block that reads its rows backwards: from
`(7 - a) // 4` it makes `a // -4 + 1`, which is another number. No row is read from its place, and some are
read from before the buffer.
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
    def backwards(x: T.Buffer((8, 64), "float32"), y: T.Buffer((8, 64), "float32")):
        doubled = T.sblock_alloc_buffer((8, 64), "float32")
        for i, j in T.grid(8, 64):
            with T.sblock("double"):
                a, b = T.axis.remap("SS", [i, j])
                doubled[a, b] = x[a, b] * T.float32(2)
        for i, j in T.grid(8, 64):
            with T.sblock("backwards"):
                a, b = T.axis.remap("SS", [i, j])
                y[a, b] = doubled[7 - a, b]

    @R.function
    def main(x: R.Tensor((8, 64), "float32")) -> R.Tensor((8, 64), "float32"):
        cls = Module
        y = R.call_tir(cls.backwards, (x,), out_ty=R.Tensor((8, 64), "float32"))
        return y


@tvm.transform.module_pass(opt_level=0, name="TransformLayout")
class TransformLayout:
    def transform_module(self, module, context):
        schedule = s_tir.Schedule(module)
        schedule.work_on("backwards")
        schedule.transform_layout("double", ("write", 0), lambda a, b: [a // 4, b, a % 4])
        return schedule.mod


PASSES = [TransformLayout()]
PIPELINE = "default"
ARGUMENTS = [np.arange(8 * 64, dtype="float32").reshape(8, 64)]
CALLS = 1


def results(module, pipeline):
    built = tvm.compile(module, target="llvm", relax_pipeline=pipeline)
    machine = relax.VirtualMachine(built, tvm.cpu())
    arguments = [tvm.runtime.tensor(values) for values in ARGUMENTS]
    return [machine["main"](*arguments).numpy() for _ in range(CALLS)]


if __name__ == "__main__":
    print("right:", *results(Module, PIPELINE))
    print("wrong:", *results(tvm.transform.Sequential(PASSES)(Module), PIPELINE))
