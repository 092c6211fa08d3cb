"""RewriteCUDAGraph puts a name for a constant into the function that is captured, and leaves its use
behind. The graphs need a GPU; code generation refuses the module before.
"""

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.cos(a)
            c = R.const([1.0, 2.0, 3.0, 4.0], "float32")
            d = R.add(R.cos(c), b)
            e = R.sin(d)
            R.output(c, e)
        return (c, e)


@tvm.transform.module_pass(opt_level=0, name="WithGraphs")
def with_graphs(module, _context):
    passes = [
        relax.transform.LegalizeOps(),
        relax.transform.ToNonDataflow(),
        relax.transform.RemovePurityChecking(),
        relax.transform.CallTIRRewrite(),
        relax.transform.StaticPlanBlockMemory(),
        relax.transform.RewriteCUDAGraph(),
    ]
    with tvm.transform.PassContext(config={"relax.backend.use_cuda_graph": True}):
        return tvm.transform.Sequential(passes)(module)


PASSES = [with_graphs]
PIPELINE = "default"
ARGUMENTS = [np.ones(4, "float32")]
CALLS = 1


def results(module, pipeline):
    if pipeline == "cpu":
        pipeline = relax.get_default_pipeline(tvm.target.Target("llvm"))
    built = tvm.compile(module, target="llvm", relax_pipeline=pipeline)
    machine = relax.VirtualMachine(built, tvm.cpu())
    arguments = [tvm.runtime.tensor(values) for values in ARGUMENTS]
    return [one.numpy() for _ in range(CALLS) for one in machine["main"](*arguments)]


if __name__ == "__main__":
    print("right:", *results(Module, "default"))
    print("wrong:", *results(tvm.transform.Sequential(PASSES)(Module), PIPELINE))
