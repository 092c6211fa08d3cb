"""RemoveUnusedParameters, which FuseTIR calls, takes a parameter away from a function that a closure is
made of, and gives it a new variable. The closure names the old one, and is called with the old
arguments.
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
        @R.function
        def inner(p: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
            q = R.exp(x)
            return q

        result = inner(x)
        return result


PASSES = [relax.transform.LambdaLift(), relax.transform.RemoveUnusedParameters()]
PIPELINE = "default"
REFERENCE = tvm.transform.Sequential([relax.transform.LambdaLift(), relax.get_pipeline("default_build")])
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
    print("right:", *results(Module, REFERENCE))
    print("wrong:", *results(tvm.transform.Sequential(PASSES)(Module), PIPELINE))
