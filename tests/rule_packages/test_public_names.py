"""The names that rule packages import are all there, documented, and cost nothing before they are used."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from relax_lint import rules
from relax_lint.facts.function import FunctionFacts
from relax_lint.rules import testing

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "rule-packages.md").read_text(encoding="utf-8")
STABLE = """
Acceptance AllocStorage AllocTensor Assert CheckAtRunTime Claim DType Decided Decision DelayKill Domain Drop
DropAllocation FAILURE FixAvailability FloorDiv FloorMod FunctionCall FunctionFacts Judgement KernelCall Kill
Kind Location MISBEHAVIOUR MakeRoom MatchCast Message NOTHING_TO_SEE OTHER_RESULTS Op OperationId Placement
RemedyRequest Rule Severity Shape Size Symptom Unknown ValueId Verdict View WARNINGS all_of at_least_zero
at_most equal multiple_of
"""
"""Names leave this list only as the policy of docs/rule-packages.md has it."""


def test_no_stable_name_is_gone() -> None:
    assert set(STABLE.split()) <= set(rules.__all__)


@pytest.mark.parametrize("name", rules.__all__)
def test_a_name_is_that_of_its_module(name: str) -> None:
    assert getattr(rules, name) is getattr(importlib.import_module(rules._HOMES[name]), name)


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(inspect.getsource(rules))
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("relax_lint")
        for alias in node.names
    }
    assert imported == set(rules.__all__) == set(rules._HOMES)


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Walker'"):
        rules.__getattr__("Walker")


def test_the_page_lists_the_stable_facts() -> None:
    table = PAGE[PAGE.index("| member | is |") : PAGE.index("A finding that has a fix")]
    first = [line.split("|")[1] for line in table.splitlines()[2:] if line]
    named = [name for cell in first for name in re.findall(r"`(\w+)", cell)]
    assert sorted(named) == sorted(rules.STABLE_FACTS)
    assert [name for name in named if name != "config" and not hasattr(FunctionFacts, name)] == []


def test_the_page_lists_the_test_helpers() -> None:
    listed = re.findall(r"^\| `(\w+)\(", PAGE[PAGE.index("relax_lint.rules.testing` | does") :], re.MULTILINE)
    public = {
        name
        for name, value in vars(testing).items()
        if inspect.isfunction(value) and value.__module__ == testing.__name__ and name[0] != "_"
    }
    assert set(listed) == public


def test_importing_the_names_that_declare_a_rule_loads_no_sympy() -> None:
    code = "import sys; from relax_lint.rules import Judgement, Message, Rule, CheckAtRunTime; "
    code += "assert not {'sympy', 'tvm'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
