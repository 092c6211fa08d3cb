"""The pytest plugin, run by pytest on small tests."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tvm

# A run within this process forgets the modules that it loads, and TVM can only be loaded once.
import relax_lint.pytest_plugin.contexts  # noqa: F401

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.long

MODEL = """
import pytest
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T


@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor(("n", 8), "float32")) -> R.Tensor(("n", 8), "float32"):
        R.func_attr({"tir_var_upper_bound": {"n": 4}})
        with R.dataflow():
            y = R.nn.softmax(x)
            z = R.nn.softmax(y)
            w = R.nn.softmax(z)
            R.output(w)
        return w


@I.ir_module
class Given:
    @R.function(pure=False)
    def main(x: R.Tensor(("m",), "float32")):
        m = T.int64()
        s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        y = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([m]), R.dtype("float32"))
        return y


PLAN = tvm.transform.Sequential([
    relax.transform.LegalizeOps(), relax.transform.ToNonDataflow(), relax.transform.RemovePurityChecking(),
    relax.transform.CallTIRRewrite(), relax.transform.StaticPlanBlockMemory(),
])


def plan(module=Model):
    with tvm.target.Target("llvm"):
        return PLAN(module)
"""

PLUGIN = ("-p", "relax_lint.pytest_plugin", "-p", "no:cacheprovider")


def run(pytester: pytest.Pytester, tests: str, *options: str, json_file: bool = True) -> pytest.RunResult:
    """One run in this process, with what it needs of TVM already imported."""
    pytester.makepyfile(MODEL + tests)
    written = ("--relax-lint-json", "found.json") if json_file else ()
    return pytester.runpytest_inprocess(*PLUGIN, *options, *written)


def found(pytester: pytest.Pytester) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((pytester.path / "found.json").read_text())
    return data


def rules(pytester: pytest.Pytester) -> dict[str, list[tuple[str, str | None]]]:
    """(rule, pass) of each finding, by the name of the test."""
    return {
        record["test"].rpartition("::")[2]: [(f["rule"], f["introduced_by"]) for f in record["findings"]]
        for record in found(pytester)["records"]
    }


def test_a_finding_is_reported_with_its_pass(pytester: pytest.Pytester) -> None:
    result = run(pytester, "def test_it():\n    plan()\n\ndef test_other():\n    pass\n", "--relax-lint")
    result.assert_outcomes(passed=2)
    assert rules(pytester) == {"test_it": [("RLX501", "StaticPlanBlockMemory")]}
    data = found(pytester)
    assert (data["version"], data["mode"], data["tests"]) == (1, "warn", 2)
    assert data["passes"] == {"StaticPlanBlockMemory": {"RLX501": 1}}
    (finding,) = data["records"][0]["findings"]
    assert (finding["safe_when"], finding["severity"], finding["present"]) == ("n <= 4", "warning", True)
    result.stdout.fnmatch_lines(
        [
            "*= relax-lint =*",
            "1 findings in 1 of 2 tests; judging took *",
            "  StaticPlanBlockMemory: 1 (RLX501 1)",
            "*::test_it",
            "  warning?RLX501? in `main`: *(introduced by `StaticPlanBlockMemory`)",
        ]
    )


def test_error_fails_a_test_that_passed(pytester: pytest.Pytester) -> None:
    tests = """
def test_found():
    plan()

def test_clean():
    pass

def test_own_failure():
    plan()
    assert False, "my own"

@pytest.mark.xfail(strict=True)
def test_expected_to_fail():
    plan()
"""
    result = run(pytester, tests, "--relax-lint=error")
    result.assert_outcomes(failed=2, passed=1, xfailed=1)
    result.stdout.fnmatch_lines(["*my own*"])
    assert sorted(rules(pytester)) == ["test_expected_to_fail", "test_found", "test_own_failure"]


@pytest.mark.parametrize(("severity", "failed"), [("error", 0), ("warning", 1), ("note", 1)])
def test_the_severity_that_fails_is_chosen(pytester: pytest.Pytester, severity: str, failed: int) -> None:
    option = ("-o", f"relax_lint_fail_on={severity}")
    result = run(pytester, "def test_it():\n    plan()\n", "--relax-lint=error", *option)
    result.assert_outcomes(failed=failed, passed=1 - failed)


def test_a_marker_expects_or_skips(pytester: pytest.Pytester) -> None:
    tests = """
@pytest.mark.relax_lint(expect=["RLX5"])
def test_expected():
    plan()

@pytest.mark.relax_lint(expect="RLX203")
def test_missing():
    pass

@pytest.mark.relax_lint(skip=True)
def test_skipped():
    plan()
"""
    run(pytester, tests, "--relax-lint=error", "--strict-markers").assert_outcomes(passed=2, failed=1)
    by_test = {record["test"].rpartition("::")[2]: record for record in found(pytester)["records"]}
    assert by_test.keys() == {"test_expected", "test_missing"}
    assert [finding["expected"] for finding in by_test["test_expected"]["findings"]] == [True]
    assert by_test["test_missing"]["missing"] == ["RLX203"]


def test_contexts_of_a_test_are_judged_and_its_own_instruments_kept(pytester: pytest.Pytester) -> None:
    tests = """
MADE = tvm.transform.PassContext(opt_level=3)

@tvm.instrument.pass_instrument
class Count:
    def __init__(self):
        self.ran = 0
    def run_after_pass(self, module, info):
        self.ran += 1

def test_inner():
    count = Count()
    with tvm.transform.PassContext(opt_level=1, instruments=[count]) as context:
        assert context.opt_level == 1
        plan()
    assert count.ran > 5

def test_made_at_import():
    with MADE:
        plan()

def test_copied():
    current = tvm.transform.PassContext.current()
    with tvm.transform.PassContext(instruments=list(current.instruments)) as context:
        assert len(context.instruments) == len(current.instruments)
        plan()

@pytest.fixture
def planned():
    return plan()

def test_fixture(planned):
    pass

def test_wrong_arguments():
    with pytest.raises(TypeError):
        tvm.transform.PassContext(instruments=1)
    with pytest.raises(TypeError):
        tvm.transform.PassContext(nothing=1)
"""
    run(pytester, tests, "--relax-lint").assert_outcomes(passed=5)
    judged = ["test_copied", "test_fixture", "test_inner", "test_made_at_import"]
    assert rules(pytester) == {name: [("RLX501", "StaticPlanBlockMemory")] for name in judged}


def test_what_was_given_may_be_left_out(pytester: pytest.Pytester) -> None:
    tests = "def test_it():\n    plan(Given)\n"
    run(pytester, tests, "--relax-lint").assert_outcomes(passed=1)
    assert rules(pytester)["test_it"][0] == ("RLX101", None)
    assert found(pytester)["passes"].keys() == {"(as given)"}
    run(pytester, tests, "--relax-lint", "-o", "relax_lint_introduced=true").assert_outcomes(passed=1)
    assert rules(pytester) == {}


def test_rules_are_chosen(pytester: pytest.Pytester) -> None:
    tests = "def test_it():\n    plan()\n"
    run(pytester, tests, "--relax-lint", "-o", "relax_lint_ignore=RLX501 RLX502").assert_outcomes(passed=1)
    assert rules(pytester) == {}
    run(pytester, tests, "--relax-lint", "-o", "relax_lint_select=RLX1").assert_outcomes(passed=1)
    assert rules(pytester) == {}


def test_a_pass_that_fails_leaves_what_was_found_before_it(pytester: pytest.Pytester) -> None:
    tests = """
@tvm.transform.module_pass(opt_level=0)
def broken(module, context):
    raise ValueError("broken")

def test_it():
    with pytest.raises(ValueError, match="broken"):
        broken(plan())
"""
    run(pytester, tests, "--relax-lint").assert_outcomes(passed=1)
    assert rules(pytester)["test_it"] == [("RLX501", "StaticPlanBlockMemory")]


def test_workers_of_xdist_hand_over_what_they_find(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(MODEL + "def test_one():\n    plan()\n\ndef test_two():\n    plan()\n")
    options = (*PLUGIN, "-p", "xdist", "-n", "1", "--relax-lint", "--relax-lint-json", "found.json")
    result = pytester.runpytest_subprocess(*options)
    result.assert_outcomes(passed=2)
    assert found(pytester)["passes"] == {"StaticPlanBlockMemory": {"RLX501": 2}}
    result.stdout.fnmatch_lines(["  StaticPlanBlockMemory: 2 (RLX501 2)"])


def test_nothing_is_imported_without_the_option(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
import sys

def test_it():
    loaded = {name.partition(".")[0] for name in sys.modules}
    assert not loaded & {"tvm", "tvm_ffi", "sympy"}
    assert not any(name.startswith("relax_lint.") and "pytest_plugin" not in name for name in sys.modules)
"""
    )
    result = pytester.runpytest_subprocess(*PLUGIN)
    result.assert_outcomes(passed=1)
    assert "relax-lint" not in result.stdout.str()


def test_the_file_of_pytest_turns_it_on(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nrelax_lint = error\n")
    run(pytester, "def test_it():\n    plan()\n").assert_outcomes(failed=1)
    run(pytester, "def test_it():\n    plan()\n", "--relax-lint=off", json_file=False).assert_outcomes(
        passed=1
    )


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("-o", "relax_lint=loud"), "`relax_lint` is one of off, warn, error, not 'loud'"),
        (("--relax-lint", "-o", "relax_lint_select=RLX999"), "RLX999"),
        (("--relax-lint", "-o", "relax_lint_fail_on=loud"), "loud"),
    ],
)
def test_what_cannot_be_used_is_refused(
    pytester: pytest.Pytester, option: tuple[str, ...], words: str
) -> None:
    pytester.makepyfile("def test_it():\n    pass\n")
    result = pytester.runpytest_inprocess(*PLUGIN, *option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert words in result.stderr.str() + result.stdout.str()


def test_pass_contexts_are_their_own_again(pytester: pytest.Pytester) -> None:
    before = tvm.transform.PassContext.__init__
    run(pytester, "def test_it():\n    plan()\n", "--relax-lint").assert_outcomes(passed=1)
    assert tvm.transform.PassContext.__init__ is before
    assert not list(tvm.transform.PassContext.current().instruments or ())
