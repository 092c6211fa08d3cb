"""RewriteDataflowReshape makes the copy of `x` by `broadcast_to` a view of `x`, though a kernel overwrites
the copy in place afterwards: `x` is changed with it, also for the caller.
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
    def increment(values: T.Buffer((T.int64(4),), "float32")):
        for i in range(T.int64(4)):
            with T.sblock("increment"):
                vi = T.axis.spatial(T.int64(4), i)
                values[vi] = values[vi] + T.float32(1)

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((8,), "float32"):
        cls = Module
        with R.dataflow():
            copy = R.broadcast_to(x, (4,))
            changed = R.call_tir_inplace(
                cls.increment, (copy,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32")
            )
            result = R.concat((x, changed))
            R.output(result)
        return result


PASSES = []
PIPELINE = "default"
REFERENCE = tvm.transform.Sequential(
    [
        relax.transform.LegalizeOps(),
        relax.transform.CallTIRRewrite(),
        relax.transform.LowerAllocTensor(),
        relax.transform.LowerRuntimeBuiltin(),
        relax.transform.VMShapeLower(),
        relax.transform.AttachGlobalSymbol(),
    ]
)
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
    print("right:", *results(Module, REFERENCE))
    print("wrong:", *results(tvm.transform.Sequential(PASSES)(Module), PIPELINE))
