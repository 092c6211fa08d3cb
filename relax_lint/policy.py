"""What the configuration makes of the checks of one input, after they were judged."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

from relax_lint.config import Config
from relax_lint.diagnostic import Check, FileResult
from relax_lint.verdict import Severity


def apply_policy(result: FileResult, config: Config) -> FileResult:
    """The result without what `per-file-ignores` leaves out, and with the configured severities."""
    checks = result.checks
    if config.per_file_ignores:
        off = _ignored_prefixes(result.input.path, config)
        checks = tuple(check for check in checks if not check.rule.startswith(off))
    if config.severities:
        checks = tuple(_weighed(check, config.severities) for check in checks)
    return replace(result, checks=checks)


def _ignored_prefixes(path: str, config: Config) -> tuple[str, ...]:
    import pathspec

    relative = os.path.relpath(path, config.root or ".").replace(os.sep, "/")
    return tuple(
        code
        for pattern, codes in config.per_file_ignores
        if pathspec.GitIgnoreSpec.from_lines([pattern]).match_file(relative)
        for code in codes
    )


def _weighed(check: Check, severities: Iterable[tuple[str, Severity]]) -> Check:
    """The check with the severity of the longest prefix; what is fine stays fine."""
    fitting = [(len(code), severity) for code, severity in severities if check.rule.startswith(code)]
    if check.severity is Severity.NONE or not fitting:
        return check
    return replace(check, severity=max(fitting, key=lambda each: each[0])[1])
