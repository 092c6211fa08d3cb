"""What all tests share."""

from __future__ import annotations

import gc
import os
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

from tests import hanging, quick_stack
from tests.forking import close_servers, fork_product

# In CI the examples are the same in every run: what is random is tried by people, and by `make slow`.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

# What is imported and collected stays: `pytest_collection_finish` begins to look for garbage.
gc.disable()

# Hundreds of tests start processes: each would compile every module again. And every process that collects would
# rewrite the assertions of 430 modules again, which is a third of its time until the first test.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

quick_stack.install()

_NUMBERS = count()
_TESTS = Path(__file__).parent

_LONG = frozenset(
    line
    for line in (_TESTS / "long.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
)
_LONG_EXAMPLES = tuple(entry for entry in _LONG if "[" in entry)


# Of the programs of these tests, one in so many is tried by `make test`, and the others by `make slow`: there are
# hundreds of them, and what a change of the engine does is seen in `python -m tests.strength`, which tries all.
ONE_IN = {
    "strength/test_decided.py::test_nothing_became_weaker": 12,
    "metamorphic/test_same_verdicts.py::test_another_text": 12,
    "metamorphic/test_same_verdicts.py::test_another_module": 12,
    "fixes/test_on_vm.py::test_examples_of_the_rule_pages": 3,
    "memory/test_budget_points.py::test_a_budget_is_kept_where_it_is_measured_to_be": 3,
    "oracle/test_oracle.py::test_what_was_once_wrong_stays_right": 2,
    "output/test_hostile_command.py::test_every_format": 3,
    "rules/test_decided_once.py::test_a_report_is_the_same_where_everything_is_asked_anew": 4,
    "rules/test_either_of_two_functions.py::test_either_may_be_called": 4,
    "rules/test_every_way.py::test_harm_is_told_by_every_name": 3,
    "rules/test_every_way.py::test_harm_is_told_wherever_it_is_done": 3,
    "rules/test_joined_tuples.py::test_each_field_is_followed_by_itself": 3,
    "rules/test_left_out.py::test_what_may_be_left_out_is_not_always_wrong": 3,
    "rules/test_read_for_nobody.py::test_what_every_run_shows_is_always_wrong": 3,
    "rules/test_read_for_nobody.py::test_what_nobody_needs_does_no_certain_harm": 3,
    "rules/test_reads_under_conditions_of_steps.py"
    "::test_there_is_a_step_for_all_sizes_or_it_is_not_certain": 3,
    "rules/test_stored_anew_by_blocks.py::test_what_is_stored_anew_does_no_certain_harm": 3,
    "rules/test_values_of_another_kind.py::test_what_something_is_not": 3,
    "trophies/test_trophies.py::test_the_pass_makes_a_module_that_is_refused": 3,
    "trophies/test_trophies.py::test_the_pass_makes_the_numbers_wrong": 3,
}
# What takes 2 to 20 seconds of processor time and asks about what seldom changes.
REST = frozenset(
    {
        "api/test_deep_kernels.py::test_the_work_for_long_sums_is_bounded",
        "api/test_notebook.py::test_the_types_of_a_user_hold",
        "attack/test_exhausting.py::test_deep_nesting",
        "attack/test_layers.py::test_a_name_bound_anew_runs_nothing[only the gate]",
        "attack/test_layers.py::test_a_name_bound_anew_runs_nothing[only the interpreter]",
        "attack/test_layers.py::test_every_expression_is_stopped_by_each_layer[only the gate]",
        "attack/test_layers.py::test_every_expression_is_stopped_by_each_layer[only the interpreter]",
        "attack/test_layers.py::test_without_the_layers_it_breaks_through",
        "docs/test_rule_package.py::test_its_own_tests_pass",
        "docs/test_types.py::test_the_blocks_are_typed",
        "memory/test_api.py::test_a_file_and_a_module_have_the_same_totals",
        "memory/test_workspaces.py::test_a_target_that_tvm_does_not_know_is_a_wrong_request",
        "mutants/test_generating.py::test_every_class_explains_mutants_of_the_code_and_none_that_changes_a_meaning",
        "oracle/test_kernels.py::test_what_is_said_to_be_read_matters",
        "oracle/test_tir_large.py::test_what_is_said_of_large_indices_holds_at_every_size",
        "oracle/test_tir_scheduled.py::test_what_is_said_of_scheduled_kernels_is_so",
        "plugin/test_pytest_plugin.py::test_workers_of_xdist_hand_over_what_they_find",
        "programs/test_transformer.py::test_every_tensor_on_a_storage_is_judged_fine[False-32-killed]",
        "programs/test_transformer.py::test_every_tensor_on_a_storage_is_judged_fine[True-32-killed]",
        "rule_packages/test_new_rule_package.py::test_the_tests_of_a_new_package_pass_and_notice_a_change",
        "rules/test_new_rule.py::test_only_what_is_to_be_written_fails",
        "scale/test_determinism.py::test_a_report_is_the_same_for_every_seed_of_hashes",
        "symbolic/test_standard.py::test_what_they_stand_for_is_the_same_at_every_point",
        "totals/test_packed.py::test_objects_hold_what_is_predicted",
        "totals/test_tvm_text.py::test_the_text_is_that_of_tvm_wherever_tvm_answers",
        "totals/test_workspaces.py::test_at_a_binding_the_prediction_is_what_happened",
    }
)


@cache
def _place(path: Path) -> str:
    return path.relative_to(_TESTS).as_posix() if path.is_relative_to(_TESTS) else ""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What is left out whole need not be imported."""
    return True if "not long" in config.option.markexpr and _place(collection_path) in _LONG else None


def pytest_pycollect_makemodule() -> None:
    """Many modules of tests have modules of TVM in them."""
    _parse_quickly()


def _parse_quickly(*, wanted: bool = True) -> None:
    """Without loading TVM for it."""
    if "tvm" in sys.modules:
        from tests import quick_builds, quick_parser

        quick_builds.install()
        quick_parser.install() if wanted else quick_parser.remove()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `tests/long.txt` lists: files, functions, and functions with the first letters of an example; and
    what is left to `make slow` of many.
    """
    met = Counter[str]()
    for item in items:
        file = _place(item.path)
        name = f"{file}::{item.name}"
        function = name.partition("[")[0]
        if name in REST:
            item.add_marker(pytest.mark.rest)
        if function in ONE_IN:
            if met[function] % ONE_IN[function]:
                item.add_marker(pytest.mark.rest)
            met[function] += 1
        if file in _LONG or function in _LONG or name.startswith(_LONG_EXAMPLES):
            item.add_marker(pytest.mark.long)


def pytest_collection_finish() -> None:
    """What was imported and collected stays: not to look through it for garbage again and again saves a tenth."""
    gc.freeze()
    gc.set_threshold(200_000, 20, 20)
    gc.enable()


def pytest_configure() -> None:
    """What is written to standard error is not taken for what a test says yet."""
    hanging.write_to(2)


def pytest_runtest_logstart() -> None:
    """It must not hang unseen."""
    hanging.a_test_begins()


def pytest_exception_interact() -> None:
    """pytest itself takes back the alarm."""
    hanging.forget()


def pytest_unconfigure() -> None:
    """No test hangs any more."""
    hanging.end()


# Folders whose tests ask what is printed and written: most lint the same few texts, and what one of them has kept
# serves the next. What is judged is asked elsewhere.
_SHARING = frozenset({"cli", "docs", "hooks", "memory", "output", "pages", "server", "suppressions"})

# Folders whose tests ask how workers are started, confined and ended, or what one input does to the next.
_OWN_WORKERS = frozenset({"attack", "sandbox", "scale", "workers"})

# Of these, what asks about processes that an interpreter has started; elsewhere they may be forked.
_OWN_STARTS = frozenset(
    {
        *("sandbox", "workers", "attack/test_disguises.py", "attack/test_execution.py"),
        *("attack/test_exhausting.py", "attack/test_layers.py", "attack/test_parent.py"),
    }
)


_folders: dict[bool, Path] = {}
"""Where what is kept goes: by whether the tests of a folder share it."""


@pytest.fixture(scope="session", autouse=True)
def _what_is_kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The folder of the caches of all tests, and one cache for all processes of a run of the tests."""
    base = tmp_path_factory.getbasetemp()
    _folders[False] = tmp_path_factory.mktemp("caches")
    _folders[True] = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared-cache"
    _folders[True].mkdir(exist_ok=True)
    yield
    if (kept := sys.modules.get("tests.kept_workers")) is not None:
        kept.close_kept_workers()
    close_servers()


@pytest.fixture(autouse=True)
def _surroundings(request: pytest.FixtureRequest) -> Iterator[None]:
    """No test finds what the user has kept; nor, but in the folders that share, what another test has. It is asked
    of every test: the fixtures that a fixture has take longer than what it does.
    """
    place = _place(request.path)
    top = place.partition("/")[0]
    # There it tells what is right.
    _parse_quickly(wanted=top != "sources")
    cold = request.node.get_closest_marker("cold") is not None
    shares = not cold and top in _SHARING
    folder = str(_folders[True]) if shares else f"{_folders[False]}{os.sep}{next(_NUMBERS)}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELAX_LINT_CACHE_DIR", folder)
        if not _OWN_STARTS & {top, place}:
            fork_product(patch)
        if not cold and top not in _OWN_WORKERS:
            from tests.kept_workers import keep_workers

            keep_workers(patch)
        yield
