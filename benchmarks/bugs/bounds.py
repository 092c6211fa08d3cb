"""Storages that are too small, sizes that are negative or wrap, bounds that nothing enforces."""

from __future__ import annotations

from benchmarks.bugs.bug import DOUBLE, Bug, bug

BUGS: tuple[Bug, ...] = (
    bug(
        "fixed_storage",
        "apache/tvm#17322, mlc-ai/mlc-llm#971",
        "a storage of 16 bytes under a tensor of symbolic length",
        "RLX101 needs-runtime-check",
        DOUBLE,
        """
        @R.function(pure=False)
        def main(x: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
            m = T.int64()
            s = R.memory.alloc_storage(R.shape([16]), 0, "global", "float32")
            y = R.memory.alloc_tensor(s, 0, R.shape([m]), "float32")
            Module.double(x, y)
            return y
        """,
        calls=(
            "main(x: float32[4]) on naive",
            "main(x: float32[5]) on naive",
            "main(x: float32[1024]) on pooled",
            "main(x: float32[1025]) on pooled",
        ),
    ),
    bug(
        "bytes_or_elements",
        "apache/tvm#17322",
        "the length in elements given as the size in bytes",
        "RLX101 needs-runtime-check",
        DOUBLE,
        """
        @R.function(pure=False)
        def main(x: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
            m = T.int64()
            s = R.memory.alloc_storage(R.shape([m]), 0, "global", "float32")
            y = R.memory.alloc_tensor(s, 0, R.shape([m]), "float32")
            Module.double(x, y)
            return y
        """,
        calls=("main(x: float32[1]) on naive", "main(x: float32[1]) on pooled"),
    ),
    bug(
        "context_length",
        "mlc-ai/mlc-llm#860, #1327, #1613, #2587",
        "planned for a declared bound that nothing checks",
        "RLX501 needs-runtime-check",
        DOUBLE,
        """
        @R.function(pure=False)
        def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
            n = T.int64()
            R.func_attr({"tir_var_upper_bound": {"n": 250}})
            s = R.memory.alloc_storage(R.shape([1000]), 0, "global", "uint8")
            y = R.memory.alloc_tensor(s, 0, R.shape([n]), "float32")
            Module.double(x, y)
            return y
        """,
        calls=(
            "main(x: float32[250]) on naive",
            "main(x: float32[251]) on naive",
            "main(x: float32[251]) on pooled",
        ),
    ),
    bug(
        "no_bytes",
        "mlc-ai/mlc-llm#1987",
        "a tensor on a storage of 0 bytes",
        "RLX101 needs-runtime-check",
        DOUBLE,
        """
        @R.function(pure=False)
        def main(x: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
            m = T.int64()
            s = R.memory.alloc_storage(R.shape([0]), 0, "global", "uint8")
            y = R.memory.alloc_tensor(s, 0, R.shape([m]), "float32")
            Module.double(x, y)
            return y
        """,
        calls=("main(x: float32[1]) on naive",),
    ),
    bug(
        "negative_length",
        "apache/tvm#18132",
        "an extent that is negative for short inputs",
        "RLX104 needs-runtime-check",
        """
        @R.function(pure=False)
        def main(x: R.Tensor(("n",), "float32")):
            n = T.int64()
            s = R.memory.alloc_storage(R.shape([4 * n]), 0, "global", "uint8")
            y = R.memory.alloc_tensor(s, 0, R.shape([n - 17]), "float32")
            return y
        """,
        calls=("main(x: float32[17]) on naive", "main(x: float32[16]) on naive"),
    ),
    bug(
        "two_negative_extents",
        "TVM's sources (storage check)",
        "two negative extents, whose product is positive",
        "RLX104 needs-runtime-check",
        """
        @R.function(pure=False)
        def main(x: R.Tensor(("n",), "float32")):
            n = T.int64()
            s = R.memory.alloc_storage(R.shape([4096]), 0, "global", "uint8")
            y = R.memory.alloc_tensor(s, 0, R.shape([n - 17, n - 17]), "float32")
            return y
        """,
        calls=("main(x: float32[10]) on naive",),
        right="no tensor of extents (-7, -7)",
    ),
    bug(
        "lower_bound_only",
        "apache/tvm PR #18663 (repaired)",
        "a storage for the lower bound of a symbol that has no upper one",
        "RLX101 needs-runtime-check",
        DOUBLE,
        """
        @R.function(pure=False)
        def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
            n = T.int64()
            R.func_attr({"tir_var_lower_bound": {"n": 8}})
            s = R.memory.alloc_storage(R.shape([32]), 0, "global", "uint8")
            y = R.memory.alloc_tensor(s, 0, R.shape([n]), "float32")
            Module.double(x, y)
            return y
        """,
        calls=("main(x: float32[8]) on naive", "main(x: float32[9]) on naive"),
    ),
    bug(
        "bound_is_no_integer",
        "apache/tvm PR #16362",
        "a declared bound that is no integer",
        "RLX502 always-wrong",
        """
        @R.function
        def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
            n = T.int64()
            R.func_attr({"tir_var_upper_bound": {"n": "250"}})
            y = R.add(x, x)
            return y
        """,
        calls=("main(x: float32[4]) on naive",),
    ),
    bug(
        "bound_for_nobody",
        "TVM's sources (planner)",
        "a declared bound whose name is misspelt",
        "RLX502 always-wrong",
        """
        @R.function
        def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
            n = T.int64()
            R.func_attr({"tir_var_upper_bound": {"N": 250}})
            y = R.add(x, x)
            return y
        """,
    ),
    bug(
        "one_bit_bools",
        "apache/tvm PR #14357 (repaired)",
        "six bools planned as one byte",
        "RLX101 always-wrong",
        """
        @R.function(pure=False)
        def main():
            s = R.memory.alloc_storage(R.shape([1]), 0, "global", "uint8")
            y = R.memory.alloc_tensor(s, 0, R.shape([6]), "bool")
            return y
        """,
        calls=("main() on naive", "main() on pooled"),
        right="an error, as from naive",
    ),
    bug(
        "product_wraps",
        "apache/tvm#20269, #20268, #20125; TVM's sources",
        "a product of extents beyond 64 bits, which fits into 0 bytes",
        "RLX101 always-wrong",
        """
        @R.function(pure=False)
        def main():
            s = R.memory.alloc_storage(R.shape([0]), 0, "global", "uint8")
            y = R.memory.alloc_tensor(s, 0, R.shape([4294967296, 4294967296]), "float32")
            return y
        """,
        calls=("main() on naive",),
        right="no tensor of 2**64 elements",
    ),
    bug(
        "negative_offset",
        "TVM's sources (storage check)",
        "a tensor in front of its storage",
        "RLX102 always-wrong",
        """
        @R.function(pure=False)
        def main():
            s = R.memory.alloc_storage(R.shape([32]), 0, "global", "uint8")
            y = R.memory.alloc_tensor(s, -16, R.shape([8]), "float32")
            return y
        """,
        calls=("main() on naive",),
        right="an error",
    ),
    bug(
        "rotary_buffer",
        "apache/tvm PR #18102",
        "a size computed from another extent than the tensor's",
        "RLX101 needs-runtime-check",
        """
        @R.function(pure=False)
        def main(x: R.Tensor(("n", "head"), "float32"), y: R.Tensor(("n", "rotary"), "float32")):
            n = T.int64()
            head = T.int64()
            rotary = T.int64()
            s = R.memory.alloc_storage(R.shape([n * head * 4]), 0, "global", "uint8")
            z = R.memory.alloc_tensor(s, 0, R.shape([n, rotary]), "float32")
            return z
        """,
        calls=("main(x: float32[2, 2], y: float32[2, 3]) on naive",),
    ),
    bug(
        "guarded",
        "mlc-ai/mlc-llm#860 (the fix)",
        "R.assert_op in front of the storage",
        "",
        DOUBLE,
        """
        @R.function(pure=False)
        def main(x: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
            m = T.int64()
            R.assert_op(m <= 4, [m], format="m is {}, at most 4 fit")
            s = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
            y = R.memory.alloc_tensor(s, 0, R.shape([m]), "float32")
            Module.double(x, y)
            return y
        """,
        calls=("main(x: float32[4]) on naive", "main(x: float32[5]) on naive"),
    ),
    bug(
        "too_large",
        "apache/tvm PR #16905 (repaired), mlc-ai/mlc-llm#2239",
        "more memory than there is",
        "RLX601 needs-runtime-check",
        """
        @R.function(pure=False)
        def main(x: R.Tensor(("n",), "float32")):
            n = T.int64()
            s = R.memory.alloc_storage(R.shape([n * 4]), 0, "global", "uint8")
            y = R.memory.alloc_tensor(s, 0, R.shape([n]), "float32")
            return y
        """,
        max_memory=1 << 20,
    ),
)
