"""`R.grad.max_pool2d_backward` asks for each element of the input in which windows it is the greatest one. Of
the windows that may contain it only the first is limited: beside the first and the last row and column the
kernel reads positions of windows that do not exist, in a buffer of its own. LLVM sees that, takes it for what
never happens, and leaves the kernel out: the result holds what memory held before. The elements should add up
to 9, one for each window.
"""

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(gradient: R.Tensor((1, 1, 3, 3), "float32"), x: R.Tensor((1, 1, 4, 4), "float32")) -> R.Tensor(
        (1, 1, 4, 4), "float32"
    ):
        found = R.grad.max_pool2d_backward(
            gradient, x, (2, 2), (1, 1), (0, 0, 0, 0), (1, 1), False, False, "NCHW", "NCHW"
        )
        return found


PASSES = [relax.transform.LegalizeOps()]
PIPELINE = "default"
ARGUMENTS = [
    np.ones((1, 1, 3, 3), "float32"),
    np.random.default_rng(1).random((1, 1, 4, 4)).astype("float32"),
]
CALLS = 1


def results(module, pipeline):
    built = tvm.compile(module, target="llvm", relax_pipeline=pipeline)
    machine = relax.VirtualMachine(built, tvm.cpu())
    arguments = [tvm.runtime.tensor(values) for values in ARGUMENTS]
    return [machine["main"](*arguments).numpy() for _ in range(CALLS)]


if __name__ == "__main__":
    print("nobody has written:", *results(tvm.transform.Sequential(PASSES)(Module), PIPELINE))
