"""`relax_lint.fix` and the pass `InsertMemoryChecks`: what they leave behind."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import numpy as np
import pytest
import tvm
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tvm import relax

import relax_lint
from relax_lint.fixes.changes import Remove
from relax_lint.fixes.module.changed import apply_changes
from relax_lint.model.builder import build_program
from relax_lint.model.operations import Assert
from relax_lint.model.program import Function
from relax_lint.replay.modules import load_module
from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from relax_lint.vm import versions
from tests.fixes.programs import PROGRAMS, Program, module
from tests.fixes.test_module import OVERFLOW, kept, overflow
from tests.programs.transformer import CONTEXT, STAGES, lowered
from tests.rules.checking import DOUBLE, findings, parse

BOUND = (
    f'R.call_packed("vm.builtin.match_shape", R.shape([T.max(n, {CONTEXT})]), 0, 1, 0, {CONTEXT}, '
    f'R.str("n <= {CONTEXT} is needed (n vs. {CONTEXT});"), ty_args=(R.Tuple,))'
)
WITH_STORAGES = [stage for stage in STAGES if stage in ("planned", "killed", "lowered")]


def asserts(module: Any) -> list[tuple[Function, Assert]]:
    """The assertions of the functions."""
    return [
        (function, op)
        for function in build_program(module).functions
        for op in function.body.walk()
        if isinstance(op, Assert)
    ]


def written(module: Any) -> list[str]:
    """The inserted checks as TVM prints them."""
    return [line.strip() for line in module.script().splitlines() if " is needed" in line]


def unsafe(module: Any) -> list[tuple[str, str, str | None]]:
    """The findings about operations on memory, and about bounds that nothing enforces."""
    found: tuple[Check, ...] = relax_lint.check(module).checks
    return [
        (check.rule, check.function or "", check.binding)
        for check in found
        if check.verdict is not Verdict.ALWAYS_FINE and check.rule.startswith(("RLX1", "RLX501"))
    ]


def test_the_strategy_decides() -> None:
    assert written(relax_lint.fix(overflow(), {"fix-strategy": "assert"})) == [
        'R.call_packed("vm.builtin.match_shape", R.shape([T.max(m, 4)]), 0, 1, 0, 4, '
        'R.str("m <= 4 is needed (m vs. 4);"), ty_args=(R.Tuple,))'
    ]
    assert written(relax_lint.fix(overflow(), {"fix-strategy": "assert", "check-form": "assert-op"})) == [
        'R.assert_op(m <= 4, m, format=R.str("m = {}, but m <= 4 is needed"))'
    ]
    resized = relax_lint.fix(overflow(), {"fix-strategy": "dynamic"})
    assert "R.memory.alloc_storage(R.shape([m * 4])," in resized.script()
    assert not written(resized)


def test_a_module_without_findings_is_returned_as_it_is() -> None:
    fixed = relax_lint.fix(overflow())
    assert relax_lint.fix(fixed).same_as(fixed)


def test_rules_that_are_off_are_not_fixed() -> None:
    old = overflow()
    assert relax_lint.fix(old, {"ignore": ["RLX101"]}).same_as(old)


def test_unsafe_fixes_are_made_on_request_only() -> None:
    old = parse(
        """
        @R.function
        def main(x: R.Tensor(("seq_len", 8), "float32")):
            R.func_attr({"tir_var_upper_bound": {"seq_length": 128}})
            return x
        """
    )
    assert relax_lint.fix(old).same_as(old)
    renamed = relax_lint.fix(old, unsafe=True)
    assert dict(renamed["main"].attrs["tir_var_upper_bound"].items()) == {"seq_len": 128}


def test_what_a_module_declares_is_kept() -> None:
    declared = 'I.module_attrs({"author": "me"})\nI.module_global_infos({"vdevice": [I.vdevice("llvm")]})\n'
    old = parse(declared + DOUBLE + dedent(OVERFLOW))
    fixed = relax_lint.fix(old)
    assert not fixed.same_as(old)
    assert fixed.attrs["author"] == "me"
    assert list(fixed.global_infos["vdevice"]) == list(old.global_infos["vdevice"]) != []


def test_a_module_that_is_not_well_formed_is_fixed_all_the_same() -> None:
    body = OVERFLOW.replace("@R.function(pure=False)", "@R.function").replace(
        "Module.double(x, y)", 'R.call_packed("unknown", x, y, ty_args=(R.Tuple,))'
    )
    old = parse(body)
    assert versions.ill_formed(old) is not None
    fixed = relax_lint.fix(old, {"select": ["RLX101"]})
    assert not findings(fixed, "RLX101")


def test_only_modules_are_fixed() -> None:
    with pytest.raises(TypeError, match="not an IRModule"):
        relax_lint.fix("model.py")


@pytest.mark.parametrize("stage", WITH_STORAGES)
def test_the_planned_transformer_gets_one_assertion(stage: str) -> None:
    old = lowered(2, bounded=True, stage=stage)
    fixed = relax_lint.fix(old)
    assert written(fixed) == [BOUND]
    assert kept(old, fixed, "forward")[0].same_as(old["forward"].body.blocks[0].bindings[0])
    _nothing_is_assumed_of_memory(fixed)


def test_the_planned_transformer_of_32_layers_gets_one_assertion() -> None:
    fixed = relax_lint.fix(lowered(32, bounded=True, stage="killed"))
    assert written(fixed) == [BOUND]
    _nothing_is_assumed_of_memory(fixed)


def _nothing_is_assumed_of_memory(module: Any) -> None:
    checks = [check for check in relax_lint.check(module).checks if check.rule.startswith(("RLX1", "RLX50"))]
    on_memory = [check for check in checks if check.rule != "RLX507"]
    assert {check.verdict for check in on_memory} == {Verdict.ALWAYS_FINE}
    assert {check.assumes for check in on_memory} == {()}


def test_the_pass_runs_among_others() -> None:
    old = lowered(2, bounded=True, stage="allocated")
    passes = [
        relax.transform.StaticPlanBlockMemory(),
        relax_lint.InsertMemoryChecks(),
        relax.transform.LowerAllocTensor(),
        relax.transform.KillAfterLastUse(),
        relax.transform.LowerRuntimeBuiltin(),
        relax.transform.ComputePrimValue(),
        relax.transform.VMShapeLower(),
    ]
    with tvm.target.Target("llvm"):
        new = tvm.transform.Sequential(passes)(old)
    # What lowering makes of the assertion is still one to the linter.
    assert not findings(new, "RLX501")
    assert not findings(new, "RLX1")


def test_the_pass_inserts_nothing_but_assertions() -> None:
    old = parse(DOUBLE + OVERFLOW)
    new = tvm.transform.Sequential([relax_lint.InsertMemoryChecks()])(old)
    assert len(kept(old, new)) + 1 == len(asserts(new)[0][0].body.ops)
    assert len(asserts(new)) == 1


def test_no_finding_is_left_and_no_assertion_is_too_many() -> None:
    inserted: list[int] = []
    too_small = Program("R.memory", ("8", "8"), ("0",), bound=None, cast=False, branch=False)

    @settings(max_examples=5, deadline=None)
    @given(st.lists(PROGRAMS, min_size=1, max_size=5), st.sampled_from(["auto", "assert", "dynamic"]))
    @example([too_small], "assert")
    def none_is(programs: list[Program], strategy: str) -> None:
        inserted.append(_require_none_left(programs, strategy))

    none_is()
    assert sum(inserted) > 0


def _require_none_left(programs: list[Program], strategy: str) -> int:
    """Returns the number of assertions."""
    old = load_module(module(programs), "script")
    fixed = relax_lint.fix(old, {"fix-strategy": strategy})
    assert unsafe(fixed) == []
    assert relax_lint.fix(fixed, {"fix-strategy": strategy}).same_as(fixed)
    for function, op in asserts(fixed):
        assert unsafe(apply_changes(fixed, [(function, Remove(op))])), op
    # A storage as large as its tensors may be a waste where the tensors were few and small.
    still = {check.rule for check in findings(fixed)} - {"RLX602"}
    assert still <= {check.rule for check in findings(old)}
    return len(asserts(fixed))


def test_nothing_runs_before_the_check() -> None:
    """A kernel that counts its calls is called for an input that fits, and not for one that does not."""
    calls = []
    tvm.register_global_func("relax_lint.test.count", lambda *_: calls.append(1), override=True)
    old = parse(
        """
        @R.function(pure=False)
        def main(x: R.Tensor(("m",), "float32")):
            m = T.int64()
            R.call_packed("relax_lint.test.count", x, ty_args=(R.Tuple,))
            s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
            y = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([m]), R.dtype("float32"))
            return y
        """
    )
    fixed = relax_lint.fix(old, {"fix-strategy": "assert"})
    machine = relax.VirtualMachine(relax.build(fixed, "llvm"), tvm.cpu(), memory_cfg="naive")
    machine["main"](tvm.runtime.tensor(np.zeros(4, "float32")))
    assert len(calls) == 1
    with pytest.raises(RuntimeError, match=r"\(5 vs. 4\) : m <= 4 is needed \(m vs. 4\)"):
        machine["main"](tvm.runtime.tensor(np.zeros(5, "float32")))
    assert len(calls) == 1
