"""`make rule`, in a copy of the tree: what it lays fits in, and fails only where the rule is still to be written."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.new_rule import RefusedError, lay

REPOSITORY = Path(__file__).parents[2]
CODE, NAME, FAMILY = "RLX299", "laid-by-a-test", "lifetimes"
LAID = (
    "rules/relax_lint_rules/lifetimes/laid_by_a_test.py",
    "rules/relax_lint_rules/lifetimes/laid_by_a_test.md",
    "tests/rules/test_laid_by_a_test.py",
    "rules/relax_lint_rules/lifetimes/__init__.py",
)
UNFINISHED = {
    "tests/rules/test_laid_by_a_test.py::test_a_wrong_program",
    f"tests/pages/test_examples.py::test_judgements_are_those_that_are_marked[{CODE}_1]",
    f"tests/pages/test_structure.py::test_nothing_is_left_to_be_written[{CODE}]",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with a rule laid."""
    copy = tmp_path_factory.mktemp("tree")
    shutil.copy(REPOSITORY / "pyproject.toml", copy)
    # With the bytecode, which the processes would else make again; without what is just being written of it.
    for folder in ("relax_lint", "rules", "tests", "tools"):
        shutil.copytree(REPOSITORY / folder, copy / folder, ignore=shutil.ignore_patterns("*.pyc.*"))
    done = _python(copy, "tools.new_rule", CODE, NAME, FAMILY)
    assert (done.returncode, done.stderr) == (0, "")
    assert tuple(done.stdout.splitlines()) == LAID
    return copy


def _python(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(tree), str(tree / "rules")))
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_only_what_is_to_be_written_fails(tree: Path) -> None:
    tests = ("tests/pages/test_structure.py", "tests/pages/test_examples.py", LAID[2])
    chosen = f"test_structure or {CODE}_ or laid_by_a_test"
    done = _python(tree, "pytest", "-q", "-p", "no:cacheprovider", *tests, "-k", chosen)
    failed = set(re.findall(r"^FAILED (\S+)", done.stdout, re.MULTILINE))
    assert failed == UNFINISHED, done.stdout + done.stderr
    assert f"Right contains one more item: ('{CODE}', 'always-wrong', None)" in done.stdout
    assert f"Right contains one more item: Judgement(line=9, rule='{CODE}'" in done.stdout


@pytest.mark.vm
def test_the_run_that_the_page_states_is_one(tree: Path) -> None:
    done = _python(tree, "pytest", "-q", "-p", "no:cacheprovider", "tests/pages/test_runs.py", "-k", CODE)
    assert "2 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("command", [("format", "--check"), ("check",)], ids=lambda command: command[0])
def test_the_files_are_clean(tree: Path, command: tuple[str, ...]) -> None:
    done = _python(tree, "ruff", *command, "--no-cache", *(file for file in LAID if file.endswith(".py")))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_rule_is_in_the_index_and_has_a_page(tree: Path) -> None:
    listed = _python(tree, "relax_lint.cli", "rules")
    assert re.search(rf"^{CODE} +{NAME}\b", listed.stdout, re.MULTILINE), listed.stdout + listed.stderr
    assert _python(tree, "relax_lint.cli", "explain", CODE).stdout.startswith(f"# {CODE} {NAME}\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param((CODE, "other-name", FAMILY), f"{CODE} {NAME} exists", id="the code is taken"),
        pytest.param(("RLX298", NAME, FAMILY), f"{CODE} {NAME} exists", id="the name is taken"),
        pytest.param(
            ("RLX198", "storage-overflow", "bounds"), "RLX101 storage-overflow exists", id="name elsewhere"
        ),
        pytest.param(
            ("RLX298", "some-name", "lives"), "no family `lives`; there are bounds, budget", id="family"
        ),
        pytest.param(("RLX998", "some-name", "sources"), "`sources` have no check", id="no check"),
        pytest.param(
            ("RLX398", "some-name", FAMILY), "the codes of `lifetimes` begin with RLX2", id="other family"
        ),
        pytest.param(("RLX2", "some-name", FAMILY), "`RLX2` is not a code", id="no code"),
        pytest.param(("", "", ""), "no family ``", id="nothing"),
        pytest.param(("RLX298", "Some_Name", FAMILY), "`Some_Name` is not a name", id="no name"),
        pytest.param(("RLX298", "../../x", FAMILY), "`../../x` is not a name", id="a path"),
        pytest.param(
            ("RLX298", "lifetimes", FAMILY), "tests/rules/test_lifetimes.py exists", id="the file is there"
        ),
    ],
)
def test_what_is_refused_writes_nothing(tree: Path, arguments: tuple[str, str, str], told: str) -> None:
    before = sorted(tree.rglob("*"))
    with pytest.raises(RefusedError) as refused:
        lay(tree, *arguments)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)
    assert sorted(tree.rglob("*")) == before


def test_the_command_tells_what_is_refused_in_one_line(tree: Path) -> None:
    done = _python(tree, "tools.new_rule", CODE, "other-name", FAMILY)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"make rule: {CODE} {NAME} exists\n"
