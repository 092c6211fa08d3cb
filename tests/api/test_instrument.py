"""The linter as a pass instrument: which pass introduced a finding, and what a compilation notices of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import tvm
from tvm.relax import transform

import relax_lint
from relax_lint import instrument
from relax_lint.judging import courses
from relax_lint.judging.erased import says_who_works_in_place
from relax_lint.judging.report import check_module
from relax_lint.model import prim_funcs
from relax_lint.model.equal_kernels import LastingKernels
from tests.api.programs import FINE, OVERFLOW, module, parsed
from tests.programs.transformer import exported


def compiled(module: Any, lint: Any) -> Any:
    with tvm.transform.PassContext(instruments=[lint]):
        return tvm.compile(module, "llvm")


def introduced(lint: Any) -> set[tuple[str, str | None]]:
    return {(found.check.rule, found.introduced_by) for found in lint.findings}


@pytest.mark.parametrize("passes", [None, "all", ("StaticPlanBlockMemory",)])
def test_the_planner_is_named_for_tvm_20191(passes: Any) -> None:
    lint = relax_lint.MemoryLint(fail_on=None, passes=passes)
    compiled(module("branches"), lint)
    assert introduced(lint) == {("RLX204", "StaticPlanBlockMemory")}
    assert all(found.present for found in lint.findings)
    assert "  = note: introduced by the pass `StaticPlanBlockMemory`\n" in lint.text()
    assert len(lint.report().findings) == len(lint.findings) == 3


@pytest.mark.parametrize(
    ("name", "rule", "introducer"),
    [
        ("copy_builtin", "RLX203", "StaticPlanBlockMemory"),
        ("two_devices", "RLX402", "StaticPlanBlockMemory"),
        ("symbolic_matmul", "RLX307", "LegalizeOps"),
        ("window_larger_than_input", "RLX104", "LegalizeOps"),
        ("fixed_storage", "RLX101", None),
    ],
)
def test_where_known_bugs_come_from(name: str, rule: str, introducer: str | None) -> None:
    lint = relax_lint.MemoryLint(fail_on=None)
    compiled(module(name), lint)
    assert (rule, introducer) in introduced(lint)


def test_an_error_ends_the_compilation() -> None:
    lint = relax_lint.MemoryLint(fail_on="error")
    with pytest.raises(relax_lint.MemoryLintError) as failure:
        compiled(module("branches"), lint)
    text = str(failure.value)
    assert text.startswith(
        "3 memory-safety findings\n\nerror[RLX204] undominated-use: `alloc4` uses `storage1`"
    )
    assert text.count("introduced by the pass `StaticPlanBlockMemory`") == 3
    assert introduced(lint) == {("RLX204", "StaticPlanBlockMemory")}


def test_what_is_below_the_failing_level_is_only_collected() -> None:
    lint = relax_lint.MemoryLint(fail_on="error")
    compiled(parsed(OVERFLOW), lint)
    assert introduced(lint) == {("RLX101", None)}
    with pytest.raises(relax_lint.MemoryLintError, match="safe iff m <= 4"):
        compiled(parsed(OVERFLOW), relax_lint.MemoryLint(fail_on="warning"))
    compiled(parsed(OVERFLOW), relax_lint.MemoryLint(fail_on="warning", config={"ignore": ["RLX101"]}))


def test_an_in_place_call_is_judged_before_it_is_lowered_to_a_plain_one() -> None:
    # Afterwards two names of one tensor say nothing of what was meant.
    lint = relax_lint.MemoryLint(fail_on=None)
    compiled(module("in_place_under_a_view"), lint)
    assert ("RLX206", None) in introduced(lint)


def test_a_right_program_compiles_as_without() -> None:
    lint = relax_lint.MemoryLint(fail_on="note")
    compiled(exported(1, bounded=False), lint)
    assert (lint.findings, lint.failures) == ((), ())
    assert lint.text().startswith("0 memory-safety findings")


def replaced(name: str, text: str) -> Any:
    """A pass that gives its own module, whatever it gets."""

    @tvm.transform.module_pass(opt_level=0, name=name)
    def step(_module: Any, _context: Any) -> Any:
        return parsed(text)

    return step


def test_passes_that_are_called_one_by_one() -> None:
    lint = relax_lint.MemoryLint(fail_on=None)
    with tvm.transform.PassContext(instruments=[lint]):
        given = replaced("Shrink", OVERFLOW)(parsed(FINE))
        assert introduced(lint) == {("RLX101", "Shrink")}
        replaced("Grow", FINE)(given)
    (found,) = lint.findings
    assert not found.present
    assert "no longer found in the last module that was judged" in lint.text()


def test_a_renamed_tensor_is_the_same_finding() -> None:
    lint = relax_lint.MemoryLint(fail_on=None, passes="all")
    renamed = (
        OVERFLOW.replace("y = R.memory", "z = R.memory").replace("(x, y)", "(x, z)").replace("n y", "n z")
    )
    with tvm.transform.PassContext(instruments=[lint]):
        tvm.transform.Sequential([replaced("Shrink", OVERFLOW), replaced("Rename", renamed)])(parsed(FINE))
    assert [(found.check.binding, found.introduced_by) for found in lint.findings] == [("y", "Shrink")]


def test_what_a_pass_leaves_is_judged_even_if_the_next_one_fails() -> None:
    @tvm.transform.module_pass(opt_level=0, name="Fail")
    def fail(_module: Any, _context: Any) -> Any:
        raise ValueError("no")

    lint = relax_lint.MemoryLint()
    with pytest.raises(Exception, match="no"), tvm.transform.PassContext(instruments=[lint]):
        tvm.transform.Sequential([replaced("Shrink", OVERFLOW), fail])(parsed(FINE))
    assert introduced(lint) == {("RLX101", "Shrink")}


def test_a_pass_that_changes_its_module_in_place() -> None:
    @tvm.transform.module_pass(opt_level=0, name="Replace")
    def replace(given: Any, _context: Any) -> Any:
        (name,) = (var for var in given.get_global_vars() if var.name_hint == "main")
        given.update_func(name, parsed(OVERFLOW)["main"])
        return given

    lint = relax_lint.MemoryLint(fail_on=None)
    with tvm.transform.PassContext(instruments=[lint]):
        replace(parsed(FINE))
    assert introduced(lint) == {("RLX101", "Replace")}


def test_a_failing_analysis_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RecursionError("too deep\nfor this")

    monkeypatch.setattr(instrument, "check_module", broken)
    lint = relax_lint.MemoryLint(fail_on="error")
    with pytest.warns(RuntimeWarning, match="relax-lint: the analysis of the module after `.*` failed"):
        compiled(parsed(OVERFLOW), lint)
    assert lint.findings == ()
    assert {(check.rule, check.severity.value) for check in lint.failures} == {("RLX904", "warning")}
    assert "RecursionError: too deep\n" in lint.text()


def test_a_pass_that_never_ran_is_said() -> None:
    with pytest.warns(RuntimeWarning, match="no pass `StaticPlanBlockMemry` ran"):
        compiled(parsed(FINE), relax_lint.MemoryLint(passes=["StaticPlanBlockMemry"]))


@pytest.mark.parametrize(
    "make",
    [
        lambda: relax_lint.MemoryLint(fail_on="fatal"),
        lambda: relax_lint.MemoryLint(passes="StaticPlanBlockMemory"),
        lambda: relax_lint.MemoryLint(config={"no-such": 1}),
    ],
)
def test_arguments_that_make_no_sense(make: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r"StaticPlanBlockMemory|fatal|no-such"):
        make()


def test_a_context_can_be_entered_again() -> None:
    lint = relax_lint.MemoryLint(fail_on=None)
    context = tvm.transform.PassContext(instruments=[lint])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with context:
                transform.LambdaLift()(parsed(OVERFLOW))
    assert [found.introduced_by for found in lint.findings] == [None, None]


def test_a_bound_that_was_relied_on_before_is_the_planners_all_the_same() -> None:
    text = """from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n * 4", "m", "k"), "float32"), s: R.Shape(["n"])):
        R.func_attr({"tir_var_upper_bound": {"n": 128, "m": 64, "k": 12}})
        n = T.int64()
        m = T.int64()
        k = T.int64()
        y = R.exp(x)
        z = R.reshape(y, R.shape([4 * n, m, k]))
        w = R.add(z, z)
        v = R.exp(w)
        return v
"""
    lint = relax_lint.MemoryLint(fail_on=None)
    compiled(parsed(text), lint)
    assert {pair for pair in introduced(lint) if pair[0] == "RLX501"} == {("RLX501", "StaticPlanBlockMemory")}


def test_kernels_that_no_pass_touched_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    once = prim_funcs.read_kernel

    def counted(name: str, *rest: Any) -> Any:
        read.append(name)
        return once(name, *rest)

    monkeypatch.setattr(prim_funcs, "read_kernel", counted)
    monkeypatch.setattr(courses, "lasting_kernels", LastingKernels)
    lint = relax_lint.MemoryLint(fail_on=None)
    compiled(module("symbolic_matmul"), lint)
    assert len(read) == len(set(read)) > 0
    monkeypatch.setattr(prim_funcs.KeptKernels, "of", lambda _, given: prim_funcs.Kernels(given))
    again = relax_lint.MemoryLint(fail_on=None)
    compiled(module("symbolic_matmul"), again)
    assert again.findings == lint.findings != ()


def test_kernels_of_an_earlier_compilation_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    once = prim_funcs.read_kernel

    def counted(name: str, *rest: Any) -> Any:
        read.append(name)
        return once(name, *rest)

    lasting = LastingKernels()
    monkeypatch.setattr(prim_funcs, "read_kernel", counted)
    monkeypatch.setattr(courses, "lasting_kernels", lambda: lasting)
    # Its kernel reads beyond the end of a tensor, and what is told of that has the names of the kernel.
    lints = [relax_lint.MemoryLint(fail_on=None) for _ in range(2)]
    for number, lint in enumerate(lints):
        compiled(module("window_larger_than_input"), lint)
        assert lint.findings
        assert bool(read) is not bool(number)
        read.clear()
    assert lints[0].findings == lints[1].findings


def test_what_was_read_of_kernels_goes_with_all_of_them() -> None:
    # One may call another, so what was read of it is no longer so when the other has changed.
    given = transform.LegalizeOps()(module("symbolic_matmul"))
    kept = prim_funcs.KeptKernels()
    first = kept.of(given)
    assert kept.of(given.clone()) is first
    (name, *_) = first
    given[name] = given[name].with_attr("changed", 1)
    assert kept.of(given) is not first


def test_where_findings_come_from_is_looked_for_when_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[object] = []

    def counted(*arguments: Any, **named: Any) -> Any:
        judged.append(arguments)
        return check_module(*arguments, **named)

    monkeypatch.setattr(instrument, "check_module", counted)
    lint = relax_lint.MemoryLint(fail_on=None)
    compiled(module("symbolic_matmul"), lint)
    # Before the passes that erase what there is to see, and at the end.
    assert len(judged) <= 3
    while_compiled = len(judged)
    assert ("RLX307", "LegalizeOps") in introduced(lint)
    assert len(judged) > while_compiled
    known = len(judged)
    assert lint.findings == lint.findings
    assert len(judged) == known
    # Another context begins with nothing left of this one.
    lint = relax_lint.MemoryLint(fail_on=None)
    judged.clear()
    compiled(module("symbolic_matmul"), lint)
    compiled(module("fixed_storage"), lint)
    assert {("RLX307", "LegalizeOps"), ("RLX101", None)} <= introduced(lint)


def test_two_operations_that_need_one_condition_are_one_finding() -> None:
    lint = relax_lint.MemoryLint(fail_on=None)
    compiled(module("window_larger_than_input"), lint)
    # The storage and the tensor on it, where there was one call before.
    assert [found.check.rule for found in lint.findings].count("RLX104") == 1


def _judged(monkeypatch: pytest.MonkeyPatch, given: Any) -> list[str]:
    """The passes that made the versions that are judged while a program is compiled."""
    judged: list[str] = []
    found = relax_lint.MemoryLint._found

    def counted(self: Any, version: Any, *rest: Any) -> Any:
        judged.append(str(version.made_by))
        return found(self, version, *rest)

    monkeypatch.setattr(relax_lint.MemoryLint, "_found", counted)
    compiled(given, relax_lint.MemoryLint(fail_on=None))
    return judged


def test_a_program_without_findings_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _judged(monkeypatch, parsed(FINE)) == ["ComputePrimValue"]


def test_what_works_in_place_is_judged_before_nothing_tells_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = _judged(monkeypatch, module("in_place_under_a_view"))
    assert judged == ["RemovePurityChecking", "ComputePrimValue"]


def test_a_kernel_that_cannot_be_read_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> Any:
        raise RecursionError("too deep")

    monkeypatch.setattr(prim_funcs, "read_kernel", fails)
    monkeypatch.setattr(courses, "lasting_kernels", LastingKernels)
    lint = relax_lint.MemoryLint()
    with pytest.warns(RuntimeWarning, match="the analysis of the module .* failed: RecursionError: too deep"):
        compiled(module("symbolic_matmul"), lint)
    assert {check.rule for check in lint.failures} == {"RLX904"}


def test_a_version_that_was_passed_over_is_looked_at_where_something_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judged = _judged(monkeypatch, module("window_larger_than_input"))
    assert judged == ["ComputePrimValue", "RemovePurityChecking"]


WRITES = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def f(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] + T.float32(1)
            x[i] = T.float32(0)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        y = R.call_tir(cls.f, (x,), R.Tensor((4,), "float32"))
        return y
"""


def test_a_kernel_that_writes_what_it_is_given_to_read_tells_of_it_only_in_call_tir() -> None:
    writing = parsed(WRITES)
    reading = parsed(WRITES.replace("x[i] = T.float32(0)", "y[i] = T.float32(0)"))
    kept = prim_funcs.KeptKernels()
    assert says_who_works_in_place(writing, kept.of(writing))
    assert not says_who_works_in_place(reading, kept.of(reading))


def test_kernels_are_read_once_where_a_pass_adds_another() -> None:
    given = transform.LegalizeOps()(module("symbolic_matmul"))
    kept = prim_funcs.KeptKernels()
    first = kept.of(given)
    read = {name: first[name] for name in first}
    given = given.clone()
    (name, *_) = first
    given["another"] = given[name].with_attr("global_symbol", "another")
    second = kept.of(given)
    assert {name: second[name] for name in read} == read
    assert all(second[name] is kernel for name, kernel in read.items())
    assert second["another"] is not first[name]
