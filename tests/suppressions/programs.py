"""A program with one finding, to be accepted in one way or another."""

from __future__ import annotations

HEAD = """\
from tvm.script import ir as I, relax as R, tirx as T


"""
MODULE = """\
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("m",), "float32")):
        m = T.int64()
        storage = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        alloc = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([m]), R.dtype("float32"))
        Module.double(x, alloc)
        return alloc

    @T.prim_func(private=True)
    def double(a: T.handle, b: T.handle):
        n = T.int64()
        x = T.match_buffer(a, (n,), "float32")
        y = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            y[i] = x[i] * T.float32(2)
"""
OVERFLOW = HEAD + MODULE
ALLOC = 10
"""The line of the tensor that does not fit: RLX101."""


def commented(comment: str, line: int = ALLOC, text: str = OVERFLOW) -> str:
    """The program with a comment at the end of a line, or (0) at its start."""
    if line == 0:
        return f"{comment}\n{text}"
    lines = text.splitlines()
    lines[line - 1] += f"  {comment}"
    return "\n".join(lines) + "\n"
