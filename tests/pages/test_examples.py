from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import relax_lint
from relax_lint.settings.config import Config, with_options

from .page import Example, Judgement, examples
from .planned import planned

EXAMPLES = examples()
_VALUES: dict[str, Any] = {"true": True, "false": False}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every example as a file of its own, one folder for each set of options."""
    root = tmp_path_factory.mktemp("examples")
    for example in EXAMPLES:
        file = _file(root, example)
        file.parent.mkdir(exist_ok=True)
        file.write_text(planned(example.text) if example.planned else example.text, encoding="utf-8")
    return root


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_judgements_are_those_that_are_marked(example: Example, folder: Path) -> None:
    found = _judgements(_file(folder, example).parent, example.options).get(example.name, [])
    marked = example.judgements
    if example.planned:
        # What was planned has no lines of its own.
        marked = [replace(judgement, line=0) for judgement in marked]
    reported = [judgement for judgement in found if judgement.verdict != "always-fine"]
    assert sorted(reported) == sorted(j for j in marked if j.verdict != "always-fine")
    assert {j for j in marked if j.verdict == "always-fine"} <= set(found)


def _file(root: Path, example: Example) -> Path:
    options = "_".join("-".join(option) for option in example.options) or "default"
    return root / options / f"{example.name}.{'json' if example.planned else 'py'}"


@cache
def _judgements(folder: Path, options: tuple[tuple[str, str], ...]) -> dict[str, list[Judgement]]:
    """What the linter says of every file in a folder, by the stem of the file."""
    settings = {key: _VALUES.get(value, [value]) for key, value in options}
    report = relax_lint.check(str(folder), with_options(Config(), settings))
    found: dict[str, list[Judgement]] = {}
    for check in report.checks:
        saved = check.path.endswith(".json")
        assert saved or check.location is not None, check
        line = 0 if saved or check.location is None else check.location.line
        judgement = Judgement(line, check.rule, check.verdict.value, (check.safe_when or ""))
        found.setdefault(Path(check.path).stem, []).append(judgement)
    return found
