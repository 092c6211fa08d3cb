"""DataflowUseInplaceCalls removes the kernel that it legalised `R.add` to. Where the module holds the same
kernel already, that one is removed, though `main` calls it: the module cannot be compiled.
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
    def add(
        A: T.Buffer((T.int64(4),), "float32"),
        B: T.Buffer((T.int64(4),), "float32"),
        T_add: T.Buffer((T.int64(4),), "float32"),
    ):
        T.func_attr({"tirx.noalias": True})
        for ax0 in range(T.int64(4)):
            with T.sblock("T_add"):
                v_ax0 = T.axis.spatial(T.int64(4), ax0)
                T.reads(A[v_ax0], B[v_ax0])
                T.writes(T_add[v_ax0])
                T_add[v_ax0] = A[v_ax0] + B[v_ax0]

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.add, (x, x), out_ty=R.Tensor((4,), "float32"))
            result = R.add(a, x)
            R.output(result)
        return result


PASSES = [relax.transform.DataflowUseInplaceCalls()]
PIPELINE = "default"
ARGUMENTS = [np.array([1, 2, 3, 4], "float32")]
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
