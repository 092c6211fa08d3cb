"""docs/facts.md is what the table of facts and its tests say, and the tests that it names exist."""

from __future__ import annotations

import re

import pytest

from relax_lint.vm.facts import FactSource
from tests.soundness import test_facts
from tests.soundness.fact_cases import CASES
from tools.fact_table import PAGE, page, violations_of

_ROOT = PAGE.parents[1]


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make facts`"


@pytest.mark.parametrize("source", FactSource, ids=lambda source: source.name)
def test_every_kind_names_tests_that_exist(source: FactSource) -> None:
    names = violations_of(source)
    assert names
    cases = {f"{case.source.name.lower()}: {case.name}" for case in CASES}
    for name in names:
        function, _, case = name.partition("[")
        assert callable(getattr(test_facts, function))
        assert not case or case.removesuffix("]") in cases
        assert f"`{name.removeprefix('test_a_fact_is_violated')}`" in PAGE.read_text(encoding="utf-8")


def test_a_fact_is_stated_with_its_source_only() -> None:
    stated = [
        path.relative_to(_ROOT).as_posix()
        for path in sorted((_ROOT / "relax_lint").rglob("*.py"))
        if re.search(r"(?<![\w.])Fact\(", path.read_text(encoding="utf-8"))
    ]
    # A class definition has no parenthesis behind the name, and only `Fact.of` makes one.
    assert stated == []
