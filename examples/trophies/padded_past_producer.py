"""`Schedule.pad_einsum` makes the loops of a block as long as its padding, and the loop that the block shares
with the one that computes its argument too. The fourth of three rows is read behind `x` and written.
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
    def rows(x: T.Buffer((3, 16384), "float32"), y: T.Buffer((3, 16384), "float32")):
        doubled = T.sblock_alloc_buffer((3, 16384), "float32")
        for i in range(3):
            for j in range(16384):
                with T.sblock("double"):
                    a, b = T.axis.remap("SS", [i, j])
                    doubled[a, b] = x[a, b] * T.float32(2)
            for j in range(16384):
                with T.sblock("increment"):
                    a, b = T.axis.remap("SS", [i, j])
                    y[a, b] = doubled[a, b] + T.float32(1)

    @R.function
    def main(x: R.Tensor((3, 16384), "float32")) -> R.Tensor((3, 16384), "float32"):
        cls = Module
        y = R.call_tir(cls.rows, (x,), out_ty=R.Tensor((3, 16384), "float32"))
        return y


@tvm.transform.module_pass(opt_level=0, name="PadEinsum")
class PadEinsum:
    def transform_module(self, module, context):
        schedule = s_tir.Schedule(module)
        schedule.work_on("rows")
        schedule.pad_einsum("increment", [2, 1])
        return schedule.mod


PASSES = [PadEinsum()]
PIPELINE = "default"
ARGUMENTS = [np.ones((3, 16384), "float32")]
CALLS = 1


def results(module, pipeline):
    built = tvm.compile(module, target="llvm", relax_pipeline=pipeline)
    machine = relax.VirtualMachine(built, tvm.cpu())
    arguments = [tvm.runtime.tensor(values) for values in ARGUMENTS]
    return [machine["main"](*arguments).numpy() for _ in range(CALLS)]


if __name__ == "__main__":
    print("right, though it reads outside:", *results(tvm.transform.Sequential(PASSES)(Module), PIPELINE))
