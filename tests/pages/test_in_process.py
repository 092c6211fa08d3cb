"""Every example of a rule page alone, judged in this process: where mutants and coverage can see it."""

from __future__ import annotations

from typing import Any

import pytest

from relax_lint.judging.report import check_parsed
from relax_lint.results.check import Check
from relax_lint.settings.config import Config, with_options
from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.saved import parse_json

from .page import Example, Judgement, examples
from .planned import planned

# What cannot be read is the business of the sources, and one of these examples ends the process that reads it.
EXAMPLES = [example for example in examples() if not example.name.startswith("RLX9")]
_VALUES: dict[str, Any] = {"true": True, "false": False}


def _checks(example: Example) -> list[Check]:
    config = with_options(Config(), {key: _VALUES.get(value, [value]) for key, value in example.options})
    if example.planned:
        units = [parse_json(planned(example.text), "example.json")]
    else:
        units = [parse_unit(unit) for unit in read_units(example.text.encode(), "example.py").units]
    return [check for unit in units for check in check_parsed(unit, "example.py", config).checks]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_alone_is_judged_as_it_is_marked(example: Example) -> None:
    found = []
    for check in _checks(example):
        line = 0 if example.planned or check.location is None else check.location.line
        found.append(Judgement(line, check.rule, check.verdict.value, check.safe_when or ""))
    marked = [
        Judgement(0 if example.planned else one.line, one.rule, one.verdict, one.condition)
        for one in example.judgements
    ]
    reported = [one for one in found if one.verdict != "always-fine"]
    assert sorted(reported) == sorted(one for one in marked if one.verdict != "always-fine")
    assert {one for one in marked if one.verdict == "always-fine"} <= set(found)
