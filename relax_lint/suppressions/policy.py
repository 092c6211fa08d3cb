"""What the configuration and the comments of a file make of its checks, after they were judged."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from relax_lint.judging.causes import one_finding_per_cause
from relax_lint.results.check import Check
from relax_lint.results.report import FileResult, Report
from relax_lint.results.verdict import Severity
from relax_lint.rule import load_rules, unreadable_codes
from relax_lint.settings.config import Config
from relax_lint.sources.ignore_comment import IgnoreComment

if TYPE_CHECKING:
    from relax_lint.suppressions.baseline import Entry


def apply_policy(result: FileResult, comments: Sequence[IgnoreComment], config: Config) -> FileResult:
    """The result without what `per-file-ignores` leaves out, with the accepted findings marked, and with the
    configured severities, and with one finding for each cause.
    """
    if not (result.checks or comments):
        return result
    off = _ignored_prefixes(result.input.path, config)
    if off:
        result = replace(result, checks=tuple(c for c in result.checks if not c.rule.startswith(off)))
    if comments:
        from relax_lint.suppressions.applying import apply_comments

        result = apply_comments(result, comments, _was_run(config, off))
    if config.severities:
        result = replace(result, checks=tuple(_weighed(check, config.severities) for check in result.checks))
    return replace(result, checks=one_finding_per_cause(result.checks))


def with_baseline(report: Report, config: Config) -> Report:
    """The report with what the configured baseline accepts marked. Raises BaselineError."""
    if config.baseline is None:
        return report
    from relax_lint.suppressions.baseline import accept, read_baseline

    entries = read_baseline(config.baseline)
    folder = os.path.dirname(config.baseline)
    gone = stale_entries(report, entries, config)
    return replace(accept(report, entries, folder), stale=tuple(map(str, gone)))


def stale_entries(report: Report, entries: Sequence[Entry], config: Config) -> tuple[Entry, ...]:
    """The entries of the configured baseline that match nothing any more, by a report without it."""
    from relax_lint.suppressions.baseline import stale

    paths = [file.input.path for file in report.files]
    was_run = {path: _was_run(config, _ignored_prefixes(path, config)) for path in paths}
    return stale(report, entries, os.path.dirname(config.baseline or ""), was_run)


def with_notes_on_accepted_blocks(report: Report) -> Report:
    """The report with a note on each block that was not analysed and is not reported otherwise."""
    return replace(report, files=tuple(map(_noted, report.files)))


def _noted(result: FileResult) -> FileResult:
    if not result.checks:
        return result
    notes = [
        f"line {check.location.line if check.location else 1} is not analysed, and {check.rule} is suppressed"
        for check in result.checks
        if check.suppressed and check.rule in unreadable_codes()
    ]
    if not notes:
        return result
    return replace(
        result, input=replace(result.input, notes=tuple(dict.fromkeys((*result.input.notes, *notes))))
    )


def _was_run(config: Config, off: tuple[str, ...]) -> dict[str, bool]:
    return {
        code: rule.is_on(config) and rule.applies(config) and not code.startswith(off)
        for code, rule in load_rules().items()
    }


def idle_assumptions(used: Container[str], config: Config) -> tuple[str, ...]:
    """The notes on assumptions that match no function; `used` are the texts of the others."""
    return tuple(
        f"the assumption {assumption} matches no function: none has its symbols"
        for assumption in config.assumptions
        if str(assumption) not in used
    )


def _ignored_prefixes(path: str, config: Config) -> tuple[str, ...]:
    if not config.per_file_ignores:
        return ()
    from relax_lint.sources.patterns import path_patterns

    relative = os.path.relpath(path, config.root or ".").replace(os.sep, "/")
    return tuple(
        code
        for pattern, codes in config.per_file_ignores
        if path_patterns([pattern]).match_file(relative)
        for code in codes
    )


def _weighed(check: Check, severities: Iterable[tuple[str, Severity]]) -> Check:
    """The check with the severity of the longest prefix; what is fine stays fine."""
    fitting = [(len(code), severity) for code, severity in severities if check.rule.startswith(code)]
    if check.severity is Severity.NONE or not fitting:
        return check
    return replace(check, severity=max(fitting, key=lambda each: each[0])[1])
