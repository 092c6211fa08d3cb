from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(n: R.Prim("int64")):
        storage = R.memory.alloc_storage(R.shape([4096]), 0, "global", "uint8")
        first = R.memory.alloc_tensor(storage, 0, R.shape([8]), "float32")
        second = R.memory.alloc_tensor(storage, 32, R.shape([8]), "float32")
        third = R.memory.alloc_tensor(storage, n * 128, R.shape([8]), "float32")
        fourth = R.memory.alloc_tensor(storage, n * 32, R.shape([8]), "float32")
        return (first, second, third, fourth)
