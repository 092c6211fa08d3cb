"""`used_memory` and `io_used_memory`: the ten cases that Relay's AnnotateUsedMemory was known by, and what it
could not do. Sizes are bytes; tensors are int8 unless said.
"""

# TVMScript looks like Python but is not: every binding counts, also one that nothing reads.
# ruff: noqa: F841, RET504

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

from relax_lint.model.builder import build_program
from relax_lint.totals.annotate import AnnotateUsedMemory, annotate_used_memory
from relax_lint.totals.compute import measure
from relax_lint.totals.result import function_totals


def annotations(module: Any) -> tuple[dict[str, list[Any]], Any]:
    """used_memory of every function that has it, and io_used_memory of `main`."""
    annotated = annotate_used_memory(module)
    used = {
        str(var.name_hint): list(annotated[var].attrs["used_memory"])
        for var in annotated.get_global_vars()
        if annotated[var].attrs is not None and "used_memory" in annotated[var].attrs
    }
    return used, annotated["main"].attrs["io_used_memory"]


@I.ir_module
class OnePool:
    @R.function(private=True)
    def pool(x: R.Tensor((1, 2, 2, 4), "int8")) -> R.Tensor((1, 2, 2, 4), "int8"):
        R.func_attr({"Primitive": True})
        y = R.nn.max_pool2d(x, pool_size=[1, 1], layout="NHWC")
        return y

    @R.function
    def main(x: R.Tensor((1, 2, 2, 4), "int8")):
        cls = OnePool
        return cls.pool(x)


def test_one_max_pool() -> None:
    assert annotations(OnePool) == ({"pool": [32]}, 32)


@I.ir_module
class ThreePools:
    @R.function(private=True)
    def first(x: R.Tensor((1, 8, 8, 2), "int8")) -> R.Tensor((1, 7, 7, 2), "int8"):
        R.func_attr({"Primitive": True})
        return R.nn.max_pool2d(x, pool_size=[2, 2], layout="NHWC")

    @R.function(private=True)
    def second(x: R.Tensor((1, 7, 7, 2), "int8")) -> R.Tensor((1, 6, 6, 2), "int8"):
        R.func_attr({"Primitive": True})
        return R.nn.max_pool2d(x, pool_size=[2, 2], layout="NHWC")

    @R.function(private=True)
    def third(x: R.Tensor((1, 6, 6, 2), "int8")) -> R.Tensor((1, 5, 5, 2), "int8"):
        R.func_attr({"Primitive": True})
        return R.nn.max_pool2d(x, pool_size=[2, 2], layout="NHWC")

    @R.function
    def main(x: R.Tensor((1, 8, 8, 2), "int8")):
        cls = ThreePools
        a = cls.first(x)
        b = cls.second(a)
        c = cls.third(b)
        return c


def test_three_max_pools_in_a_row() -> None:
    # 128 + 98, 98 + 72, 72 + 50: the values before are dead.
    assert annotations(ThreePools) == ({"first": [226], "second": [170], "third": [122]}, 178)


@I.ir_module
class Cast:
    @R.function(private=True)
    def cast(x: R.Tensor((1, 2, 2, 2), "int16")) -> R.Tensor((1, 2, 2, 2), "uint32"):
        R.func_attr({"Primitive": True})
        return R.astype(x, "uint32")

    @R.function
    def main(x: R.Tensor((1, 2, 2, 2), "int16")):
        cls = Cast
        return cls.cast(x)


def test_a_cast() -> None:
    # 8 elements of 2 bytes, 8 of 4.
    assert annotations(Cast) == ({"cast": [48]}, 48)


@I.ir_module
class TwoReshapes:
    @R.function(private=True)
    def one(x: R.Tensor((1, 4, 5, 6), "int8")) -> R.Tensor((1, 4, 30), "int8"):
        R.func_attr({"Primitive": True})
        return R.reshape(x, (1, 4, 30))

    @R.function(private=True)
    def two(x: R.Tensor((1, 4, 5, 6), "int8")) -> R.Tensor((1, 4, 30), "int8"):
        R.func_attr({"Primitive": True})
        return R.reshape(x, (1, 4, 30))

    @R.function
    def main(x: R.Tensor((1, 4, 5, 6), "int8")):
        cls = TwoReshapes
        a = cls.one(x)
        b = cls.two(x)
        return R.concat((a, b), axis=0)


def test_two_reshapes_of_one_input() -> None:
    # The second finds the first one's result still to be used.
    assert annotations(TwoReshapes) == ({"one": [240], "two": [360]}, 360)


@I.ir_module
class MixedOperators:
    @R.function(private=True)
    def tanh(x: R.Tensor((1, 4, 5, 6), "int8")) -> R.Tensor((1, 4, 5, 6), "int8"):
        R.func_attr({"Primitive": True})
        return R.abs(x)

    @R.function(private=True)
    def pool(x: R.Tensor((1, 4, 5, 6), "int8")) -> R.Tensor((1, 4, 5, 6), "int8"):
        R.func_attr({"Primitive": True})
        return R.nn.max_pool2d(x, pool_size=[1, 1])

    @R.function(private=True)
    def chain(x: R.Tensor((1, 4, 5, 6), "int8")) -> R.Tensor((1, 4, 5, 6), "int8"):
        R.func_attr({"Primitive": True})
        a = R.abs(x)
        b = R.nn.relu(a)
        return R.negative(b)

    @R.function(private=True)
    def join(
        x: R.Tensor((1, 4, 5, 6), "int8"),
        y: R.Tensor((1, 4, 5, 6), "int8"),
        z: R.Tensor((1, 4, 5, 6), "int8"),
    ) -> R.Tensor((1, 4, 5, 18), "int8"):
        R.func_attr({"Primitive": True})
        return R.concat((x, y, z), axis=3)

    @R.function
    def main(x: R.Tensor((1, 4, 5, 6), "int8")):
        cls = MixedOperators
        a = cls.tanh(x)
        b = cls.pool(x)
        c = cls.chain(x)
        return cls.join(a, b, c)


def test_three_functions_of_one_input_and_a_fourth_that_joins_them() -> None:
    used = {"tanh": [240], "pool": [360], "chain": [480], "join": [720]}
    assert annotations(MixedOperators) == (used, 480)


@I.ir_module
class NestedBranches:
    @R.function(private=True)
    def a(x: R.Tensor((1, 2, 2, 4), "int8")) -> R.Tensor((1, 2, 2, 4), "int8"):
        R.func_attr({"Primitive": True})
        return R.nn.max_pool2d(x, pool_size=[1, 1], layout="NHWC")

    @R.function(private=True)
    def b(x: R.Tensor((1, 2, 2, 4), "int8")) -> R.Tensor((1, 2, 2, 4), "int8"):
        R.func_attr({"Primitive": True})
        return R.nn.max_pool2d(x, pool_size=[1, 1], layout="NHWC")

    @R.function(private=True)
    def c(x: R.Tensor((1, 2, 2, 4), "int8")) -> R.Tensor((1, 2, 2, 4), "int8"):
        R.func_attr({"Primitive": True})
        return R.nn.max_pool2d(x, pool_size=[1, 1], layout="NHWC")

    @R.function(private=True)
    def d(x: R.Tensor((1, 2, 2, 4), "int8")) -> R.Tensor((1, 2, 2, 4), "int8"):
        R.func_attr({"Primitive": True})
        return R.nn.max_pool2d(x, pool_size=[1, 1], layout="NHWC")

    @R.function
    def main(x: R.Tensor((1, 2, 2, 4), "int8")):
        cls = NestedBranches
        a = cls.a(x)
        b = cls.b(x)
        c = cls.c(b)
        d = cls.d(b)
        return R.concat((a, c, d), axis=3)


def test_nested_branches_of_data_flow() -> None:
    assert annotations(NestedBranches) == ({"a": [32], "b": [48], "c": [48], "d": [64]}, 64)


@I.ir_module
class Composite:
    @R.function(private=True)
    def pool(x: R.Tensor((1, 2, 2, 4), "int8")) -> R.Tensor((1, 1, 1, 4), "int8"):
        R.func_attr({"Primitive": True})

        @R.function(private=True)
        def inner(y: R.Tensor((1, 2, 2, 4), "int8")) -> R.Tensor((1, 1, 1, 4), "int8"):
            R.func_attr({"Composite": "pool2x2"})
            return R.nn.max_pool2d(y, pool_size=[2, 2], layout="NHWC")

        return inner(x)

    @R.function
    def main(x: R.Tensor((1, 2, 2, 4), "int8")):
        cls = Composite
        return cls.pool(x)


def test_a_primitive_function_with_a_composite_in_it() -> None:
    assert annotations(Composite) == ({"pool": [20]}, 20)


@I.ir_module
class TwiceInARow:
    @R.function(private=True)
    def pool(x: R.Tensor((1, 2, 2, 4), "int8")) -> R.Tensor((1, 2, 2, 4), "int8"):
        R.func_attr({"Primitive": True})
        return R.nn.max_pool2d(x, pool_size=[1, 1], layout="NHWC")

    @R.function
    def main(x: R.Tensor((1, 2, 2, 4), "int8")):
        cls = TwiceInARow
        a = cls.pool(x)
        return cls.pool(a)


def test_one_function_called_twice_in_a_row() -> None:
    assert annotations(TwiceInARow) == ({"pool": [32, 32]}, 32)


@I.ir_module
class TwiceOnTheSame:
    @R.function(private=True)
    def pool(x: R.Tensor((1, 2, 2, 4), "int8")) -> R.Tensor((1, 2, 2, 4), "int8"):
        R.func_attr({"Primitive": True})
        return R.nn.max_pool2d(x, pool_size=[1, 1], layout="NHWC")

    @R.function
    def main(x: R.Tensor((1, 2, 2, 4), "int8")):
        cls = TwiceOnTheSame
        a = cls.pool(x)
        b = cls.pool(x)
        return R.concat((a, b), axis=0)


def test_one_function_called_twice_on_the_same_input() -> None:
    assert annotations(TwiceOnTheSame) == ({"pool": [32, 48]}, 48)


def many_pools(calls: int, batch: Any = 1) -> Any:
    """tanh of one (batch, 4, 5, 6) input, and a 2x2 max pool (80 bytes per image) of that, many times."""
    outside, inside = [tvm.tirx.Var(name, "int64") if batch == "b" else batch for name in ("b", "c")]

    def tensor(extent: Any, *rest: int) -> Any:
        return relax.TensorType([extent, *rest], "int8")

    builder = relax.BlockBuilder()
    y = relax.Var("y", tensor(inside, 4, 5, 6))
    with builder.function("pool", [y], attrs={"Primitive": True}, private=True):
        builder.emit_func_output(builder.emit(relax.op.nn.max_pool2d(y, pool_size=(2, 2))))
    z = relax.Var("z", tensor(inside, 4, 5, 6))
    with builder.function("tanh", [z], attrs={"Primitive": True}, private=True):
        builder.emit_func_output(builder.emit(relax.op.abs(z)))
    x = relax.Var("x", tensor(outside, 4, 5, 6))
    module = builder.get()
    pool, tanh = module.get_global_var("pool"), module.get_global_var("tanh")
    with builder.function("main", [x]):
        t = builder.emit(relax.Call(tanh, [x]))
        pooled = [builder.emit(relax.Call(pool, [t])) for _ in range(calls)]
        builder.emit_func_output(builder.emit(relax.op.concat(pooled, axis=3)))
    return builder.get()


def test_one_function_called_twenty_times() -> None:
    used, io = annotations(many_pools(20))
    assert used["tanh"] == [240]
    assert used["pool"] == [120 + 80 * i for i in range(1, 21)]
    assert io == 1720


def test_twenty_calls_with_a_symbolic_batch() -> None:
    used, io = annotations(many_pools(3, batch="b"))
    assert used == {"tanh": ["240*b"], "pool": ["200*b", "280*b", "360*b"]}
    assert io == "360*b"


@I.ir_module
class SymbolicRow:
    @R.function(private=True)
    def double(x: R.Tensor(("k", 4), "int8")) -> R.Tensor(("k", 8), "int8"):
        k = T.int64()
        R.func_attr({"Primitive": True})
        return R.concat((x, x), axis=1)

    @R.function(private=True)
    def halve(x: R.Tensor(("k", 8), "int8")) -> R.Tensor(("k", 4), "int8"):
        k = T.int64()
        R.func_attr({"Primitive": True})
        return R.strided_slice(x, axes=[1], begin=[0], end=[4])

    @R.function
    def main(x: R.Tensor(("n", 4), "int8")) -> R.Tensor(("n", 4), "int8"):
        n = T.int64()
        cls = SymbolicRow
        a: R.Tensor((n, 8), "int8") = cls.double(x)
        b: R.Tensor((n, 4), "int8") = cls.halve(a)
        return b


def test_a_symbolic_row_of_calls() -> None:
    assert annotations(SymbolicRow) == ({"double": ["12*n"], "halve": ["12*n"]}, "8*n")


@I.ir_module
class SymbolicTwice:
    @R.function(private=True)
    def pool(x: R.Tensor(("k", 2, 2, 4), "float16")) -> R.Tensor(("k", 2, 2, 4), "float16"):
        k = T.int64()
        R.func_attr({"Primitive": True})
        return R.nn.max_pool2d(x, pool_size=[1, 1], layout="NHWC")

    @R.function
    def main(x: R.Tensor(("n", 2, 2, 4), "float16")) -> R.Tensor((1, 2, 2, 4), "float16"):
        n = T.int64()
        cls = SymbolicTwice
        a: R.Tensor((n, 2, 2, 4), "float16") = cls.pool(x)
        one: R.Tensor((1, 2, 2, 4), "float16") = R.max(x, axis=0, keepdims=True)
        b: R.Tensor((1, 2, 2, 4), "float16") = cls.pool(one)
        c: R.Tensor((1, 2, 2, 4), "float16") = R.max(a, axis=0, keepdims=True)
        return R.add(b, c)


def test_a_function_called_with_two_shapes() -> None:
    # 16 elements of 2 bytes per image; at the second call `a`, its input and its output are alive.
    assert annotations(SymbolicTwice) == ({"pool": ["64*n", "32*n + 64"]}, "32*n + 32")


@I.ir_module
class Kernels:
    @T.prim_func(private=True)
    def add(x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "float32"), z: T.Buffer((8,), "float32")):
        for i in range(8):
            z[i] = x[i] + y[i]

    @R.function
    def main(x: R.Tensor((8,), "float32"), c: R.Tensor((), "bool")):
        cls = Kernels
        a = R.call_tir(cls.add, (x, x), out_ty=R.Tensor((8,), "float32"))
        if c:
            b = R.call_tir(cls.add, (a, x), out_ty=R.Tensor((8,), "float32"))
        else:
            b = R.call_tir(cls.add, (a, a), out_ty=R.Tensor((8,), "float32"))
        return R.call_tir(cls.add, (b, b), out_ty=R.Tensor((8,), "float32"))


def test_kernels_are_annotated_and_branches_are_alternatives() -> None:
    # 32 bytes each. At the first call x, its result, and the condition (1 byte), which is still needed. In the then-branch
    # x, a and b; in the else-branch x is dead.
    used, io = annotations(Kernels)
    assert used == {"add": [65, 96, 64, 64]}
    assert io == 65


@I.ir_module
class Packed:
    @R.function(pure=False)
    def main(x: R.Tensor((8,), "float32")):
        k = R.const([1.0, 2.0], "float32")
        a = R.call_packed("f", x, k, ty_args=R.Tensor((4,), "float32"))
        b = R.call_inplace_packed("g", a, inplace_indices=[0], ty_args=R.Tensor((4,), "float32"))
        c = R.call_packed("h", b, ty_args=R.Tensor("float32", ndim=1))
        return c


def test_packed_calls_constants_and_what_is_not_known() -> None:
    program = build_program(Packed)
    function = program.functions[0]
    totals = function_totals(program, function, measure(program, function), page_size=4096)
    figures = [(call.callee, call.used_memory and call.used_memory.value) for call in totals.calls]
    # x, the constant, a; then a alone, overwritten; then a result of unknown length.
    assert figures == [("f", 32 + 8 + 16), ("g", 16), ("h", None)]
    assert totals.io_used_memory is None
    assert annotate_used_memory(Packed)["main"].attrs["io_used_memory"] == "unknown"


def test_the_pass_works_in_a_sequence() -> None:
    both = tvm.transform.Sequential([relax.transform.Normalize(), AnnotateUsedMemory()])
    annotated = both(ThreePools)
    assert list(annotated["second"].attrs["used_memory"]) == [170]
    assert ThreePools["second"].attrs.get("used_memory") is None


def test_a_primitive_function_has_no_figures_of_its_own() -> None:
    annotated = annotate_used_memory(ThreePools)
    assert {
        str(var.name_hint) for var in annotated.get_global_vars() if "io_used_memory" in annotated[var].attrs
    } == {"main"}


@I.ir_module
class Pairs:
    @R.function
    def main(
        x: R.Tuple(R.Tensor((4,), "int8"), R.Tuple(R.Tensor((8,), "int8"), R.Tensor((16,), "int8"))),
    ) -> R.Tuple(R.Tensor((4,), "int8"), R.Tensor((8,), "int8")):
        a = x[0]
        b = x[1]
        c = b[0]
        return (a, c)


def test_fields_of_tuples_are_inputs_and_outputs() -> None:
    assert annotations(Pairs) == ({}, 28 + 12)
