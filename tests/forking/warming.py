"""What a process does when it does it for the first time, done before it is forked: half of what a short life takes."""

from __future__ import annotations

from tvm import relax

from relax_lint.replay.modules import load_module
from relax_lint.running.file_task import analyse
from relax_lint.running.messages import FileData
from relax_lint.settings.config import Config

_KERNEL = "double"
_PROGRAM = f"""
from tvm.script import ir as I, relax as R, tirx as T


@I.ir_module
class Module:
    @T.prim_func
    def {_KERNEL}(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,))
        B = T.match_buffer(b, (n,))
        for i in range(n):
            with T.sblock("B"):
                v = T.axis.spatial(n, i)
                B[v] = A[v] + A[v]

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")):
        n = T.int64()
        storage = R.memory.alloc_storage(R.shape([n * 4]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        one = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([n]), R.dtype("float32"))
        Module.{_KERNEL}(x, one)
        two = R.match_cast(one, R.Tensor((n,), "float32"))
        if c:
            three = R.add(two, x)
        else:
            three = R.multiply(two, x)
        return three
"""


def warm_up() -> None:
    """Judge and build a program. Nothing is run: an allocator would keep memory for those who come after."""
    for _ in analyse(FileData(_PROGRAM.encode(), "a.py", "python", True), Config(), 0):
        pass
    for exec_mode in ("bytecode", "compiled"):
        built = relax.build(load_module(_PROGRAM, "script"), target="llvm", exec_mode=exec_mode)
        for library in built.mod.imports:
            # That makes the machine code.
            library.get_function(_KERNEL)
