"""Each program of examples/trophies: its reference is right, the pass makes it wrong on the installed TVM, and
the linter says so, with the name of the pass.
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm

import relax_lint
from relax_lint.replay import Damage, GuardUnavailableError, Machine, Module, Outcome, parse_input
from relax_lint.results.verdict import Verdict

# Found with this version, in its dialect of TVMScript; in another one a fault may be gone or be another one.
pytestmark = pytest.mark.skipif(
    not tvm.__version__.startswith("0.27"), reason="the faults are those of TVM 0.27"
)

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "trophies"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
FUSED = "FuseTIR", "FuseTIRInner"


@dataclass(frozen=True)
class Said:
    """What the linter says of a program while it is compiled: a rule, a verdict and the passes that may be named
    for it; no rule where it says nothing.
    """

    rule: str = "RLX206"
    verdict: Verdict = Verdict.ALWAYS_WRONG
    passes: tuple[str | None, ...] = ()


IN_PLACE = "DataflowInsertInPlaceCalls"
SAID = {
    # Whether a copy becomes a view is up to a later pass, so that the program as it is written is in doubt.
    "closure_without_parameter": None,
    "combined_past_in_place": Said(passes=("CombineParallelMatmul",)),
    "converted_cast": None,
    "copy_becomes_a_view": Said(verdict=Verdict.NEEDS_RUNTIME_CHECK, passes=(None,)),
    "dropped_cast": None,
    "expanded_scalar": None,
    "fast_math_of_a_call": None,
    "folded_buffer": Said(passes=("FoldConstant", *FUSED)),
    "folded_result": Said(passes=("FoldConstant", *FUSED)),
    "folded_slice": None,
    "fused_past_in_place": Said(passes=("FuseOps", *FUSED)),
    "fused_symbolic_in_place": None,
    "graph_without_a_name": Said("RLX204", passes=("WithGraphs",)),
    "hoisted_out_of_a_branch": None,
    "in_place_constant": Said(passes=(IN_PLACE,)),
    "in_place_copy_that_is_a_view": Said(
        verdict=Verdict.NEEDS_RUNTIME_CHECK, passes=(IN_PLACE, "LegalizeOps")
    ),
    "in_place_drops_a_kernel": None,
    "in_place_field_of_live_tuple": Said(passes=(IN_PLACE,)),
    "in_place_field_read_twice": Said(passes=(IN_PLACE,)),
    "killed_text": None,
    # Whether the caller still needs what the parameter holds is not known: it calls again with it.
    "lifted_parameter": Said(verdict=Verdict.NEEDS_RUNTIME_CHECK, passes=("PartitionTransformParams",)),
    "lifted_without_type": None,
    "matched_past_in_place": Said(passes=("FuseOpsByPattern",)),
    "merged_buffers": Said(passes=("EliminateCommonSubexpr",)),
    "mixed_field": None,
    "mixed_view": None,
    "multiplied_past_in_place": Said(passes=("AdjustMatmulOrder",)),
    "normed_past_in_place": Said(passes=("FoldBatchnormToConv2D",)),
    "padded_past_producer": Said("RLX306", passes=("PadEinsum",)),
    "pooled_past_window": Said("RLX306", Verdict.NEEDS_RUNTIME_CHECK, ("LegalizeOps",)),
    "product_of_sum_past_in_place": Said(passes=("ExpandMatmulOfSum",)),
    "product_with_itself": None,
    "rearranged_past_in_place": Said(passes=("OptimizeLayoutTransform",)),
    "reindexed_past_guard": Said("RLX306", passes=("ReIndex",)),
    "reversed_past_layout": Said("RLX306", passes=("TransformLayout",)),
    "rounding_left_out": None,
    "scattered_past_source": Said("RLX306", passes=("LegalizeOps",)),
    "scheduled_in_place": None,
    "sorted_before_cast": None,
    "sorted_past_in_place": Said(passes=("TopologicalSort",)),
    "specialised_extent": None,
    "split_search": None,
    "stacked_layout": None,
    "taken_past_in_place": Said(passes=("ReorderTakeAfterMatmul",)),
    "topk_of_few": Said("RLX205", Verdict.NEEDS_RUNTIME_CHECK, (None,)),
    "transposed_past_in_place": Said(passes=("ReorderPermuteDimsAfterConcat",)),
}
"""What is said of each; None: nothing, as docs/trophies.md explains."""
REFUSED = {
    "closure_without_parameter": "Cannot find ffi::Function main_inner",
    "converted_cast": "exactly one of the layouts is unknown",
    "expanded_scalar": "must not be scalar",
    "fast_math_of_a_call": "has no attribute 'name'",
    "folded_slice": "no definition of",
    "fused_symbolic_in_place": "Inconsistent buffers",
    "graph_without_a_name": "Var c is not defined",
    "in_place_drops_a_kernel": "no definition of",
    "killed_text": "to be stored in a register",
    "lifted_without_type": "given R.Any",
    "mixed_field": "The type is not populated",
    "mixed_view": "Expected TensorType",
    "product_with_itself": "Index out of range",
    "scheduled_in_place": "The reduction block vars are not used",
    "sorted_before_cast": "has not been computed",
    "specialised_extent": "an independent Var",
    "split_search": "There should be a compute block",
    "stacked_layout": "out of bounds",
}
"""Those that TVM does not compile after the pass, and its words."""
UNCOMPARED = ("killed_text", "lifted_without_type")
"""Of these the ones that do not run without the pass either: the first calls what is not there."""
ACCEPTED = {"dropped_cast": "match_cast error"}
"""Those that run though they must not, and what the reference says."""
UNWRITTEN = {
    "pooled_past_window": ("float32[1, 1, 3, 3]", "float32[1, 1, 4, 4]"),
    "topk_of_few": ("float32[2]",),
}
"""Those whose result is what memory held before, and arguments."""
OUTSIDE = {
    "padded_past_producer": (("float32[3, 16384]",), Damage("read", at=196608, size=196608)),
    "reindexed_past_guard": (("float32[16384]",), Damage("read", at=65536, size=65536)),
    "reversed_past_layout": (("float32[8, 64]",), Damage("read", at=-1012, size=4096)),
    "scattered_past_source": (("float32[100000]", "float32[2]"), Damage("read", at=64, size=8)),
}
"""Those that read outside of their memory, so that they run in a process of their own: arguments, and what the guard
sees.
"""
WRONG = [name for name in NAMES if name not in {*REFUSED, *ACCEPTED, *UNWRITTEN, *OUTSIDE}]


@cache
def trophy(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"trophy_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # TVM looks for the source of a class there.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def reference(program: Any) -> Any:
    return program.results(program.Module, getattr(program, "REFERENCE", "default"))


@cache
def compiled(name: str) -> tuple[Any, str, relax_lint.MemoryLint]:
    """What the program returns after the pass, the error that TVM raised instead, and what the linter saw."""
    program, lint = trophy(name), relax_lint.MemoryLint(fail_on=None)
    with tvm.transform.PassContext(instruments=[lint]):
        try:
            broken = tvm.transform.Sequential(program.PASSES)(program.Module)
            results = None if name in OUTSIDE else program.results(broken, program.PIPELINE)
            return results, "", lint
        except Exception as error:
            return None, str(error), lint


@pytest.mark.parametrize("name", WRONG)
def test_the_pass_makes_the_numbers_wrong(name: str) -> None:
    program = trophy(name)
    right, (wrong, _, _) = reference(program), compiled(name)
    assert all(np.allclose(right[0], result) for result in right)
    assert not all(np.allclose(one, other) for one, other in zip(right, wrong, strict=True))


@pytest.mark.parametrize("name", REFUSED)
def test_the_pass_makes_a_module_that_is_refused(name: str) -> None:
    assert REFUSED[name] in compiled(name)[1]
    if name not in UNCOMPARED:
        assert reference(trophy(name))


@pytest.mark.parametrize("name", ACCEPTED)
def test_the_pass_removes_a_check(name: str) -> None:
    program = trophy(name)
    with pytest.raises(Exception, match=ACCEPTED[name]):
        reference(program)
    assert compiled(name)[0]


@pytest.mark.parametrize("name", UNWRITTEN)
def test_the_result_is_what_memory_held(name: str) -> None:
    module = Module(trophy(name).Module.script(show_meta=True), "script")
    with Machine() as machine:
        ones, others = (
            machine.run(module, "main", list(map(parse_input, UNWRITTEN[name])), allocator="naive", fill=fill)
            for fill in (0x11, 0x22)
        )
    assert (ones.outcome, others.outcome) == (Outcome.OK, Outcome.OK)
    assert ones.digest != others.digest


@pytest.mark.parametrize("name", OUTSIDE)
def test_the_guard_sees_the_read(name: str) -> None:
    arguments, damage = OUTSIDE[name]
    program = trophy(name)
    made = tvm.transform.Sequential(program.PASSES)(program.Module)
    module = Module(made.script(show_meta=True), "script")
    try:
        guarded = Machine(guarded=True)
    except GuardUnavailableError as reason:
        pytest.skip(str(reason))
    with guarded as machine:
        found = machine.run(module, "main", [parse_input(text) for text in arguments], allocator="naive")
    assert (found.outcome, found.damage) == (Outcome.SIGNAL, damage)


@pytest.mark.parametrize("name", NAMES)
def test_the_linter_names_the_pass(name: str) -> None:
    expected = SAID[name]
    given = relax_lint.check(trophy(name).Module).findings
    assert bool(given) == (expected is not None and None in expected.passes)
    rule = "RLX206" if expected is None else expected.rule
    said = [finding for finding in compiled(name)[2].findings if finding.check.rule == rule]
    if expected is None:
        assert said == []
    else:
        assert {finding.check.verdict for finding in said} == {expected.verdict}
        assert {finding.introduced_by for finding in said} <= set(expected.passes)


@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_it(name: str) -> None:
    page = (ROOT / "docs" / "trophies.md").read_text(encoding="utf-8")
    assert f"examples/trophies/{name}.py" in page
