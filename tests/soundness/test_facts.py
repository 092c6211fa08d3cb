"""Every kind of fact is violated: what is called enforced the VM refuses, what is assumed it lets through."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import tvm

from relax_lint.judging.report import check_module
from relax_lint.model.builder import build_program
from relax_lint.model.operations import Assert, MatchCast
from relax_lint.replay import Machine, Module, Outcome
from relax_lint.replay.machine import RunResult
from relax_lint.replay.modules import load_module
from relax_lint.replay.notation import describe, parse_line
from relax_lint.settings.config import Config
from relax_lint.symbolic.domain import Fact, FactKind
from relax_lint.vm.facts import FactSource

from .fact_cases import BY_OTHERS, CASES, COMPARES_NOTHING, STORES, Case

MODES = ("bytecode", "compiled")


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    """One subprocess for all runs."""
    with Machine() as started:
        yield started


def run(machine: Machine, case: Case, arguments: str, mode: str) -> RunResult:
    """One call."""
    line = parse_line(f"main({arguments}) on {case.allocator}: ok")
    return machine.run(Module(case.text), "main", list(line.inputs), allocator=case.allocator, exec_mode=mode)


@pytest.mark.vm
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.source.name.lower()}: {case.name}")
def test_a_fact_is_violated(case: Case, mode: str, machine: Machine) -> None:
    kept = run(machine, case, case.keeps, mode)
    assert kept.outcome is Outcome.OK, describe(kept)
    broken = run(machine, case, case.violates, mode)
    if case.refused is None:
        assert broken.outcome is Outcome.OK, describe(broken)
        assert case.source.kind is FactKind.ASSUMED
    else:
        assert broken.outcome is Outcome.ERROR
        assert describe(broken).startswith(case.refused)
        assert case.source.kind is FactKind.ENFORCED


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.source.name.lower()}: {case.name}")
def test_no_enforced_fact_is_stated_that_the_machine_lets_a_call_violate(case: Case) -> None:
    (*_, function) = build_program(load_module(case.text, "script")).functions
    stated: list[Fact] = [*function.facts]
    for op in function.body.walk():
        if isinstance(op, MatchCast):
            stated += op.facts
        if isinstance(op, Assert):
            stated += [*op.learned, *(() if op.fact is None else (op.fact,))]
    if case.refused is not None:
        return
    values = {info.symbol.name: info.symbol for info in function.symbols}
    line = parse_line(f"main({case.violates}) on naive: ok")
    given = {}
    for value, parameter in zip(line.inputs, function.parameters, strict=True):
        given.update(_symbols(value, function.type_of(parameter)))
    assert given.keys() <= set(values.values())
    for fact in stated:
        if fact.kind is FactKind.ENFORCED and fact.condition.free_symbols <= given.keys():
            assert fact.condition.subs(given) == True, fact.text  # noqa: E712


def _symbols(value: object, type_: object) -> dict[object, int]:
    """The symbols that a value gives to a type that consists of symbols."""
    extents = getattr(type_, "shape", None) or getattr(type_, "extents", None) or ()
    numbers = getattr(value, "extents", ())
    found = {e: n for e, n in zip(extents, numbers, strict=False) if getattr(e, "is_Symbol", False)}
    symbol = getattr(type_, "value", None)
    if symbol is not None:
        found[symbol] = getattr(value, "value", 0)
    return found


def test_only_tvm_itself_makes_a_tensor_of_negative_extents() -> None:
    with pytest.raises(ValueError, match="negative"):
        np.zeros((-2, -2), "float32")
    assert tuple(tvm.runtime.empty((-2, -2), "float32").shape) == (-2, -2)


BRANCHES = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), k: R.Prim("int64")) -> R.Shape(ndim=1):
        n = T.int64()
        if k <= 3:
            a = R.assert_op(k <= 3, [k], format="then")
            r = R.shape([1])
        else:
            b = R.assert_op(k > 3, [k], format="else")
            r = R.shape([2])
        return r
"""


@pytest.mark.vm
@pytest.mark.parametrize(("k", "shape"), [(3, 1), (4, 2), (-(2**63), 1), (2**63 - 1, 2)])
def test_a_branch_is_entered_where_its_condition_holds(machine: Machine, k: int, shape: int) -> None:
    line = parse_line(f"main(x: float32[1], k: {k}) on naive: ok")
    result = machine.run(Module(BRANCHES), "main", list(line.inputs), allocator="naive")
    assert describe(result) == f"ok, shape({shape})"


def test_what_one_branch_establishes_does_not_hold_behind_both() -> None:
    text = BRANCHES.replace(
        "        return r\n", '        c = R.assert_op(k <= 3, [k], format="")\n        return r\n'
    )
    found = check_module(load_module(text, "script"), Config(select=("RLX504",))).checks
    assert [(check.binding, check.verdict.value) for check in found] == [
        ("a", "always-wrong"),
        ("b", "always-wrong"),
        ("c", "always-fine"),
    ]


def test_what_is_stated_once_for_all_is_said() -> None:
    assert FactSource.MAX_EXTENT.kind is FactKind.GLOBAL


SIZES = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(s: R.Shape(["k"])):
        k = T.int64()
        st = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        t = R.memory.alloc_tensor(st, R.prim_value(k), R.shape([k]), R.dtype("uint8"))
        return t
"""


def test_what_is_judged_elsewhere_is_reported_there() -> None:
    found = check_module(load_module(SIZES, "script"), Config(select=("RLX102", "RLX104"))).checks
    wrong = {(check.rule, check.binding) for check in found if check.verdict.value != "always-fine"}
    assert wrong == {("RLX102", "t"), ("RLX104", "t")}


REDUCTION = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def total(a: T.handle, b: T.handle):
        n = T.int64()
        x = T.match_buffer(a, (n,), "float32")
        y = T.match_buffer(b, (1,), "float32")
        y[0] = T.float32(0)
        for i in range(n):
            y[0] = y[0] + x[i]

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor((1,), "float32"):
        n = T.int64()
        y = R.call_tir(Module.total, (x,), R.Tensor((1,), "float32"))
        return y
"""


@pytest.mark.vm
def test_an_axis_without_an_element_reads_nothing(machine: Machine) -> None:
    line = parse_line("main(x: float32[0]) on naive: ok")
    result = machine.run(Module(REDUCTION), "main", list(line.inputs), allocator="naive")
    assert describe(result) == "ok, float32[1] = 0.0"


DIVIDED = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Shape(["n"]), c: R.Tensor((), "bool")):
        n = T.int64()
        if c:
            s = R.memory.alloc_storage(R.shape([64 // n]), 0, "global", "uint8")
            t = R.memory.alloc_tensor(s, 0, R.shape([1]), "float32")
            y = t
        else:
            w = R.memory.alloc_storage(R.shape([4]), 0, "global", "uint8")
            v = R.memory.alloc_tensor(w, 0, R.shape([1]), "float32")
            y = v
        return R.shape([1])
"""


@pytest.mark.vm
@pytest.mark.parametrize("mode", MODES)
def test_a_division_by_zero_ends_the_run_wherever_it_stands(mode: str, machine: Machine) -> None:
    """In a branch that is not taken: `c` is false."""
    found = []
    for n in (1, 0):
        line = parse_line(f"main(x: shape({n}), c: bool[] of 0) on naive: ok")
        module = Module(DIVIDED)
        result = machine.run(module, "main", list(line.inputs), allocator="naive", exec_mode=mode)
        found.append((result.outcome, result.signal))
    assert found == [(Outcome.OK, None), (Outcome.SIGNAL, "SIGFPE")]


def test_what_is_asked_for_is_listed() -> None:
    text = SIZES.replace('s: R.Shape(["k"])', 'x: R.Tensor(("k",), "int8")')
    config = Config(select=("RLX101",), assume=("k <= 32",))
    (check,) = check_module(load_module(text, "script"), config).checks
    assert check.assumes == ("k <= 32 (configuration, not enforced)",)


def test_every_kind_is_violated_by_a_test() -> None:
    assert {case.source for case in CASES} | BY_OTHERS.keys() == set(FactSource)
    assert {name for name in BY_OTHERS.values() if name not in globals()} == set()


STORED = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(k: R.Prim("int64")):
        h = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (R.prim_value(1),), ty_args=R.Object)
        w = R.call_packed(
            "vm.builtin.match_prim_value", R.prim_value(k), h, CODE, 0, R.str(""), ty_args=R.Tuple
        )
        return R.shape([1])
"""


@pytest.mark.vm
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("code", [STORES, COMPARES_NOTHING])
def test_what_a_scalar_is_not_compared_with_is_not_known(machine: Machine, mode: str, code: int) -> None:
    """`match_prim_value` that stores a scalar, or does nothing, lets every int64 through."""
    text = STORED.replace("CODE", str(code))
    for number in (-(2**63), -1, 0, 2**63 - 1):
        line = parse_line(f"main(k: {number}) on naive: ok")
        result = machine.run(Module(text), "main", list(line.inputs), allocator="naive", exec_mode=mode)
        assert result.outcome is Outcome.OK, describe(result)
    (function,) = build_program(load_module(text, "script")).functions
    checks = [op for op in function.body.walk() if isinstance(op, Assert)]
    assert checks
    assert all(op.fact is None for op in checks)
    assert not [fact for op in checks for fact in op.learned if fact.condition.subs({"k": -1}) == False]  # noqa: E712
