"""ToMixedPrecision refuses a dataflow block with an output that is a field of a tuple."""

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((2,), "float32"):
        with R.dataflow():
            halves = R.split(x, 2, axis=0)
            first = halves[0]
            R.output(first)
        return first


PASSES = [relax.transform.ToMixedPrecision("float32")]
PIPELINE = "default"
ARGUMENTS = [np.arange(4, dtype="float32")]
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
