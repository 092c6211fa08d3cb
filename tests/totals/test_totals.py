"""Totals of small functions, each figure checkable by hand."""

# TVMScript looks like Python but is not: every binding counts, also one that nothing reads.
# ruff: noqa: F841, RET504

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

from relax_lint.model.builder import build_program
from relax_lint.results.memory_figures import Amount, MemoryTotals
from relax_lint.settings.memory_request import Binding, MemoryRequest
from relax_lint.symbolic.printing import expr_text
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.compute import measure, size_of
from relax_lint.totals.quantities import evaluate
from relax_lint.totals.result import function_totals
from relax_lint.totals.walk import ExecMode
from relax_lint.vm.allocators import DEFAULT_PAGE_SIZE, Allocator


def totals(module: Any, name: str = "main", **options: Any) -> MemoryTotals:
    program = build_program(module)
    function = next(function for function in program.functions if function.name == name)
    binding = options.pop("binding", {})
    request = MemoryRequest(tuple(Binding(symbol, value, value) for symbol, value in binding.items()))
    return function_totals(
        program,
        function,
        measure(program, function, **options),
        request,
        page_size=options.get("page_size", DEFAULT_PAGE_SIZE),
    )


@I.ir_module
class Reuse:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        s = R.memory.alloc_storage(R.shape([100]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
        _ = R.call_packed("f", x, a, ty_args=R.Tuple)
        t = R.memory.alloc_storage(R.shape([5000]), 0, "global", "uint8")
        b = R.memory.alloc_tensor(t, 0, R.shape([4]), "float32")
        _1 = R.call_packed("f", a, b, ty_args=R.Tuple)
        u = R.memory.alloc_storage(R.shape([40]), 0, "global", "uint8")
        c = R.memory.alloc_tensor(u, 0, R.shape([4]), "float32")
        _2 = R.call_packed("f", b, c, ty_args=R.Tuple)
        return c


def test_a_storage_dies_with_the_last_tensor_on_it() -> None:
    found = totals(Reuse)
    # 100 + 5000, then a is dead and 5000 + 40 is less.
    assert found.peak_live == Amount("5100", 5100)
    assert found.peak_at is not None
    assert found.peak_at.binding == "t"
    # The third storage takes the page that the first one gave back.
    assert found.reserved == {"naive": Amount("5100", 5100), "pooled": Amount("12288", 4096 + 8192)}
    assert found.lower_bound == Amount("32", 32)
    assert (found.planned_static_count, found.planned_static_bytes) == (3, 5140)
    assert (found.unplanned_static_count, found.unplanned_static_bytes) == (3, 48)
    assert found.parameter_bytes == Amount("16", 16)
    assert found.io_used_memory == Amount("32", 32)
    assert totals(Reuse, page_size=64).reserved["pooled"] == Amount("5248", 128 + 5056 + 64)


@I.ir_module
class Symbolic:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        s = R.memory.alloc_storage(R.shape([16 * n]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(s, 0, R.shape([n]), "float32")
        k = R.memory.kill_storage(s)
        t = R.memory.alloc_storage(R.shape([4 * n * n]), 0, "global", "uint8")
        b = R.memory.alloc_tensor(t, 0, R.shape([n, n]), "float32")
        _ = R.call_packed("f", a, b, ty_args=R.Tuple)
        k1 = R.memory.kill_tensor(a)
        u = R.memory.alloc_storage(R.shape([4 * n + 8]), 0, "global", "uint8")
        c = R.memory.alloc_tensor(u, 0, R.shape([n]), "float32")
        _1 = R.call_packed("f", b, c, ty_args=R.Tuple)
        return c


def test_formulas_keep_only_what_can_be_the_greatest() -> None:
    found = totals(Symbolic)
    # 4n*n + 16n against 4n*n + 4n + 8: the second is greater where n = 0.
    assert found.peak_live == Amount("Max(4*n**2 + 16*n, 4*n**2 + 4*n + 8)", None)
    assert found.lower_bound == Amount("4*n**2 + 4*n", None)
    assert found.planned_dynamic_count == 3
    assert found.planned_dynamic_bytes == Amount("4*n**2 + 20*n + 8", None)
    # The second tensor and the first, and then the second and the third.
    assert [call.used_memory for call in found.calls] == [Amount("4*n**2 + 4*n", None)] * 2


def test_at_a_binding_the_figures_are_numbers() -> None:
    found = totals(Symbolic, binding={"n": 100})
    assert found.peak_live == Amount("Max(4*n**2 + 16*n, 4*n**2 + 4*n + 8)", 41600)
    # Pages: 1600 -> 4096, 40000 -> 40960, and 408 takes the page of the first.
    assert found.reserved["pooled"] is not None
    assert found.reserved["pooled"].value == 45056
    assert totals(Symbolic, binding={"n": 0}).peak_live == Amount(found.peak_live.expr, 8)


def test_equal_page_counts_share_a_buffer_only_where_they_are_equal() -> None:
    program = build_program(OneOfTwo)
    formula = measure(program, program.functions[0]).reserved
    text = totals(OneOfTwo).reserved["pooled"]
    # 8192 bytes are given back before 4n are obtained.
    assert text is not None
    assert (
        text.expr == "4096*((n + 1023)//1024) - Piecewise((8192, n >= 1025 and n <= 2048), (0, True)) + 8192"
    )
    for n, pages in ((0, 2), (1, 3), (1024, 3), (1025, 2), (2048, 2), (2049, 5)):
        bound = totals(OneOfTwo, binding={"n": n}).reserved["pooled"]
        assert bound is not None
        assert bound.value == pages * 4096, n
    assert not any(isinstance(part, Unknown) for part in formula.values())


def test_several_equal_page_counts_are_one_choice_among_ranges() -> None:
    program = build_program(SeveralSizes)
    (function,) = program.functions
    formula = measure(program, function).reserved[Allocator.POOLED]
    assert isinstance(formula, sympy.Expr)
    # One, two and five pages, each given back before 3*n bytes are obtained.
    assert expr_text(formula) == (
        "4096*((3*n + 4095)//4096) - Piecewise((4096, n >= 1 and n <= 1365), (8192, n >= 1366 and n <= 2730), "
        "(20480, n >= 5462 and n <= 6826), (0, True)) + 32768"
    )
    for n in range(9000):
        pages = -(-3 * n // 4096)
        assert evaluate(formula, {"n": n}) == 4096 * (8 + (0 if pages in (1, 2, 5) else pages)), n


@I.ir_module
class SeveralSizes:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        s = R.memory.alloc_storage(R.shape([100]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
        _ = R.call_packed("f", x, a, ty_args=R.Tuple)
        t = R.memory.alloc_storage(R.shape([5000]), 0, "global", "uint8")
        b = R.memory.alloc_tensor(t, 0, R.shape([4]), "float32")
        _1 = R.call_packed("f", x, b, ty_args=R.Tuple)
        u = R.memory.alloc_storage(R.shape([20000]), 0, "global", "uint8")
        c = R.memory.alloc_tensor(u, 0, R.shape([4]), "float32")
        _2 = R.call_packed("f", x, c, ty_args=R.Tuple)
        v = R.memory.alloc_storage(R.shape([3 * n]), 0, "global", "uint8")
        d = R.memory.alloc_tensor(v, 0, R.shape([3 * n]), "uint8")
        return d


@I.ir_module
class OneOfTwo:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        s = R.memory.alloc_storage(R.shape([5000]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
        _ = R.call_packed("f", x, a, ty_args=R.Tuple)
        t = R.memory.alloc_storage(R.shape([4 * n]), 0, "global", "uint8")
        b = R.memory.alloc_tensor(t, 0, R.shape([n]), "float32")
        return b


@I.ir_module
class Alternatives:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool"), n: R.Prim("int64")):
        if c:
            s = R.memory.alloc_storage(R.shape([1000]), 0, "global", "uint8")
            a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
            r = a
        else:
            t = R.memory.alloc_storage(R.shape([300]), 0, "global.ddr", "uint8")
            b = R.memory.alloc_tensor(t, 0, R.shape([4]), "float32")
            r = b
        u = R.memory.alloc_storage(R.shape([20]), 0, "global", "uint8")
        d = R.memory.alloc_tensor(u, 0, R.shape([4]), "float32")
        _ = R.call_packed("f", r, d, ty_args=R.Tuple)
        if n > 4:
            v = R.memory.alloc_storage(R.shape([5000]), 1, "global", "uint8")
            e = R.memory.alloc_tensor(v, 0, R.shape([4]), "float32")
            w = e
        else:
            w = d
        return w


def test_branches_are_alternatives_and_scopes_have_their_own_peaks() -> None:
    found = totals(Alternatives)
    # Nothing is killed behind a branch: 1000 + 20 + 5000, the latter where `n` is more than 4.
    assert found.peak_live == Amount("Piecewise((6020, n > 4), (1020, True))", None)
    assert found.by_scope == {
        "global": Amount("Piecewise((6020, n > 4), (1020, True))", None),
        "global.ddr": Amount("300", 300),
    }
    assert found.by_device == {
        "0": Amount("1020", 1020),
        "1": Amount("Piecewise((0, n <= 4), (5000, True))", None),
    }
    # TVM's estimator adds the branches up.
    assert found.planned_static_bytes == 6320


def test_a_binding_decides_the_branches_that_depend_on_it() -> None:
    for n, peak, on_second in ((5, 6020, 5000), (4, 1020, 0)):
        found = totals(Alternatives, binding={"n": n})
        assert found.peak_live is not None
        assert found.peak_live.value == peak
        second = found.by_device["1"]
        assert second is not None
        assert second.value == on_second


def test_over_a_range_the_groups_have_their_greatest_value() -> None:
    """The branch of 5000 bytes on the second device is taken where n is 5."""
    program = build_program(Alternatives)
    (function,) = program.functions
    request = MemoryRequest((Binding("n", 1, 8),))
    found = function_totals(program, function, measure(program, function), request, page_size=4096)
    greatest = {name: span.maximum for name, span in found.over_range.items() if name.startswith("by_")}
    assert greatest == {
        "by_scope.global": 6020,
        "by_scope.global.ddr": 300,
        "by_device.0": 1020,
        "by_device.1": 5000,
    }


@I.ir_module
class Calls:
    @R.function(pure=False, private=True)
    def work(y: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
        k = T.int64()
        s = R.memory.alloc_storage(R.shape([4 * k]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(s, 0, R.shape([k]), "float32")
        t = R.memory.alloc_storage(R.shape([64 * k]), 0, "global", "uint8")
        b = R.memory.alloc_tensor(t, 0, R.shape([k, 16]), "float32")
        _ = R.call_packed("f", y, b, a, ty_args=R.Tuple)
        return a

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Calls
        a: R.Tensor((n,), "float32") = cls.work(x)
        b: R.Tensor((n,), "float32") = cls.work(a)
        return b

    @R.function(pure=False)
    def again(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Calls
        return cls.again(x)


def test_callees_count_where_they_are_called_in_the_symbols_of_the_caller() -> None:
    found = totals(Calls)
    # In the second call the first result (4n) is alive: 4n + 4n + 64n.
    assert found.peak_live == Amount("72*n", None)
    assert found.planned_dynamic_count == 0
    assert totals(Calls, "work").peak_live == Amount("68*k", None)
    assert totals(Calls, binding={"n": 10}).peak_live == Amount("72*n", 720)


def test_a_function_that_calls_itself_has_no_total() -> None:
    found = totals(Calls, "again")
    assert found.peak_live is None
    assert found.reserved == {"naive": None, "pooled": None}
    program = build_program(Calls)
    again = next(function for function in program.functions if function.name == "again")
    reason = measure(program, again).peak_live
    assert isinstance(reason, Unknown)
    assert reason.reason == "`again` calls itself"


@I.ir_module
class Heaped:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        h = R.call_builtin_with_ctx(
            "vm.builtin.alloc_shape_heap", (R.prim_value(3),), ty_args=R.Tensor("int64", ndim=1)
        )
        s = R.vm.alloc_storage(
            R.shape([2, 2]), runtime_device_index=0, dtype="float32", storage_scope="global"
        )
        a = R.vm.alloc_tensor(s, offset=0, shape=R.shape([2, 2]), dtype="float32")
        k = R.vm.kill_object(s)
        t = R.vm.alloc_storage(R.shape([8]), runtime_device_index=0, dtype="uint8", storage_scope="global")
        return a


def test_lowered_functions_count_elements_and_their_shape_heap_and_keep_their_kills() -> None:
    # Three slots of 8 bytes, 2 * 2 floats, 8 bytes; nothing is killed that is not written.
    assert totals(Heaped).peak_live == Amount("48", 48)
    assert totals(Heaped).planned_static_bytes == 24


@I.ir_module
class KeptResult:
    @R.function(pure=False, private=True)
    def make() -> R.Tensor((25,), "float32"):
        s = R.memory.alloc_storage(R.shape([100]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(s, 0, R.shape([25]), "float32")
        return a

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        cls = KeptResult
        a = cls.make()
        k = R.memory.kill_tensor(a)
        t = R.memory.alloc_storage(R.shape([7]), 0, "global", "uint8")
        b = R.memory.alloc_tensor(t, 0, R.shape([7]), "uint8")
        return b


def test_the_machine_keeps_what_was_returned_last_only_in_bytecode() -> None:
    assert totals(KeptResult).peak_live == Amount("107", 107)
    assert totals(KeptResult, exec_mode=ExecMode.COMPILED).peak_live == Amount("100", 100)


@I.ir_module
class Passed:
    @R.function(pure=False, private=True)
    def pair(x: R.Tensor((4,), "float32")):
        s = R.memory.alloc_storage(R.shape([100]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(s, 0, R.shape([25]), "float32")
        t = R.memory.alloc_storage(R.shape([40]), 0, "global", "uint8")
        b = R.memory.alloc_tensor(t, 0, R.shape([10]), "float32")
        both = R.call_packed(
            "vm.builtin.make_tuple",
            *(a, b),
            ty_args=R.Tuple(R.Tensor((25,), "float32"), R.Tensor((10,), "float32")),
        )
        return both

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        cls = Passed
        both = cls.pair(x)
        b = R.call_packed(
            "vm.builtin.tuple_getitem", both, R.prim_value(1), ty_args=R.Tensor((10,), "float32")
        )
        u = R.memory.alloc_storage(R.shape([7]), 0, "global", "uint8")
        c = R.memory.alloc_tensor(u, 0, R.shape([7]), "uint8")
        return (b, c)


def test_builtins_of_tuples_keep_what_they_pass_on() -> None:
    """In compiled mode the tuple goes after its last use; what is taken out of it stays."""
    assert totals(Passed, exec_mode=ExecMode.COMPILED).peak_live == Amount("140", 140)
    assert totals(Passed).peak_live == Amount("147", 147)


@I.ir_module
class UnknownShape:
    @R.function(pure=False)
    def main(x: R.Tensor("float32", ndim=1), s: R.Shape(ndim=1)):
        t = R.memory.alloc_storage(s, 0, "global", "uint8")
        a = R.memory.alloc_tensor(t, 0, R.shape([4]), "float32")
        return a


@I.ir_module
class BitsOfABit:
    @R.function(pure=False)
    def main(x: R.Tensor((9,), "int4"), y: R.Tensor((9,), "uint1"), z: R.Tensor(("n",), "float4_e2m1fn")):
        return z


def test_parameters_of_less_than_a_byte_lie_side_by_side() -> None:
    """As TVM's `GetDataSize` has them: what `tvm.runtime.empty((9,), "int4")` obtains are 5 bytes."""
    assert totals(BitsOfABit).parameter_bytes == Amount("(n + 1)//2 + 7", None)
    assert totals(BitsOfABit, binding={"n": 9}).parameter_bytes == Amount("(n + 1)//2 + 7", 5 + 2 + 5)


def test_what_the_ir_does_not_say_is_left_out_and_not_guessed() -> None:
    found = totals(UnknownShape)
    assert found.parameter_bytes is None
    assert found.peak_live is None
    assert found.planned_dynamic_bytes is None
    assert found.lower_bound == Amount("16", 16)
    assert found.planned_dynamic_count == 1


@I.ir_module
class ThreeSizes:
    @R.function(pure=False)
    def main(x: R.Tensor(("n", "m", "k"), "uint8")):
        n = T.int64()
        m = T.int64()
        k = T.int64()
        a = R.memory.alloc_storage(R.shape([n]), 0, "global", "uint8")
        b = R.memory.alloc_storage(R.shape([m]), 0, "global", "uint8")
        e = R.memory.kill_storage(a)
        c = R.memory.alloc_storage(R.shape([k]), 0, "global", "uint8")
        e1 = R.memory.kill_storage(b)
        d = R.memory.alloc_storage(R.shape([n]), 0, "global", "uint8")
        return (c, d)


def test_no_formula_is_better_than_a_wrong_one() -> None:
    # Any two sizes are alive together, never all three: where all are equal two buffers are enough.
    assert totals(ThreeSizes).reserved["pooled"] is None
    for binding, pages in (({"n": 1, "m": 1, "k": 1}, 2), ({"n": 1, "m": 1, "k": 5000}, 4)):
        found = totals(ThreeSizes, binding=binding)
        assert found.reserved["pooled"] is not None
        assert found.reserved["pooled"].value == pages * 4096
    assert totals(ThreeSizes).reserved["naive"] == Amount("Max(k + m, k + n, m + n)", None)


@I.ir_module
class TwoDevices:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        a = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        e = R.memory.kill_storage(a)
        b = R.memory.alloc_storage(R.shape([16]), 1, "global", "uint8")
        e1 = R.memory.kill_storage(b)
        c = R.memory.alloc_storage(R.shape([16]), 1, "global", "uint8")
        return c


def test_devices_do_not_share_a_pool() -> None:
    found = totals(TwoDevices)
    assert found.reserved == {"naive": Amount("16", 16), "pooled": Amount("8192", 8192)}
    assert found.by_device == {"0": Amount("16", 16), "1": Amount("16", 16)}


@I.ir_module
class OnChip:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        s = R.memory.alloc_storage(R.shape([100]), 0, "global.vtcm", "uint8")
        t = R.memory.alloc_storage(R.shape([2048]), 0, "global.vtcm", "uint8")
        u = R.memory.alloc_storage(R.shape([4 * n]), 0, "global.vtcm", "uint8")
        v = R.memory.alloc_storage(R.shape([100]), 0, "global.ddr", "uint8")
        return x


def test_on_chip_memory_is_handed_out_in_steps() -> None:
    found = totals(OnChip, binding={"n": 513})
    vtcm = found.by_scope["global.vtcm"]
    assert vtcm is not None
    assert (vtcm.value, found.by_scope["global.ddr"]) == (2048 + 2048 + 4096, Amount("100", 100))
    assert found.planned_static_bytes == 100 + 2048 + 100


@I.ir_module
class CopiedView:
    @R.function(pure=False)
    def moved(x: R.Tensor((4,), "float32")):
        s = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        t = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
        v = R.memory.view(t, R.shape([2]), "float32", 8)
        z = R.memory.ensure_zero_offset(v)
        k = R.memory.kill_tensor(t)
        k2 = R.memory.kill_storage(s)
        k3 = R.memory.kill_tensor(v)
        q = R.memory.alloc_storage(R.shape([64]), 0, "global", "uint8")
        u = R.memory.alloc_tensor(q, 0, R.shape([4]), "float32")
        return z

    @R.function(pure=False)
    def there(x: R.Tensor((4,), "float32")):
        s = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        t = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
        v = R.memory.view(t, R.shape([2]), "float32", 0)
        z = R.memory.ensure_zero_offset(v)
        k = R.memory.kill_tensor(t)
        k2 = R.memory.kill_storage(s)
        k3 = R.memory.kill_tensor(v)
        q = R.memory.alloc_storage(R.shape([64]), 0, "global", "uint8")
        u = R.memory.alloc_tensor(q, 0, R.shape([4]), "float32")
        return z


@I.ir_module
class ViewAtAnAlignedOffset:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        s = R.memory.alloc_storage(R.shape([1000]), 0, "global", "uint8")
        t = R.memory.alloc_tensor(s, 64, R.shape([4]), "float32")
        z = R.memory.ensure_zero_offset(t)
        k = R.memory.kill_tensor(t)
        k2 = R.memory.kill_storage(s)
        q = R.memory.alloc_storage(R.shape([64]), 0, "global", "uint8")
        u = R.memory.alloc_tensor(q, 0, R.shape([4]), "float32")
        return z


def test_what_starts_at_an_aligned_offset_is_not_copied() -> None:
    assert totals(ViewAtAnAlignedOffset).peak_live == Amount("1064", 1064)


def test_a_copy_of_a_view_does_not_keep_its_storage() -> None:
    assert totals(CopiedView, "moved").peak_live == Amount("64", 64)
    assert totals(CopiedView, "there").peak_live == Amount("80", 80)


def test_where_a_device_moves_pointers_a_view_keeps_its_storage() -> None:
    program = replace(build_program(CopiedView), moves_pointers=True)
    found = {function.name: size_of(measure(program, function).peak_live) for function in program.functions}
    assert found["moved"] == found["there"] == 80
