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
_ONE_IN = {
    "strength/test_decided.py::test_nothing_became_weaker": 7,
    "metamorphic/test_same_verdicts.py::test_another_text": 7,
    "metamorphic/test_same_verdicts.py::test_another_module": 7,
    "rules/test_either_of_two_functions.py::test_either_may_be_called": 4,
}
# What takes 6 to 20 seconds of processor time and asks about what seldom changes.
_REST = frozenset(
    {
        "api/test_deep_kernels.py::test_the_work_for_long_sums_is_bounded",
        "attack/test_layers.py::test_without_the_layers_it_breaks_through",
        "docs/test_rule_package.py::test_its_own_tests_pass",
        "memory/test_api.py::test_a_file_and_a_module_have_the_same_totals",
        "memory/test_workspaces.py::test_a_target_that_tvm_does_not_know_is_a_wrong_request",
        "oracle/test_kernels.py::test_what_is_said_to_be_read_matters",
        "oracle/test_tir_large.py::test_what_is_said_of_large_indices_holds_at_every_size",
        "oracle/test_tir_scheduled.py::test_what_is_said_of_scheduled_kernels_is_so",
        "plugin/test_pytest_plugin.py::test_workers_of_xdist_hand_over_what_they_find",
        "rule_packages/test_new_rule_package.py::test_the_tests_of_a_new_package_pass_and_notice_a_change",
        "rules/test_new_rule.py::test_only_what_is_to_be_written_fails",
        "scale/test_determinism.py::test_a_report_is_the_same_for_every_seed_of_hashes",
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
        if name in _REST:
            item.add_marker(pytest.mark.rest)
        if function in _ONE_IN:
            if met[function] % _ONE_IN[function]:
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
