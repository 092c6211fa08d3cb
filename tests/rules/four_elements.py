"""The parts of programs over tensors of four elements: their type, their memory, and kernels."""

from __future__ import annotations

T4 = 'R.Tensor((4,), "float32")'
STORAGE = 'R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("float32"))'
TENSOR = 'R.memory.alloc_tensor({}, R.prim_value(0), R.shape([4]), R.dtype("float32"))'
KERNELS = """
@T.prim_func(private=True, s_tir=True)
def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i] * T.float32(2)

@T.prim_func(private=True, s_tir=True)
def add(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(4):
        z[i] = x[i] + y[i]

@T.prim_func(private=True, s_tir=True)
def twice(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = x[i] * T.float32(2)
"""
