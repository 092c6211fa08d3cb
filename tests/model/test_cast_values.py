"""A cast of what is computed in place: the call, the field or the branch counts as if it had a name."""

from __future__ import annotations

import tvm

from relax_lint.judging.report import check_module
from relax_lint.model.builder import build_program
from relax_lint.model.operations import FunctionCall, GetItem, KernelCall, MatchCast
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from relax_lint.totals.compute import measure
from relax_lint.totals.walk import ExecMode
from relax_lint.vm.allocators import Allocator
from tests.rules.checking import parse

T4 = 'R.Tensor((4,), "float32")'
ERASED = 'R.Tensor(ndim=1, dtype="float32")'
INNER = f"""
@R.function(private=True)
def inner(p: {T4}) -> {ERASED}:
    q = R.exp(p)
    return q
"""
KERNELS = """
@T.prim_func(private=True, s_tir=True)
def twice(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = x[i] * T.float32(2)
"""


def test_a_write_in_a_cast_is_a_write() -> None:
    body = f"""
@R.function
def main(x: {T4}):
    a = R.exp(x)
    b = R.match_cast(R.call_tir_inplace(Module.twice, (a,), [0], {T4}), {T4})
    c = R.add(a, b)
    return c
"""
    module = parse(KERNELS + body)
    (main,) = build_program(module).functions
    assert [type(op) for op in main.body.walk()] == [KernelCall, KernelCall, MatchCast, KernelCall]
    found = check_module(module, Config(select=("RLX206",))).checks
    assert Verdict.ALWAYS_WRONG in {check.verdict for check in found}


def test_a_field_in_a_cast_is_the_field() -> None:
    body = f"""
@R.function
def main(x: {T4}):
    a = R.exp(x)
    t = (a, x)
    b = R.match_cast(t[0], {T4})
    d = R.call_tir_inplace(Module.twice, (b,), [0], {T4})
    c = R.add(a, d)
    return c
"""
    module = parse(KERNELS + body)
    (main,) = build_program(module).functions
    assert GetItem in {type(op) for op in main.body.walk()}
    found = check_module(module, Config(select=("RLX206",))).checks
    assert Verdict.ALWAYS_WRONG in {check.verdict for check in found}


def test_what_a_called_function_needs_counts_and_its_result_is_not_killed() -> None:
    body = f"""{INNER}
@R.function
def main(x: {T4}):
    a = R.match_cast(Module.inner(x), {T4})
    return a
"""
    with tvm.target.Target("llvm"):
        lowered = tvm.relax.get_pipeline("default_build")(parse(body))
    program = build_program(lowered)
    main = next(function for function in program.functions if function.name == "main")
    assert any(isinstance(op, FunctionCall) for op in main.body.walk())
    totals = measure(program, main, exec_mode=ExecMode("bytecode"), binding={})
    assert totals.reserved[Allocator.NAIVE] == 16
    found = check_module(lowered, Config(select=("RLX201",))).checks
    assert Verdict.ALWAYS_WRONG not in {check.verdict for check in found}


def test_what_a_cast_computes_is_killed_with_the_cast() -> None:
    body = f"""{INNER}
@R.function
def main(x: {T4}):
    a = R.match_cast(Module.inner(x), {T4})
    b = R.match_cast(Module.inner(a), {T4})
    c = R.exp(b)
    return c
"""
    with tvm.target.Target("llvm"):
        program = build_program(tvm.relax.get_pipeline("default_build")(parse(body)))
    main = next(function for function in program.functions if function.name == "main")
    # Two of the three tensors live at once.
    totals = measure(program, main, exec_mode=ExecMode("bytecode"), binding={})
    assert totals.reserved[Allocator.NAIVE] == 2 * 16


def test_a_cast_to_the_type_of_an_allocation_is_removed_and_its_name_killed() -> None:
    body = f"""
@R.function
def main(x: {T4}):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    b = R.match_cast(a, {T4})
    R.memory.kill_tensor(a)
    return b
"""
    found = check_module(parse(body), Config(select=("RLX201",))).checks
    assert Verdict.ALWAYS_WRONG in {check.verdict for check in found}
