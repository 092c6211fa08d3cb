"""CanonicalizeBindings takes a `match_cast` to a symbol that the function's parameters define for its
definition, replaces the symbol and drops the comparison: 5 elements pass for 3. KillAfterLastUse, which
every default pipeline contains, runs it.
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
    def main(x: R.Tensor(("n",), "float32"), z: R.Tensor(("k",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        y = R.match_cast(z, R.Tensor((n,), "float32"))
        return y


PASSES = [relax.transform.CanonicalizeBindings()]
PIPELINE = "default"
REFERENCE = tvm.transform.Sequential(
    [
        relax.transform.LegalizeOps(),
        relax.transform.CallTIRRewrite(),
        relax.transform.LowerAllocTensor(),
        relax.transform.LowerRuntimeBuiltin(),
        relax.transform.VMShapeLower(),
        relax.transform.AttachGlobalSymbol(),
    ]
)
ARGUMENTS = [np.zeros(3, "float32"), np.ones(5, "float32")]
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
