"""LambdaLift makes a closure of a function that uses `a`. The result of the call gets the type `R.Any`,
which `add` does not take. Nothing compiles an inner function without the pass.
"""

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
        a = R.exp(x)

        @R.function
        def inner(p: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
            q = R.add(p, a)
            return q

        called = inner(x)
        result = R.add(called, x)
        return result


PASSES = [relax.transform.LambdaLift()]
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
    print("wrong:", *results(tvm.transform.Sequential(PASSES)(Module), PIPELINE))
