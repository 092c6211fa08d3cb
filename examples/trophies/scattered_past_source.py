"""`R.slice_scatter(x, source, 1, 3)` takes 2 elements of `source`. The kernel it becomes has an index into
`source` for each element of `x`, limits it to the extent of `x` instead of that of `source`, and reads there
before it selects. The numbers are right, if the process survives: with `x` of 100,000,000 elements instead of
100,000 it ended with a segmentation fault. With 32 elements the compiler happened to remove the read.
"""

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((100000,), "float32"), source: R.Tensor((2,), "float32")) -> R.Tensor(
        (100000,), "float32"
    ):
        found = R.slice_scatter(x, source, 1, 3, 1, axis=0)
        return found


PASSES = [relax.transform.LegalizeOps()]
PIPELINE = "default"
ARGUMENTS = [np.zeros(100000, "float32"), np.ones(2, "float32")]
CALLS = 1


def results(module, pipeline):
    built = tvm.compile(module, target="llvm", relax_pipeline=pipeline)
    machine = relax.VirtualMachine(built, tvm.cpu())
    arguments = [tvm.runtime.tensor(values) for values in ARGUMENTS]
    return [machine["main"](*arguments).numpy() for _ in range(CALLS)]


if __name__ == "__main__":
    print("right, though much is read outside:", *results(tvm.transform.Sequential(PASSES)(Module), PIPELINE))
