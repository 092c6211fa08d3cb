"""Programs that are right as they are written; what TVM's own passes make of them may not be."""

from __future__ import annotations

from benchmarks.bugs.bug import Bug, bug

BUGS: tuple[Bug, ...] = (
    bug(
        "branches",
        "apache/tvm#17348, #20191",
        "both branches of an If need intermediate storage",
        "RLX204 always-wrong",
        """
        @R.function
        def main(c: R.Tensor((), "bool"), x: R.Tensor((8, 4), "float32")) -> R.Tensor((8, 4), "float32"):
            if c:
                a = R.add(x, x)
                b = R.reshape(a, (32,))
                d = R.exp(b)
                y = R.reshape(d, (8, 4))
            else:
                a1 = R.multiply(x, x)
                b1 = R.reshape(a1, (32,))
                d1 = R.exp(b1)
                y = R.reshape(d1, (8, 4))
            return y
        """,
        calls=("main(c: bool[], x: float32[8, 4]) on naive",),
    ),
    bug(
        "match_cast",
        "apache/tvm#20190",
        "a match_cast of a tensor that is needed later",
        "RLX203 always-wrong",
        """
        @R.function
        def main(x: R.Tensor((3,), "float32")):
            a = R.add(x, x)
            coarse = R.match_cast(a, R.Tensor("float32", ndim=1))
            same = R.match_cast(coarse, R.Tensor((3,), "float32"))
            b = R.multiply(x, x)
            d = R.add(b, b)
            e = R.subtract(d, x)
            g = R.add(same, e)
            return g
        """,
        calls=("main(x: float32[3]) on naive",),
        right="0.0, 3.0, 10.0",
    ),
    bug(
        "match_cast_and_split",
        "apache/tvm#20207",
        "a match_cast of a tensor that is split later",
        "RLX203 always-wrong",
        """
        @R.function
        def main(x: R.Tensor((2, 2), "float32")):
            a = R.add(x, x)
            coarse = R.match_cast(a, R.Tensor("float32", ndim=2))
            same = R.match_cast(coarse, R.Tensor((2, 2), "float32"))
            b = R.multiply(x, x)
            d = R.add(b, b)
            e = R.subtract(d, x)
            parts = R.split(same, 2, axis=1)
            g = R.sum(e, axis=1, keepdims=True)
            h = R.add(parts[1], g)
            return h
        """,
        calls=("main(x: float32[2, 2]) on naive",),
        right="3.0, 27.0",
    ),
    bug(
        "reshape_builtin",
        "apache/tvm PR #20134",
        "vm.builtin.reshape called by the program",
        "RLX203 always-wrong",
        """
        @R.function
        def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            a = R.add(x, x)
            view = R.call_pure_packed(
                "vm.builtin.reshape", a, R.shape([3]), ty_args=R.Tensor((3,), "float32")
            )
            b = R.multiply(x, x)
            d = R.add(b, b)
            e = R.add(view, d)
            return e
        """,
        calls=("main(x: float32[3]) on naive",),
        right="0.0, 4.0, 12.0",
    ),
    bug(
        "copy_builtin",
        "TVM's sources (planner)",
        "vm.builtin.copy, which returns its argument",
        "RLX203 always-wrong",
        """
        @R.function
        def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            a = R.add(x, x)
            same = R.call_pure_packed("vm.builtin.copy", a, ty_args=R.Tensor((3,), "float32"))
            b = R.multiply(x, x)
            d = R.add(b, b)
            e = R.add(same, d)
            return e
        """,
        calls=("main(x: float32[3]) on naive",),
        right="0.0, 4.0, 12.0",
    ),
    bug(
        "inplace_packed",
        "apache/tvm PR #15878 (the operator); TVM's sources",
        "call_inplace_packed, whose result is its argument",
        "RLX203 always-wrong",
        """
        @R.function(pure=False)
        def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            a = R.add(x, x)
            same = R.call_inplace_packed(
                "vm.builtin.copy", a, inplace_indices=[0], ty_args=R.Tensor((3,), "float32")
            )
            b = R.multiply(x, x)
            d = R.add(b, b)
            e = R.add(same, d)
            return e
        """,
        calls=("main(x: float32[3]) on naive",),
        right="0.0, 4.0, 12.0",
    ),
    bug(
        "inner_function",
        "TVM's sources (planner)",
        "an inner function and its outer one both need storage",
        "RLX204 always-wrong",
        """
        @R.function
        def main(x: R.Tensor((8,), "float32")) -> R.Tensor((8,), "float32"):
            @R.function
            def inner(y: R.Tensor((8,), "float32")) -> R.Tensor((8,), "float32"):
                a = R.add(y, y)
                b = R.exp(a)
                return b

            d = R.add(x, x)
            e = inner(d)
            f = R.multiply(e, e)
            g = R.exp(f)
            return g
        """,
    ),
    bug(
        "symbolic_matmul",
        "apache/tvm#19578",
        "a matrix product over an axis that may be empty",
        "RLX307 needs-runtime-check",
        """
        @R.function
        def main(
            x: R.Tensor((2, "k"), "float32"), y: R.Tensor(("k", 2), "float32")
        ) -> R.Tensor((2, 2), "float32"):
            z = R.matmul(x, y)
            return z
        """,
        calls=("main(x: float32[2, 0], y: float32[0, 2]) on naive",),
        right="zeros",
    ),
    bug(
        "window_larger_than_input",
        "apache/tvm#17941, PR #17942",
        "a convolution window that may be larger than the input",
        "RLX104 needs-runtime-check",
        """
        @R.function
        def main(
            x: R.Tensor((1, 1, "n", 8), "float32"), w: R.Tensor((1, 1, 5, 5), "float32")
        ) -> R.Tensor((1, 1, "n - 4", 4), "float32"):
            y = R.nn.conv2d(x, w)
            return y
        """,
        calls=("main(x: float32[1, 1, 2, 8], w: float32[1, 1, 5, 5]) on naive",),
    ),
    bug(
        "broadcast_wraps",
        "TVM's sources (planner); apache/tvm#20269",
        "a result whose bytes exceed 64 bits",
        "RLX103 always-wrong",
        """
        @R.function
        def main(x: R.Tensor((1,), "float32")) -> R.Tensor((1,), "float32"):
            a = R.broadcast_to(x, (2147483648, 2147483648, 4))
            b = R.max(a)
            y = R.broadcast_to(b, (1,))
            return y
        """,
    ),
    bug(
        "two_devices",
        "TVM's sources (planner)",
        "an intermediate on device 0 and one on device 1",
        "RLX402 always-wrong",
        """
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

        @R.function
        def main(x: R.Tensor((3,), "float32", "llvm:0"), z: R.Tensor((3,), "float32", "llvm:1")):
            a: R.Tensor((3,), "float32", "llvm:0") = R.add(x, x)
            b: R.Tensor((3,), "float32", "llvm:0") = R.exp(a)
            c: R.Tensor((3,), "float32", "llvm:0") = R.add(b, b)
            d: R.Tensor((3,), "float32", "llvm:1") = R.add(z, z)
            e: R.Tensor((3,), "float32", "llvm:1") = R.exp(d)
            f: R.Tensor((3,), "float32", "llvm:1") = R.add(e, e)
            return (c, f)
        """,
    ),
    bug(
        "lower_bound",
        "apache/tvm PR #18663 (repaired)",
        "a lower bound without an upper one",
        "",
        """
        @R.function
        def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
            n = T.int64()
            R.func_attr({"tir_var_lower_bound": {"n": 8}})
            a = R.add(x, x)
            b = R.exp(a)
            return b
        """,
        calls=("main(x: float32[9]) on naive",),
    ),
    bug(
        "after_an_if",
        "TVM's sources (KillAfterLastUse)",
        "nothing is killed in a function with an If",
        "RLX207 always-wrong",
        """
        @R.function
        def main(c: R.Tensor((), "bool"), x: R.Tensor((8,), "float32")) -> R.Tensor((8,), "float32"):
            if c:
                y = R.add(x, x)
            else:
                y = R.multiply(x, x)
            a = R.exp(y)
            b = R.add(a, a)
            d = R.exp(b)
            return d
        """,
    ),
)
