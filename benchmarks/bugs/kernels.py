"""Kernels that get what they were not built for; devices, scopes, dtypes; types that nobody checks."""

from __future__ import annotations

from benchmarks.bugs.bug import DOUBLE, Bug, bug

BUGS: tuple[Bug, ...] = (
    bug(
        "empty_axis",
        "apache/tvm#19578",
        "a reduction over an axis that may be empty",
        "RLX307 needs-runtime-check",
        """
        @T.prim_func(private=True, s_tir=True)
        def total(a: T.handle, b: T.handle):
            n = T.int64()
            x = T.match_buffer(a, (n,), "float32")
            y = T.match_buffer(b, (2,), "float32")
            for j, i in T.grid(2, n):
                with T.sblock("sum"):
                    w, v = T.axis.remap("SR", [j, i])
                    with T.init():
                        y[w] = T.float32(0)
                    y[w] = y[w] + x[v]

        @R.function
        def main(x: R.Tensor(("n",), "float32")) -> R.Tensor((2,), "float32"):
            n = T.int64()
            y = R.call_tir(Module.total, (x,), R.Tensor((2,), "float32"))
            return y
        """,
    ),
    bug(
        "shape_of_an_argument",
        "apache/tvm#17310, #17211, #17223",
        "an argument shorter than the kernel's buffer",
        "RLX301 always-wrong",
        """
        @T.prim_func(private=True)
        def double(x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "float32")):
            for i in range(8):
                y[i] = x[i] * T.float32(2)

        @R.function
        def main(x: R.Tensor("float32", ndim=1)) -> R.Tensor((8,), "float32"):
            z = R.match_cast(x, R.Tensor((4,), "float32"))
            y = R.call_tir(Module.double, (z,), R.Tensor((8,), "float32"))
            return y
        """,
        calls=("main(x: float32[4]) on naive",),
    ),
    bug(
        "symbolic_shape_of_an_argument",
        "apache/tvm#17310",
        "an argument of symbolic length for a buffer of fixed length",
        "RLX301 needs-runtime-check",
        """
        @T.prim_func(private=True)
        def double(x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "float32")):
            for i in range(8):
                y[i] = x[i] * T.float32(2)

        @R.function(pure=False)
        def main(x: R.Tensor(("n",), "float32")) -> R.Tensor((8,), "float32"):
            n = T.int64()
            s = R.memory.alloc_storage(R.shape([32]), 0, "global", "uint8")
            y = R.memory.alloc_tensor(s, 0, R.shape([8]), "float32")
            Module.double(x, y)
            return y
        """,
        calls=("main(x: float32[8]) on naive", "main(x: float32[4]) on naive"),
    ),
    bug(
        "claimed_type",
        "TVM's sources (packed calls)",
        "the type of a packed call, which nothing checks",
        "RLX305 needs-runtime-check",
        """
        @R.function(pure=False)
        def main(x: R.Tensor((4,), "float32")) -> R.Tensor((8,), "int8"):
            y = R.call_packed(
                "vm.builtin.to_device", x, R.prim_value(1), R.prim_value(0), ty_args=R.Tensor((8,), "int8")
            )
            return y
        """,
        calls=("main(x: float32[4]) on naive",),
        right="an error: 8 elements of int8 are promised",
    ),
    bug(
        "claimed_type_of_a_copy",
        "TVM's sources (packed calls)",
        "vm.builtin.copy with another type than its argument's",
        "RLX304 always-wrong",
        """
        @R.function(pure=False)
        def main(x: R.Tensor((4,), "float32")) -> R.Tensor((8,), "int8"):
            y = R.call_packed("vm.builtin.copy", x, ty_args=R.Tensor((8,), "int8"))
            return y
        """,
        calls=("main(x: float32[4]) on naive",),
        right="an error: 8 elements of int8 are promised",
    ),
    bug(
        "independent_lengths",
        "apache/tvm#17311 (same symptom); TVM's sources",
        "a loop over one buffer's length that writes another buffer",
        "RLX306 always-wrong",
        """
        @T.prim_func(private=True)
        def spill(a: T.handle, b: T.handle):
            n = T.int64()
            m = T.int64()
            x = T.match_buffer(a, (n,), "float32")
            y = T.match_buffer(b, (m,), "float32")
            for i in range(n):
                y[i] = x[i]

        @R.function
        def main(x: R.Tensor((1048576,), "float32")) -> R.Tensor((16,), "float32"):
            y = R.call_tir(Module.spill, (x,), R.Tensor((16,), "float32"))
            return y
        """,
        calls=("main(x: float32[1048576]) on naive",),
        right="16 elements; the others have no place",
    ),
    bug(
        "weights",
        "apache/tvm PR #15736",
        "parameters behind num_input",
        "RLX507 needs-runtime-check",
        """
        @R.function
        def main(x: R.Tensor((4,), "float32"), w: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            R.func_attr({"num_input": 1})
            return w
        """,
        calls=("main(x: float32[4], w: float32[5]) on naive",),
        right="an error: w has 5 elements",
    ),
    bug(
        "int4",
        "TVM's sources (allocator)",
        "a dtype that the machine cannot allocate",
        "RLX404 always-wrong",
        """
        @R.function(pure=False)
        def main():
            s = R.memory.alloc_storage(R.shape([8]), 0, "global", "uint8")
            y = R.memory.alloc_tensor(s, 0, R.shape([8]), "int4")
            return y
        """,
        calls=("main() on naive",),
    ),
    bug(
        "uint1",
        "tvm-ffi PR #680; TVM's sources",
        "a dtype of which kernels write more bytes than the machine counts",
        "RLX404 always-wrong",
        """
        @T.prim_func(private=True)
        def fill(y: T.Buffer((8192,), "uint1")):
            for i in range(8192):
                y[i] = T.Cast("uint1", 1)

        @R.function(pure=False)
        def main():
            s = R.memory.alloc_storage(R.shape([1024]), 0, "global", "uint8")
            y = R.memory.alloc_tensor(s, 0, R.shape([8192]), "uint1")
            Module.fill(y)
            return y
        """,
        right="1024 bytes written, not 8192",
    ),
    bug(
        "unaligned_offset",
        "TVM's sources (storage check)",
        "a tensor at an offset inside of an element",
        "RLX303 always-wrong",
        DOUBLE,
        """
        @R.function(pure=False)
        def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            s = R.memory.alloc_storage(R.shape([32]), 0, "global", "uint8")
            y = R.memory.alloc_tensor(s, 3, R.shape([4]), "float32")
            Module.double(x, y)
            return y
        """,
        calls=("main(x: float32[4]) on naive",),
    ),
    bug(
        "view_in_front",
        "apache/tvm PR #16955, #16938",
        "a view in front of its tensor",
        "RLX102 always-wrong",
        """
        @R.function
        def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            y = R.memory.view(x, R.shape([4]), R.dtype("float32"), R.prim_value(-16))
            return y
        """,
        calls=("main(x: float32[4]) on naive",),
        right="an error",
    ),
    bug(
        "unaligned_view",
        "apache/tvm PR #16955, #16938",
        "a view at an offset inside of an element",
        "RLX304 always-wrong",
        """
        @R.function
        def main(x: R.Tensor((4,), "float32")) -> R.Tensor((2,), "float32"):
            y = R.memory.view(x, R.shape([2]), R.dtype("float32"), R.prim_value(2))
            return y
        """,
        calls=("main(x: float32[4]) on naive",),
        right="an error",
    ),
    bug(
        "view_into_a_kernel",
        "apache/tvm PR #17145",
        "a view at an offset passed to a kernel without ensure_zero_offset",
        "RLX303 always-wrong",
        DOUBLE,
        """
        @R.function
        def main(x: R.Tensor((8,), "float32")) -> R.Tensor((4,), "float32"):
            v = R.memory.view(x, R.shape([4]), R.dtype("float32"), R.prim_value(16))
            y = R.call_tir(Module.double, (v,), R.Tensor((4,), "float32"))
            return y
        """,
        calls=("main(x: float32[8]) on naive",),
    ),
    bug(
        "reshape_to_fewer",
        "TVM's sources (reshape)",
        "a reshape to fewer elements",
        "RLX304 needs-runtime-check",
        """
        @R.function(pure=False)
        def main(x: R.Tensor(("n",), "float32"), s: R.Shape(["m"])) -> R.Tensor(("m",), "float32"):
            n = T.int64()
            m = T.int64()
            y = R.call_packed("vm.builtin.reshape", x, R.shape([m]), ty_args=R.Tensor((m,), "float32"))
            return y
        """,
        calls=("main(x: float32[6], s: shape(4)) on naive",),
        right="an error: 6 elements are not 4",
    ),
    bug(
        "constant_index",
        "apache/tvm#20297, #20217, #19436, #19531 (constant indices)",
        "a constant index outside of its axis",
        "RLX308 always-wrong",
        """
        @T.prim_func(private=True)
        def pick(a: T.handle, b: T.handle, c: T.handle):
            n = T.int64()
            m = T.int64()
            x = T.match_buffer(a, (n,), "float32")
            at = T.match_buffer(b, (m,), "int32")
            y = T.match_buffer(c, (m,), "float32")
            for i in range(m):
                y[i] = x[at[i]]

        @R.function
        def main(x: R.Tensor((4,), "float32")) -> R.Tensor((2,), "float32"):
            y = R.call_tir(Module.pick, (x, R.const([1, 9], "int32")), R.Tensor((2,), "float32"))
            return y
        """,
        right="an error: there is no element 9",
    ),
    bug(
        "storage_of_another_device",
        "TVM's sources (planner)",
        "a tensor of device 1 on a storage of device 0",
        "RLX402 always-wrong",
        """
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

        @R.function(pure=False)
        def main() -> R.Tensor((4,), "float32", "llvm:1"):
            s = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
            y = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32", R.prim_value(1))
            return y
        """,
    ),
    bug(
        "host_device",
        "TVM's sources (allocation)",
        "device index -1",
        "RLX401 always-wrong",
        """
        @R.function(pure=False)
        def main():
            s = R.memory.alloc_storage(R.shape([16]), -1, "global", "uint8")
            y = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
            return y
        """,
        calls=("main() on naive",),
    ),
    bug(
        "texture_scope",
        "apache/tvm#15178, #17571, #18523",
        "a scope that the device does not have",
        "RLX403 always-wrong",
        """
        @R.function(pure=False)
        def main():
            s = R.memory.alloc_storage(R.shape([16]), 0, "global.texture", "uint8")
            y = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
            return y
        """,
        calls=("main() on naive", "main() on pooled"),
    ),
    bug(
        "undefined_symbol",
        "apache/tvm#17876, #20177, PR #18491",
        "a shape in a symbol that no parameter defines (refused when it is read)",
        "RLX901 always-wrong",
        """
        @R.function(pure=False)
        def main(x: R.Tensor(("n * 4",), "float32")):
            n = T.int64()
            s = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
            y = R.memory.alloc_tensor(s, 0, R.shape([n * 4]), "float32")
            return y
        """,
        calls=("main(x: float32[4]) on naive",),
    ),
    bug(
        "dynamic_slice",
        "apache/tvm#17390, #20263",
        "a slice with bounds known at run time only",
        "",
        """
        @R.function
        def main(
            x: R.Tensor((8,), "float32"),
            b: R.Tensor((1,), "int64"),
            e: R.Tensor((1,), "int64"),
            s: R.Tensor((1,), "int64"),
        ):
            y = R.dynamic_strided_slice(x, b, e, s)
            return y
        """,
    ),
)
