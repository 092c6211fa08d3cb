"""No message holds the address of an object: it would differ from run to run, and tell where things lie."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from relax_lint import cli
from relax_lint.commands import rules
from relax_lint.judging.problems import problem_checks
from relax_lint.output.formats import FORMATS
from relax_lint.results.problem import Problem, ProblemKind
from relax_lint.settings.config import Config
from relax_lint.support.escaping import without_addresses
from tests import forking

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "storage_overflow.py"

# A rule package that puts objects into all that it says, and one of whose rules raises.
PACKAGE = """
from dataclasses import replace
import sympy
import tvm
from relax_lint.rule import Message, Rule, load_rules
import relax_lint_rules

class Thing:
    pass

def objects():
    return f"{Thing()} {loud} {print.__call__} {Thing().__init__} {tvm.ir.IRModule.__init__} {sympy.Symbol('n').diff}"

def loud(facts):
    for judgement in original.check(facts):
        said = Message(objects(), label=objects(), notes=(objects(),), help=(objects(),))
        yield replace(judgement, message=said)

def raising(facts):
    raise TypeError(f"not callable: {objects()}")
    yield

original = next(rule for rule in relax_lint_rules.RULES if rule.code == "RLX101")
RULES = (
    replace(original, code="XYZ101", name="loud-rule", check=loud),
    replace(original, code="XYZ102", name="raising-rule", check=raising),
)
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment in which the package is installed, with a cache of its own."""
    tmp_path = tmp_path_factory.mktemp("package")
    (tmp_path / "loud_rules.py").write_text(PACKAGE, encoding="utf-8")
    folder = tmp_path / "loud_rules-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: loud-rules\nVersion: 1\n", encoding="utf-8"
    )
    (folder / "entry_points.txt").write_text("[relax_lint.rules]\nloud = loud_rules\n", encoding="utf-8")
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]),
        "RELAX_LINT_CACHE_DIR": str(tmp_path / "cache"),
    }


@pytest.mark.parametrize("code", ["XYZ101", "XYZ102"])
@pytest.mark.parametrize("name", ["text", "json", "junit"])
def test_what_a_rule_package_says_of_objects(
    package: dict[str, str], tmp_path: Path, code: str, name: str
) -> None:
    assert name in FORMATS["check"]
    call = [sys.executable, "-m", "relax_lint.cli", "check", "--select", f"{code},RLX90"]
    done = forking.run(
        [*call, "--output-format", name, str(EXAMPLE)],
        cwd=tmp_path,
        env=package,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "loud_rules.Thing object" in done.stdout.replace("&lt;", "<")
    assert not re.search("0x[0-9a-f]{6}", done.stdout + done.stderr)


def test_what_could_not_be_analysed() -> None:
    problem = Problem(
        ProblemKind.ANALYSIS_FAILED, f"TypeError: {object()}", None, None, (f"note: {cli.main}",)
    )
    (check,) = problem_checks([problem], "model.py", Config())
    assert check.message == "TypeError: <object object>"
    assert check.notes == ("note: <function main>",)


def test_an_internal_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(options: object) -> int:
        raise TypeError(f"{fail} is wrong")

    monkeypatch.setattr(rules, "list_rules", fail)
    assert cli.main(["rules"]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith(
        "relax-lint: error: internal error: TypeError: <function test_an_internal_error.<locals>.fail>"
    )
    assert " at 0x" not in shown


def test_what_is_no_address_stays() -> None:

    for text in ("look at 0", "0x10 bytes", "at 0x", "add(x) at line 3"):
        assert without_addresses(text) == text
