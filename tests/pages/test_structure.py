from __future__ import annotations

import ast
from pathlib import Path

import pytest

from relax_lint.rule import load_rules
from relax_lint.settings.config import Config, load_config

from .page import SECTIONS, Example, Page, examples, pages

PAGES = pages()


def test_every_rule_has_a_page_and_every_page_a_rule() -> None:
    assert {page.path.resolve() for page in PAGES} == {rule.page.resolve() for rule in load_rules().values()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.code)
def test_title_and_summary_are_those_of_the_rule(page: Page) -> None:
    rule = load_rules()[page.code]
    assert page.name == rule.name
    assert page.summary == rule.summary[0].upper() + rule.summary[1:] + "."


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.code)
def test_sections(page: Page) -> None:
    assert page.sections == SECTIONS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.code)
def test_shows_a_finding_and_a_block_without_one(page: Page) -> None:
    reported = [
        any(j.rule == page.code and j.verdict != "always-fine" for j in example.judgements)
        for example in page.examples
    ]
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
    file.write_text(page.settings[-1], encoding="utf-8")
    assert load_config(str(file)).ignore == (page.code,)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.code)
def test_says_what_the_virtual_machine_did(page: Page) -> None:
    assert any(
        run.expected.split(",")[0] != "ok" or page.code in {j.rule for j in example.judgements}
        for example in page.examples
        for run in example.runs
    )


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_stated_runs_name_the_parameters_of_the_function(example: Example) -> None:
    if not example.runs:
        return
    functions = {
        node.name: tuple(argument.arg for argument in node.args.args)
        for node in ast.walk(ast.parse(example.text))
        if isinstance(node, ast.FunctionDef)
    }
    for run in example.runs:
        assert functions[run.function] == run.names
