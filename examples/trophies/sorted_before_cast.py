"""TopologicalSort follows variables and not symbols: a statement that uses `m` is moved before the cast
that defines it.
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
    def main(x: R.Tensor((2,), "int64")) -> R.Tensor("float32", ndim=2):
        m = T.int64()
        with R.dataflow():
            given = R.tensor_to_shape(x)
            _known = R.match_cast(given, R.Shape([m, 4]))
            result = R.zeros(R.shape([m, 4]), "float32")
            R.output(result)
        return result


PASSES = [relax.transform.TopologicalSort("breadth-first", "from-outputs")]
PIPELINE = "default"
ARGUMENTS = [np.array([2, 4], "int64")]
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
