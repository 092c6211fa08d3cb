"""A cast to float8 and back rounds, but not where both casts are in one kernel: FP8ComputeLegalize
computes with more bits and leaves the narrow numbers out. The default pipeline of CPU targets fuses the
casts.
"""

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            narrow = R.astype(x, "float8_e4m3fn")
            result = R.astype(narrow, "float32")
            R.output(result)
        return result


PASSES = []
PIPELINE = "cpu"
ARGUMENTS = [np.array([2.3, 3.7, 2.9, 1.4], "float32")]
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
