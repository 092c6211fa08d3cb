"""Known bugs: a few of the programs of `docs/known-bugs.md`, and the passes that bring bugs in."""

from __future__ import annotations

import pytest
from tvm.relax import transform

from benchmarks.bugs import COMPILED, HAND_WRITTEN, Bug
from benchmarks.lowering import checks, findings, stages
from relax_lint.replay.modules import load_module

SEEN = (
    "fixed_storage",
    "two_negative_extents",
    "product_wraps",
    "negative_offset",
    "copy_is_an_alias",
    "in_place_on_a_constant",
    "kill_then_use",
    "never_written",
    "independent_lengths",
    "storage_of_another_device",
)
INTRODUCED = {
    "branches": "StaticPlanBlockMemory",
    "copy_builtin": "StaticPlanBlockMemory",
    "inplace_packed": "StaticPlanBlockMemory",
    "two_devices": "StaticPlanBlockMemory",
    "symbolic_matmul": "LegalizeOps",
    "window_larger_than_input": "LegalizeOps",
}
PROGRAMS: dict[str, Bug] = {bug.name: bug for bug in HAND_WRITTEN + COMPILED}


def reported(bug: Bug, module: object) -> set[str]:
    return {f"{check.rule} {check.verdict.value}" for check in findings(checks(module))}


@pytest.mark.parametrize("name", SEEN)
def test_the_minimal_program_of_a_known_bug_is_reported(name: str) -> None:
    bug = PROGRAMS[name]
    assert f"{bug.rule} {bug.verdict}" in reported(bug, load_module(bug.text, "script"))


@pytest.mark.parametrize("name", INTRODUCED)
def test_the_pass_that_brings_a_bug_in_is_the_first_with_a_finding(name: str) -> None:
    bug = PROGRAMS[name]
    for stage, module in stages(load_module(bug.text, "script")):
        found = f"{bug.rule} {bug.verdict}" in reported(bug, module)
        assert found == (stage == INTRODUCED[name]), stage
        if found:
            return


def test_without_the_planner_the_branches_are_right() -> None:
    module = load_module(PROGRAMS["branches"].text, "script")
    for step in (transform.LegalizeOps(), transform.ToNonDataflow(), transform.CallTIRRewrite()):
        module = step(module)
    assert not any(check.rule == "RLX204" for check in findings(checks(module)))


def test_names_are_unique_and_references_are_given() -> None:
    assert len(PROGRAMS) == len(HAND_WRITTEN) + len(COMPILED)
    assert all(bug.rows for bug in PROGRAMS.values())
