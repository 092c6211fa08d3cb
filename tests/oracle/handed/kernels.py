"""The kernels of the programs."""

from __future__ import annotations

_BUFFERS = {
    "fill": ("y", "y[i] = T.float32(7)"),
    "twice": ("y", "y[i] = y[i] * T.float32(2)"),
    "copy": ("xy", "y[i] = x[i]"),
    "turn": ("xy", "y[i] = x[n - 1 - i]"),
    "from_zero": ("xy", "y[i] = x[i]"),
    "add": ("xzy", "y[i] = x[i] + z[i] * T.float32(3)"),
    "sly": ("yx", "y[i] = y[i] + x[i]\n        x[i] = T.float32(1)"),
}
"""By kernel: its buffers, and what it does at each element. `from_zero` refuses a first argument at an offset."""
KERNELS = tuple(_BUFFERS)
ARITY = {name: len(letters) for name, (letters, _) in _BUFFERS.items()}
ABOVE = """
@T.prim_func(private=True, s_tir=True)
def above(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32", elem_offset=T.int64())
    y = T.match_buffer(b, (), "bool", elem_offset=T.int64())
    y[()] = n > T.int64(3)
"""
"""Whether a tensor has more than three elements."""


def kernel(name: str) -> str:
    """A kernel as TVMScript."""
    letters, does = _BUFFERS[name]
    lines = [
        f'    {letter} = T.match_buffer({letter}_, (n,), "float32"'
        f"{'' if name == 'from_zero' and letter == 'x' else ', elem_offset=T.int64()'})"
        for letter in letters
    ]
    handles = ", ".join(f"{letter}_: T.handle" for letter in letters)
    body = "\n".join(["    n = T.int64()", *lines, "    for i in range(n):", f"        {does}"])
    return f"\n@T.prim_func(private=True, s_tir=True)\ndef {name}({handles}):\n{body}\n"
