"""Sizes that are not written as a shape, or count something else than bytes; and casts that TVM drops."""

from __future__ import annotations

import pytest
import sympy
import tvm

from relax_lint.model.builder import build_program
from relax_lint.model.operations import AllocStorage, AllocTensor, MatchCast
from relax_lint.replay import Machine, Module, Outcome, Tensor
from tests.rules.checking import findings, parse, verdicts

HEAD = "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:\n"
TUPLES = """
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        size = (R.prim_value(4), R.prim_value(n))
        s = R.memory.alloc_storage(size, R.prim_value(0), R.str("global"), R.dtype("uint8"))
        a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([n]), R.dtype("float32"))
        t = R.vm.alloc_storage((R.prim_value(16),), R.prim_value(0), R.dtype("uint8"), R.str("global"))
        b = R.vm.alloc_tensor(t, R.prim_value(0), R.shape([4]), R.dtype("float32"))
        return a
"""
N = sympy.Symbol("n", integer=True)


def test_a_tuple_of_numbers_is_a_size() -> None:
    (function,) = build_program(tvm.script.from_source(HEAD.split("\n\n\n")[1] + TUPLES)).functions
    sizes = [op.size for op in function.body.walk() if isinstance(op, AllocStorage)]
    assert sizes == [4 * N, 16]


@pytest.mark.vm
@pytest.mark.parametrize(("more", "outcome"), [("", Outcome.OK), (" + 1", Outcome.ERROR)])
def test_the_machine_takes_a_tuple_for_a_size(more: str, outcome: Outcome) -> None:
    text = HEAD + TUPLES.replace("R.shape([n])", f"R.shape([n{more}])")
    with Machine() as machine:
        result = machine.run(Module(text), "main", [Tensor("float32", (3,))], allocator="naive")
    assert result.outcome is outcome


def test_storages_of_ipc_memory_count_elements() -> None:
    program = """
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("{scope}"), R.dtype("float32"))
        a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([16]), R.dtype("float32"))
        return a
    """
    assert verdicts(findings(parse(program.format(scope="ipc_memory")), "RLX101")) == []
    assert verdicts(findings(parse(program.format(scope="global")), "RLX101")) == [
        ("RLX101", "always-wrong", None)
    ]


@pytest.mark.parametrize(("extents", "found"), [("16", []), ("17", [("RLX101", "always-wrong", None)])])
def test_what_allocates_ipc_memory_behind_its_lowering_counts_elements(
    extents: str, found: list[tuple[str, str, str | None]]
) -> None:
    program = f"""
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        s = R.call_packed(
            "runtime.disco.cuda_ipc.alloc_storage", R.shape([16]), R.dtype("float32"), ty_args=R.Object
        )
        a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([{extents}]), R.dtype("float32"))
        return a
    """
    assert verdicts(findings(parse(program), "RLX101")) == found


@pytest.mark.parametrize(
    ("dtype", "found"), [("uint1x8", []), ("int4x2", [("RLX404", "always-wrong", None)])]
)
def test_lanes_of_uint1_are_allocated(dtype: str, found: list[tuple[str, str, None]]) -> None:
    program = f"""
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        s = R.memory.alloc_storage(R.shape([25]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("{dtype}"))
        return a
    """
    assert verdicts(findings(parse(program), "RLX404")) == found


@pytest.mark.vm
@pytest.mark.parametrize(("dtype", "outcome"), [("uint1x8", Outcome.OK), ("int4x2", Outcome.ERROR)])
def test_the_machine_allocates_lanes_of_uint1(dtype: str, outcome: Outcome) -> None:
    text = (
        HEAD
        + f"""
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("{dtype}"))
        return x
"""
    )
    with Machine() as machine:
        result = machine.run(Module(text), "main", [Tensor("float32", (4,))], allocator="naive")
    assert result.outcome is outcome


@pytest.mark.parametrize(
    ("claimed", "cast", "checked"),
    [
        ('"float32", ndim=1', '(4,), "float32"', True),
        ('(n,), "float32"', '(n,), "float32"', False),
        ('(n,), "float32"', '(k,), "float32"', False),
        ('(4,), "float32"', '(n,), "float32"', False),
        ('(n,), "float32"', '(3,), "float32"', True),
        ('"float32", ndim=2', '"float32", ndim=2', False),
        ('"float32"', '"float32", ndim=2', True),
    ],
)
def test_a_cast_that_the_declared_type_proves_is_not_checked(claimed: str, cast: str, checked: bool) -> None:
    program = f"""
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        k = T.int64()
        y = R.call_packed("who.knows", x, ty_args=R.Tensor({claimed}))
        z = R.match_cast(y, R.Tensor({cast}))
        return z
    """
    (function,) = build_program(parse(program)).functions
    (op,) = [op for op in function.body.walk() if isinstance(op, MatchCast)]
    assert op.checked is checked
    assert (op.result in function.claimed) is not checked
    assert verdicts(findings(parse(program), "RLX305")) == (
        [] if checked else [("RLX305", "needs-runtime-check", None)]
    )


def test_a_cast_in_one_branch_says_nothing_about_the_other() -> None:
    program = """
    @R.function(pure=False)
    def main(x: R.Tensor("float32", ndim=1), k: R.Prim("int64"), c: R.Tensor((), "bool")):
        if c:
            y = R.match_cast(x, R.Tensor((k,), "float32"))
            a = R.builtin.alloc_tensor(R.shape([k]), R.dtype("float32"), R.prim_value(0), R.str("global"))
            r = x
        else:
            b = R.builtin.alloc_tensor(R.shape([k]), R.dtype("float32"), R.prim_value(0), R.str("global"))
            r = x
        return r
    """
    (function,) = build_program(parse(program)).functions
    assert len([op for op in function.body.walk() if isinstance(op, AllocTensor)]) == 2
    for code in ("RLX103", "RLX104"):
        assert [check.binding for check in findings(parse(program), code)] == ["b"]
