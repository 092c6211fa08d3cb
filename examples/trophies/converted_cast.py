"""ConvertLayout refuses a cast that gives names to extents which only the run tells, though nothing in the
module has a layout that is to be converted.
"""

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32")):
        m = T.int64()
        with R.dataflow():
            found = R.match_cast(R.nonzero(x), R.Tensor((2, m), "int64"))
            twice = R.add(found, found)
            R.output(twice)
        return twice


PASSES = [relax.transform.ConvertLayout({"relax.nn.conv2d": ["NHWC", "OHWI"]})]
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
    print("right:", *results(Module, "default"))
    print("wrong:", *results(tvm.transform.Sequential(PASSES)(Module), PIPELINE))
