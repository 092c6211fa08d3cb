"""LiftTransformParams makes a parameter of what is computed of parameters alone, once for all calls.
Here that is the memory into which `add_to` writes: the second call begins with the result of the first.
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
    def add_to(values: T.Buffer((T.int64(4),), "float32"), other: T.Buffer((T.int64(4),), "float32")):
        for i in range(T.int64(4)):
            with T.sblock("add_to"):
                vi = T.axis.spatial(T.int64(4), i)
                values[vi] = values[vi] + other[vi]

    @R.function
    def main(x: R.Tensor((4,), "float32"), weight: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"num_input": 1})
        cls = Module
        with R.dataflow():
            total = R.exp(weight)
            result = R.call_tir_inplace(
                cls.add_to, (total, x), inplace_indices=[0], out_ty=R.Tensor((4,), "float32")
            )
            R.output(result)
        return result


PASSES = [relax.transform.LiftTransformParams()]
PIPELINE = "default"
ARGUMENTS = [np.ones(4, "float32"), np.zeros(4, "float32")]
CALLS = 2


def results(module, pipeline):
    built = tvm.compile(module, target="llvm", relax_pipeline=pipeline)
    machine = relax.VirtualMachine(built, tvm.cpu())
    x, *weights = [tvm.runtime.tensor(values) for values in ARGUMENTS]
    if "main_transform_params" in [str(name.name_hint) for name in module.get_global_vars()]:
        weights = machine["main_transform_params"](weights)
    return [machine["main"](x, *weights).numpy() for _ in range(CALLS)]


if __name__ == "__main__":
    print("right:", *results(Module, "default"))
    print("wrong:", *results(tvm.transform.Sequential(PASSES)(Module), PIPELINE))
