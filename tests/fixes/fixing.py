"""From the text of a file to the text with its findings fixed, in this process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from relax_lint.judging.problems import problem_checks
from relax_lint.judging.report import check_parsed
from relax_lint.repair.text_target import FixedFile, fix_files
from relax_lint.results.check import Check, is_finding
from relax_lint.results.report import FileResult, InputStatus
from relax_lint.settings.config import Config
from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units

PATH = "module.py"


def judged(text: str, config: Config | None = None) -> FileResult:
    """All that is said of a text."""
    return judged_once(text, config or Config())


@lru_cache(maxsize=512)
def judged_once(text: str, config: Config) -> FileResult:
    """What was said of a text before: many tests begin with the same."""
    found = read_units(text.encode(), PATH)
    checks = [*problem_checks(found.problems, PATH, config)]
    for unit in found.units:
        checks += check_parsed(parse_unit(unit), PATH, config).checks
    return FileResult(InputStatus(PATH, 1, "checked"), tuple(checks))


def findings(text: str, config: Config | None = None) -> list[Check]:
    """What is wrong with a text."""
    return [check for check in judged(text, config).checks if is_finding(check)]


def fixed(text: str, config: Config | None = None, *, unsafe: bool = False) -> FixedFile:
    """The text after all its fixes, and what is said of it then."""

    def judge(texts: Mapping[str, str]) -> Mapping[str, FileResult]:
        return {path: judged(text, config) for path, text in texts.items()}

    file = FixedFile(text, judged(text, config), unsafe=unsafe)
    fix_files([file], judge)
    return file
