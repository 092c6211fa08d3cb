"""DataflowUseInplaceCalls writes `add` over the constant that `c` is bound to: the second call starts from
the result of the first.
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
            c = R.const([1.0, 1.0, 1.0, 1.0], "float32")
            result = R.add(c, x)
            R.output(result)
        return result


PASSES = [relax.transform.DataflowUseInplaceCalls()]
PIPELINE = "default"
ARGUMENTS = [np.array([1, 2, 3, 4], "float32")]
CALLS = 2


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
