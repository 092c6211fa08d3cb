"""One kernel under test: its parameters `x` and `y` of `n` elements, and a function that calls it."""

from __future__ import annotations

_HEAD = """
@T.prim_func({private}s_tir=True)
def kernel(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (n,), "float32")
"""
_CALL = """
@R.function
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    y = R.call_tir(Module.kernel, (x,), R.Tensor((n,), "float32"))
    return y
"""


def kernel_text(body: str) -> str:
    """The kernel alone, as TVM's parser reads one function."""
    return _HEAD.format(private="") + _indented(body)


def called_kernel(body: str) -> str:
    """The definitions of a module that calls the kernel."""
    return _HEAD.format(private="private=True, ") + _indented(body) + _CALL


def _indented(body: str) -> str:
    return "".join(f"    {line}\n" for line in body.strip().splitlines())
