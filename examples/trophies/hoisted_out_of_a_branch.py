"""InsertHoistIfThenElse moves `m > n` before the loop, out of the branch in which it stands. The other branch
does not ask it, and is not executed any more where it does not hold. The pass is part of every build of
scheduled kernels.
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
    def mark(a: T.handle, b: T.handle, c: T.handle):
        n = T.int64()
        m = T.int64()
        x = T.match_buffer(a, (n,), "float32")
        y = T.match_buffer(b, (m,), "float32")
        z = T.match_buffer(c, (n,), "float32")
        for i in range(n):
            z[i] = x[i]
        for i in range(n):
            if i % T.int64(2) == T.int64(0):
                if m > n:
                    z[i] = y[i]
            else:
                z[i] = T.float32(2)

    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        marked = R.call_tir(cls.mark, (x, y), out_ty=R.Tensor((n,), "float32"))
        return marked


PASSES = []
PIPELINE = "default"
REFERENCE = "without the pass"
ARGUMENTS = [np.array([1, 1, 1, 1], "float32"), np.array([5], "float32")]
CALLS = 1


def results(module, pipeline):
    disabled = ["s_tir.InsertHoistIfThenElse"] if pipeline == REFERENCE else []
    with tvm.transform.PassContext(disabled_pass=disabled):
        built = tvm.compile(module, target="llvm")
    machine = relax.VirtualMachine(built, tvm.cpu())
    arguments = [tvm.runtime.tensor(values) for values in ARGUMENTS]
    return [machine["main"](*arguments).numpy() for _ in range(CALLS)]


if __name__ == "__main__":
    print("right:", *results(Module, REFERENCE))
    print("wrong:", *results(Module, PIPELINE))
