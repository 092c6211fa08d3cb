"""Values that are overwritten, killed or read at the wrong time, as planners and passes left them."""

from __future__ import annotations

from benchmarks.bugs.bug import ADD, DOUBLE, REVERSE, TRIPLE_IN_PLACE, Bug, bug

BUGS: tuple[Bug, ...] = (
    bug(
        "match_cast_is_an_alias",
        "apache/tvm#20190, #20207",
        "a storage reused while the result of a match_cast of its tensor is needed",
        "RLX203 always-wrong",
        DOUBLE,
        ADD,
        """
        @R.function(pure=False)
        def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            s = R.memory.alloc_storage(R.shape([12]), 0, "global", "uint8")
            a = R.memory.alloc_tensor(s, 0, R.shape([3]), "float32")
            Module.double(x, a)
            same = R.match_cast(a, R.Tensor((3,), "float32"))
            b = R.memory.alloc_tensor(s, 0, R.shape([3]), "float32")
            Module.add(a, x, b)
            t = R.memory.alloc_storage(R.shape([12]), 0, "global", "uint8")
            c = R.memory.alloc_tensor(t, 0, R.shape([3]), "float32")
            Module.add(same, b, c)
            return c
        """,
    ),
    bug(
        "reshape_is_an_alias",
        "apache/tvm PR #20134",
        "a storage reused while a view by vm.builtin.reshape is needed",
        "RLX203 always-wrong",
        DOUBLE,
        ADD,
        """
        @R.function(pure=False)
        def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            s = R.memory.alloc_storage(R.shape([12]), 0, "global", "uint8")
            a = R.memory.alloc_tensor(s, 0, R.shape([3]), "float32")
            Module.double(x, a)
            view = R.call_packed("vm.builtin.reshape", a, R.shape([3]), ty_args=R.Tensor((3,), "float32"))
            b = R.memory.alloc_tensor(s, 0, R.shape([3]), "float32")
            Module.add(a, a, b)
            t = R.memory.alloc_storage(R.shape([12]), 0, "global", "uint8")
            c = R.memory.alloc_tensor(t, 0, R.shape([3]), "float32")
            Module.add(view, b, c)
            return c
        """,
        calls=("main(x: float32[3]) on naive",),
        right="0.0, 6.0, 12.0",
    ),
    bug(
        "copy_is_an_alias",
        "TVM's sources (planner)",
        "a storage reused while the result of vm.builtin.copy is needed",
        "RLX203 always-wrong",
        DOUBLE,
        ADD,
        """
        @R.function(pure=False)
        def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            s = R.memory.alloc_storage(R.shape([12]), 0, "global", "uint8")
            a = R.memory.alloc_tensor(s, 0, R.shape([3]), "float32")
            Module.double(x, a)
            same = R.call_packed("vm.builtin.copy", a, ty_args=R.Tensor((3,), "float32"))
            b = R.memory.alloc_tensor(s, 0, R.shape([3]), "float32")
            Module.add(a, a, b)
            t = R.memory.alloc_storage(R.shape([12]), 0, "global", "uint8")
            c = R.memory.alloc_tensor(t, 0, R.shape([3]), "float32")
            Module.add(same, b, c)
            return c
        """,
        calls=("main(x: float32[3]) on naive",),
        right="0.0, 6.0, 12.0",
    ),
    bug(
        "two_live_tensors",
        "apache/tvm#20190 (planned form)",
        "two tensors that are both needed on overlapping bytes",
        "RLX203 always-wrong",
        DOUBLE,
        ADD,
        """
        @R.function(pure=False)
        def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            s = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
            a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
            b = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
            t = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
            c = R.memory.alloc_tensor(t, 0, R.shape([4]), "float32")
            Module.double(x, a)
            Module.add(x, x, b)
            Module.double(b, b)
            Module.add(a, b, c)
            return c
        """,
        calls=("main(x: float32[4]) on naive",),
        right="0.0, 6.0, 12.0, 18.0",
    ),
    bug(
        "in_place_under_a_view",
        "apache/tvm#19577, PR #15372",
        "call_tir_inplace on a tensor whose view is read later",
        "RLX206 always-wrong",
        TRIPLE_IN_PLACE,
        ADD,
        """
        @R.function(pure=False)
        def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            s = R.memory.alloc_storage(R.shape([12]), 0, "global", "uint8")
            a = R.memory.alloc_tensor(s, 0, R.shape([3]), "float32")
            Module.add(x, x, a)
            v = R.memory.view(a, R.shape([3]))
            b = R.call_tir_inplace(
                Module.triple, (a,), inplace_indices=[0], out_ty=[R.Tensor((3,), "float32")]
            )
            c = R.call_tir(Module.add, (v, b), R.Tensor((3,), "float32"))
            return c
        """,
        calls=("main(x: float32[3]) on naive",),
        right="0.0, 8.0, 16.0",
    ),
    bug(
        "in_place_on_a_constant",
        "TVM's sources (call_tir_inplace)",
        "an in-place call that changes a constant of the module",
        "RLX206 always-wrong",
        TRIPLE_IN_PLACE,
        """
        @R.function(pure=False)
        def main(x: R.Tensor((1,), "float32")) -> R.Tensor((1,), "float32"):
            y = R.call_tir_inplace(
                Module.triple, (R.const([2], "float32"),), inplace_indices=[0],
                out_ty=[R.Tensor((1,), "float32")],
            )
            return y
        """,
        calls=("main(x: float32[1]) on naive", "main(x: float32[1]) on naive"),
        right="6.0 both times",
    ),
    bug(
        "output_is_input",
        "TVM's sources (kernels)",
        "a kernel whose output is its input, each element from another one",
        "RLX206 always-wrong",
        DOUBLE,
        REVERSE,
        """
        @R.function(pure=False)
        def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            s = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
            a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
            Module.double(x, a)
            Module.reverse(a, a)
            return a
        """,
        calls=("main(x: float32[4]) on naive",),
        right="6.0, 4.0, 2.0, 0.0",
    ),
    bug(
        "kill_then_use",
        "apache/tvm PR #15854, #15855",
        "a kill before the last use under another name",
        "RLX201 always-wrong",
        DOUBLE,
        """
        @R.function(pure=False)
        def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            s = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
            a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
            Module.double(x, a)
            same = R.match_cast(a, R.Tensor((4,), "float32"))
            R.memory.kill_tensor(a)
            t = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
            b = R.memory.alloc_tensor(t, 0, R.shape([4]), "float32")
            Module.double(same, b)
            return b
        """,
        calls=("main(x: float32[4]) on naive",),
    ),
    bug(
        "kill_a_storage_then_allocate",
        "TVM's sources (kills)",
        "a tensor on a storage that was killed",
        "RLX201 always-wrong",
        """
        @R.function(pure=False)
        def main():
            s = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
            R.memory.kill_storage(s)
            a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
            return a
        """,
        calls=("main() on naive",),
    ),
    bug(
        "kill_a_constant",
        "apache/tvm#17340",
        "kill_tensor of a constant",
        "RLX201 always-wrong",
        """
        @R.function(pure=False)
        def main(x: R.Tensor((1,), "float32")) -> R.Tensor((1,), "float32"):
            R.memory.kill_tensor(R.const([2], "float32"))
            return x
        """,
        calls=("main(x: float32[1]) on naive",),
    ),
    bug(
        "argument_removed",
        "apache/tvm PR #16036",
        "a tensor whose only writer was removed",
        "RLX205 always-wrong",
        DOUBLE,
        """
        @R.function(pure=False)
        def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            s = R.memory.alloc_storage(R.shape([32]), 0, "global", "uint8")
            a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
            t = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
            b = R.memory.alloc_tensor(t, 0, R.shape([4]), "float32")
            Module.double(a, b)
            return b
        """,
    ),
    bug(
        "never_written",
        "apache/tvm#19578 (planned form)",
        "an accumulator that nothing sets",
        "RLX205 always-wrong",
        ADD,
        """
        @R.function(pure=False)
        def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            s = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
            a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
            Module.add(x, a, a)
            return a
        """,
    ),
    bug(
        "merged_allocations",
        "apache/tvm PR #16852",
        "two equal allocations merged into one: both results are read",
        "RLX203 always-wrong",
        DOUBLE,
        ADD,
        """
        @R.function(pure=False)
        def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            a = R.builtin.alloc_tensor(R.shape([4]), "float32", 0, "global")
            Module.double(x, a)
            Module.add(x, x, a)
            c = R.builtin.alloc_tensor(R.shape([4]), "float32", 0, "global")
            Module.add(a, a, c)
            return c
        """,
        undecidable="a tensor that is written twice, and read after the second time, is a right program too",
    ),
    bug(
        "large_storage",
        "TVM's sources (storages)",
        "a storage that nothing uses",
        "RLX208 always-wrong",
        """
        @R.function(pure=False)
        def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            s = R.memory.alloc_storage(R.shape([67108864]), 0, "global", "uint8")
            return x
        """,
    ),
    bug(
        "small_output",
        "apache/tvm PR #16318; TVM's sources (storages)",
        "a large storage that a small output keeps",
        "RLX602 always-wrong",
        DOUBLE,
        """
        @R.function(pure=False)
        def main(x: R.Tensor((1,), "float32")) -> R.Tensor((1,), "float32"):
            s = R.memory.alloc_storage(R.shape([67108864]), 0, "global", "uint8")
            y = R.memory.alloc_tensor(s, 0, R.shape([1]), "float32")
            Module.double(x, y)
            return y
        """,
    ),
)
