"""KillAfterLastUse kills a variable that holds a text. Texts are in the constant pool, not in registers:
code generation refuses the module.
"""

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        text = R.str("label")
        R.call_packed("runtime.does_not_exist", text, ty_args=R.Tuple())
        return x


PASSES = []
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
ARGUMENTS = [np.array([1, 2, 3, 4], "float32")]
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
