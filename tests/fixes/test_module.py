"""Changes made in an IRModule, each written down by hand: what is changed, and that nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import pytest
import sympy
import tvm
from tvm import relax

from relax_lint.fixes.changes import Change, InsertAssert, MoveKill, Remove, RenameBound, ResizeStorage
from relax_lint.fixes.module.changed import Inapplicable, apply_changes
from relax_lint.fixes.module.rewriting import bindings_of
from relax_lint.model.builder import build_program
from relax_lint.model.operations import AllocStorage, AllocTensor, Assert, If, Kill, MatchCast, Op
from relax_lint.model.program import BoundKind, Function
from tests.rules.checking import DOUBLE, LOWERING, findings, parse

m, n = (sympy.Symbol(name, integer=True) for name in "mn")
AnyOp = TypeVar("AnyOp", bound=Op)


def main_of(module: Any, name: str = "main") -> Function:
    return next(function for function in build_program(module).functions if function.name == name)


def ops(function: Function, kind: type[AnyOp]) -> list[AnyOp]:
    return [op for op in function.body.walk() if isinstance(op, kind)]


def changed(module: Any, *changes: Change, name: str = "main") -> Any:
    """The module after the changes of one function: well-formed, with every other binding as it was."""
    function = main_of(module, name)
    made = apply_changes(module, [(function, change) for change in changes])
    relax.analysis.well_formed(made)
    return made


def lines(module: Any) -> list[str]:
    """The bindings of the functions, as TVM prints them."""
    return [line.strip() for line in module.script().splitlines() if "= R." in line or " R." in line[:12]]


def kept(old: Any, new: Any, name: str = "main") -> list[Any]:
    """The bindings of the new function that are the very nodes of the old one."""
    before = bindings_of(old[name].body)
    return [binding for binding in bindings_of(new[name].body) if any(binding.same_as(b) for b in before)]


OVERFLOW = """
    @R.function(pure=False)
    def main(x: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
        m = T.int64()
        s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        y = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([m]), R.dtype("float32"))
        Module.double(x, y)
        return y
"""


def overflow() -> Any:
    return parse(DOUBLE + OVERFLOW)


def test_an_assert_at_entry_is_one_more_binding_and_nothing_else() -> None:
    old = overflow()
    new = changed(old, InsertAssert(m <= 4, (m,), None))
    assert 'R.assert_op(m <= 4, m, format=R.str("m = {}, but m <= 4 is needed"))' in lines(new)
    assert len(bindings_of(new["main"].body)) == len(bindings_of(old["main"].body)) + 1
    assert kept(old, new) == bindings_of(old["main"].body)
    assert new["double"].same_as(old["double"])
    assert not findings(new, "RLX101")


def test_the_module_that_is_changed_stays_as_it_was() -> None:
    old, again = overflow(), overflow()
    changed(old, InsertAssert(m <= 4, (m,), None))
    tvm.ir.assert_structural_equal(old, again)


@pytest.mark.skipif(tvm.__version__.startswith("0.26"), reason="0.26 cannot read its own printed symbols")
def test_what_is_printed_reads_back_as_the_same_module() -> None:
    new = changed(overflow(), InsertAssert(m <= 4, (m,), None))
    tvm.ir.assert_structural_equal(tvm.script.from_source(new.script()), new)


def test_an_assert_where_its_symbol_is_known_comes_right_there() -> None:
    module = parse(
        """
        @R.function(pure=False)
        def main(x: R.Tensor(ndim=1, dtype="float32")):
            n = T.int64()
            y = R.match_cast(x, R.Tensor((n,), "float32"))
            s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
            z = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([n]), R.dtype("float32"))
            return z
        """
    )
    function = main_of(module)
    (storage,) = ops(function, AllocStorage)
    new = changed(module, InsertAssert(n <= 4, (n,), storage.place))
    kinds = [type(op).__name__ for op in main_of(new).body.ops]
    assert kinds == ["MatchCast", "Assert", "AllocStorage", "AllocTensor"]
    assert not findings(new, "RLX101")
    with pytest.raises(Inapplicable, match="not be well-formed"):
        changed(module, InsertAssert(n <= 4, (n,), ops(function, MatchCast)[0].place))


BRANCHES = """
    @R.function(pure=False)
    def main(x: R.Tensor(("m",), "float32"), c: R.Prim("bool")) -> R.Tensor(("m",), "float32"):
        m = T.int64()
        if c:
            s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
            y = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([m]), R.dtype("float32"))
            z = y
        else:
            z = x
        return z
"""


def test_inside_a_branch() -> None:
    old = parse(BRANCHES)
    tensor = ops(main_of(old), AllocTensor)[0]
    new = changed(old, InsertAssert(m <= 4, (m,), tensor.place))
    (branching,) = ops(main_of(new), If)
    assert [type(op).__name__ for op in branching.then_block.ops][:3] == [
        "AllocStorage",
        "Assert",
        "AllocTensor",
    ]
    assert branching.else_block == ops(main_of(old), If)[0].else_block or not branching.else_block.ops
    assert not findings(new, "RLX101")


DATAFLOW = """
    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32")) -> R.Tensor(ndim=1, dtype="float32"):
        n = T.int64()
        with R.dataflow():
            a = R.add(x, x)
            b = R.match_cast(a, R.Tensor((n,), "float32"))
            c = R.add(b, b)
            R.output(c)
        between = R.add(c, c)
        with R.dataflow():
            d = R.add(between, c)
            R.output(d)
        return d
"""


def test_a_dataflow_block_that_gets_an_assert_becomes_an_ordinary_one() -> None:
    old = parse(DATAFLOW)
    last = main_of(old).body.ops[2]
    new = changed(old, InsertAssert(n <= 4, (n,), last.place))
    blocks = new["main"].body.blocks
    assert [type(block).__name__ for block in blocks] == ["BindingBlock", "BindingBlock", "DataflowBlock"]
    assert all(a.same_as(b) for a, b in zip(blocks[1:], old["main"].body.blocks[1:], strict=True))
    assert [str(binding.var.name) for binding in blocks[0].bindings] == ["a", "b", "_", "c"]
    assert not new["main"].is_pure


def test_an_assert_before_a_dataflow_block_leaves_it_alone() -> None:
    old = parse(DATAFLOW.replace("ndim=1, dtype=", '("n",), '))
    new = changed(old, InsertAssert(n <= 4, (n,), None))
    (first, *rest), before = new["main"].body.blocks, old["main"].body.blocks
    assert [type(binding.value.op).__name__ for binding in first.bindings] == ["Op"]
    assert all(a.same_as(b) for a, b in zip(rest, before, strict=True))


CALLED = """
    @R.function
    def main(x: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
        m = T.int64()
        with R.dataflow():
            y = Module.sub(x)
            R.output(y)
        return y

    @R.function(private=True)
    def sub(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        return x
"""


def test_a_function_that_others_call_stays_pure_for_them() -> None:
    new = changed(parse(CALLED), InsertAssert(n <= 4, (n,), None), name="sub")
    assert new["sub"].is_pure
    assert new["sub"].attrs["relax.force_pure"]
    assert "relax.force_pure" not in new["main"].attrs


def test_a_function_that_nobody_calls_becomes_impure() -> None:
    new = changed(parse(CALLED), InsertAssert(m <= 4, (m,), None))
    assert not new["main"].is_pure
    assert "relax.force_pure" not in new["main"].attrs


def test_an_inner_function_stays_pure_for_its_caller() -> None:
    old = parse(
        """
        @R.function
        def main(x: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
            m = T.int64()

            @R.function
            def inner(y: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
                n = T.int64()
                return y

            z = inner(x)
            return z
        """
    )
    new = changed(old, InsertAssert(n <= m, (n, m), None), name="main.inner")
    inner = bindings_of(new["main"].body)[0].value
    assert inner.is_pure
    assert inner.attrs["relax.force_pure"]
    (check, *_) = main_of(new, "main.inner").body.ops
    assert isinstance(check, Assert)
    assert check.fact is not None
    assert check.fact.condition == (n <= m)


SIZED = """
    @R.function(pure=False)
    def main(x: R.Tensor(("m",), "float32")):
        m = T.int64()
        s = {storage}
        y = {tensor}
        return y
"""
BY_LEVEL = {
    "R.memory": (
        'R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("float32"))',
        'R.memory.alloc_tensor(s, R.prim_value(0), R.shape([m]), R.dtype("float32"))',
        4 * m,
    ),
    "R.vm": (
        'R.vm.alloc_storage(R.shape([4]), R.prim_value(0), R.dtype("float32"), R.str("global"))',
        'R.vm.alloc_tensor(s, R.prim_value(0), R.shape([m]), R.dtype("float32"))',
        m,
    ),
    "vm.builtin": (
        'R.call_builtin_with_ctx("vm.builtin.alloc_storage", (R.shape([4]), R.prim_value(0), '
        'R.dtype("float32"), R.str("global")), ty_args=(R.Any,))',
        'R.call_packed("vm.builtin.alloc_tensor", s, R.prim_value(0), R.shape([m]), R.dtype("float32"), '
        'ty_args=(R.Tensor((m,), "float32"),))',
        m,
    ),
}


@pytest.mark.parametrize("level", BY_LEVEL)
def test_a_storage_gets_the_size_of_its_level(level: str) -> None:
    storage, tensor, extent = BY_LEVEL[level]
    old = parse(SIZED.format(storage=storage, tensor=tensor))
    (op,) = ops(main_of(old), AllocStorage)
    new = changed(old, ResizeStorage(op, extent))
    (resized,) = ops(main_of(new), AllocStorage)
    assert resized.size == 4 * m
    assert (resized.level, resized.dtype, resized.scope) == (op.level, op.dtype, op.scope)
    assert not findings(new, "RLX101")
    assert len(kept(old, new)) == len(bindings_of(old["main"].body)) - 1


def test_a_kill_moves_behind_the_last_use_and_a_second_one_goes() -> None:
    old = parse(
        DOUBLE
        + """
    @R.function(pure=False)
    def main(x: R.Tensor(("m",), "float32")):
        m = T.int64()
        s = R.memory.alloc_storage(R.shape([4 * m]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        y = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([m]), R.dtype("float32"))
        R.memory.kill_tensor(y)
        Module.double(x, y)
        R.memory.kill_tensor(y)
        return x
"""
    )
    function = main_of(old)
    first, second = ops(function, Kill)
    use = function.body.ops[3]
    moved = changed(old, MoveKill(first, use), Remove(second))
    assert [type(op).__name__ for op in main_of(moved).body.ops][2:] == ["KernelCall", "Kill"]
    assert not findings(moved, "RLX201") + findings(moved, "RLX202")


def test_a_bound_is_renamed_in_its_attribute() -> None:
    old = parse(
        """
        @R.function
        def main(x: R.Tensor(("seq_len", "m"), "float32")):
            R.func_attr({"tir_var_upper_bound": {"seq_length": 128, "m": 4}, "num_input": 1})
            return x
        """
    )
    new = changed(old, RenameBound(BoundKind.UPPER, "seq_length", "seq_len"))
    assert dict(new["main"].attrs["tir_var_upper_bound"].items()) == {"seq_len": 128, "m": 4}
    assert new["main"].attrs["num_input"] == 1
    assert new["main"].body.same_as(old["main"].body)
    with pytest.raises(Inapplicable, match="names m already"):
        changed(old, RenameBound(BoundKind.UPPER, "seq_length", "m"))


def _stages() -> Iterator[tuple[str, Any]]:
    module = parse(
        DOUBLE
        + """
    @R.function
    def main(x: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
        m = T.int64()
        R.func_attr({"tir_var_upper_bound": {"m": 4}})
        y = R.call_tir(Module.double, (x,), out_ty=R.Tensor((m,), "float32"))
        z = R.call_tir(Module.double, (y,), out_ty=R.Tensor((m,), "float32"))
        return z
"""
    )
    with tvm.target.Target("llvm"):
        for make in LOWERING:
            module = make()(module)
            yield make.__name__, module


@pytest.mark.parametrize(("stage", "module"), list(_stages()))
def test_every_stage_before_the_shape_heap_takes_an_assert(stage: str, module: Any) -> None:
    if stage == "VMShapeLower":
        with pytest.raises(Inapplicable, match="VMShapeLower"):
            changed(module, InsertAssert(m <= 4, (m,), None))
        return
    new = changed(module, InsertAssert(m <= 4, (m,), None))
    assert bool(findings(module, "RLX501")) == (
        stage in ("StaticPlanBlockMemory", "LowerAllocTensor", "KillAfterLastUse", "LowerRuntimeBuiltin")
    )
    assert not findings(new, "RLX501")
    assert kept(module, new) == bindings_of(module["main"].body)
