from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from relax_lint.rule import load_rules
from relax_lint.settings.config import Config, load_config

from .page import SECTIONS, Example, Page, examples, pages

PAGES = pages()
# Rules whose findings cannot make a run fail, each with the reason. Every other page shows a run that fails.
CANNOT_FAIL = {
    "RLX202": "the second kill clears a register that is empty",
    "RLX207": "memory that is held for too long changes no answer",
    "RLX208": "memory that nothing uses changes no answer",
    "RLX313": "a buffer that nothing reads changes no answer",
    "RLX314": "the machine of the tests has no GPU",
    "RLX402": "the machine of the tests has one device",
    "RLX504": "an assertion that always holds never fails",
    "RLX506": "whether an allocation is too large depends on the memory of the machine",
    "RLX601": "a budget is an intention, which the virtual machine does not know",
    "RLX602": "memory that is planned badly changes no answer",
    "RLX905": "a comment has no part in the program",
}
CANNOT_RUN = {"RLX314", "RLX402"}
# The right answer of the first finding on a page whose runs end with a wrong one, and without an error.
RIGHT = {
    "RLX203": "float32[4] = 0.0, 6.0, 12.0, 18.0",
    "RLX206": "float32[4] = 3.0, 2.0, 1.0, 0.0",
    "RLX305": "int8[8]",
}
# Rules whose findings end with whatever was in memory, so that a page can state no values.
UNDEFINED = {"RLX205", "RLX306", "RLX307", "RLX308", "RLX311", "RLX312"}


def test_every_rule_has_a_page_and_every_page_a_rule() -> None:
    assert {page.path.resolve() for page in PAGES} == {rule.page.resolve() for rule in load_rules().values()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.code)
def test_title_and_summary_are_those_of_the_rule(page: Page) -> None:
    rule = load_rules()[page.code]
    assert page.name == rule.name
    assert page.summary == rule.summary[0].upper() + rule.summary[1:] + "."


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.code)
def test_nothing_is_left_to_be_written(page: Page) -> None:
    """`make rule` lays pages with gaps."""
    for path in (page.path, page.path.with_suffix(".py")):
        assert "TODO" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.code)
def test_sections(page: Page) -> None:
    assert page.sections == SECTIONS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.code)
def test_says_so_where_examples_are_shortened(page: Page) -> None:
    text = page.path.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python[^\n]*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    shortened = [block for block in blocks if not re.search(r"^(?:from|import) ", block, re.MULTILINE)]
    assert blocks[0] not in shortened
    assert text.count("The examples below show only the body of `Module`") == bool(shortened)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.code)
def test_shows_a_finding_and_a_block_without_one(page: Page) -> None:
    reported = [_reports(page, example) for example in page.examples]
    assert any(reported)
    assert not all(reported)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.code)
def test_the_settings_that_it_shows_are_accepted(page: Page, tmp_path: Path) -> None:
    for text in page.settings:
        file = tmp_path / "pyproject.toml"
        file.write_text(text, encoding="utf-8")
        assert load_config(str(file)) != Config()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.code)
def test_tells_how_to_switch_the_rule_off(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    (code,) = page.ignored
    file.write_text(f'[tool.relax-lint]\nignore = ["{code}"]\n', encoding="utf-8")
    assert load_config(str(file)).ignore == (page.code,)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.code)
def test_shows_a_run_that_fails(page: Page) -> None:
    """An error of the virtual machine, a wrong answer, or an answer that nobody can state. No table here can
    outlive its reason: a page in it shows no error.
    """
    runs = [run for example in page.examples if _reports(page, example) for run in example.runs]
    outcomes = [run.expected for run in runs]
    errors = {outcome.partition(":")[0] for outcome in outcomes if not outcome.startswith("ok")}
    tables = [table for table in (CANNOT_FAIL, RIGHT, UNDEFINED) if page.code in table]
    assert len(tables) <= 1
    if not tables:
        assert errors, "no run fails: show one, or say in CANNOT_FAIL why there is none"
    elif page.code in CANNOT_FAIL:
        # An example may show an assertion that is needed beside one that is not.
        assert errors <= {"AssertionError"}
        assert bool(outcomes) == (page.code not in CANNOT_RUN)
    elif page.code in RIGHT:
        assert not errors
        assert outcomes[0].startswith("ok, ")
        assert outcomes[0] != f"ok, {RIGHT[page.code]}"
    else:
        assert not errors
        assert "ok" in outcomes


def test_the_tables_name_rules() -> None:
    assert {*CANNOT_FAIL, *RIGHT, *UNDEFINED} < {page.code for page in PAGES}
    assert {*CANNOT_FAIL} > CANNOT_RUN


def _reports(page: Page, example: Example) -> bool:
    return any(j.rule == page.code and j.verdict != "always-fine" for j in example.judgements)


@pytest.mark.parametrize(
    "example", [each for each in examples() if each.runs], ids=lambda example: example.name
)
def test_stated_runs_name_the_parameters_of_the_function(example: Example) -> None:
    functions = {
        node.name: tuple(argument.arg for argument in node.args.args)
        for node in ast.walk(ast.parse(example.text))
        if isinstance(node, ast.FunctionDef)
    }
    for run in example.runs:
        assert functions[run.function] == run.names
