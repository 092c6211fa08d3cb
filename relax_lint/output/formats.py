"""The output formats of the commands that make a report, by the name that a user gives.

What a format needs is imported when it is asked for: every start of the command reads the names.
"""

from __future__ import annotations

# Importing `typing` for this constant would be felt at every start; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from relax_lint.output.presentation import Presentation
    from relax_lint.results.report import Report
    from relax_lint.totals.serving import Serving

    Renderer: TypeAlias = Callable[[Report, Presentation], str]


def _text(report: Report, how: Presentation) -> str:
    from relax_lint.output.text import render_text

    return render_text(
        report,
        how.style,
        quiet=how.quiet,
        statistics=how.statistics,
        provers=how.provers,
        explain=how.explain,
        allocators=how.config.allocators,
    )


def _memory(report: Report, how: Presentation) -> str:
    from relax_lint.output.text import render_memory

    return render_memory(
        report,
        how.style,
        quiet=how.quiet,
        statistics=how.statistics,
        allocators=how.config.allocators,
        comparison=how.comparison,
        formulas=how.config.memory.formulas,
        served=_served(report, how),
    )


def _served(report: Report, how: Presentation) -> Sequence[Serving]:
    memory = how.config.memory.device_memory
    if memory is None:
        return ()
    from relax_lint.totals.serving import serving

    return tuple(serving(report.memory, memory, how.config.target_or_default))


def _replay(report: Report, how: Presentation) -> str:
    from relax_lint.output.replay import render_replay

    return render_replay(report, how.style, quiet=how.quiet)


def _json(report: Report, how: Presentation) -> str:
    from relax_lint.output.json import render_json

    return render_json(report, how.comparison, _served(report, how))


def _sarif(report: Report, how: Presentation) -> str:
    from relax_lint.output.sarif import render_sarif

    return render_sarif(report)


def _github(report: Report, how: Presentation) -> str:
    from relax_lint.output.github import render_github

    return render_github(report)


def _junit(report: Report, how: Presentation) -> str:
    from relax_lint.output.junit import render_junit

    return render_junit(report, how.config.fail_on)


def _gitlab(report: Report, how: Presentation) -> str:
    from relax_lint.output.gitlab import render_gitlab

    return render_gitlab(report)


def _concise(report: Report, how: Presentation) -> str:
    from relax_lint.output.concise import render_concise

    return render_concise(report, how.style, quiet=how.quiet, statistics=how.statistics)


def _html(report: Report, how: Presentation) -> str:
    from relax_lint.output.html import render_html

    return render_html(report, how.config, _served(report, how))


def _tvm(report: Report, how: Presentation) -> str:
    from relax_lint.output.tvm import render_tvm

    return render_tvm(report)


_FOR_MACHINES: Mapping[str, Renderer] = {
    "json": _json,
    "sarif": _sarif,
    "github": _github,
    "gitlab": _gitlab,
    "junit": _junit,
}

FORMATS: Mapping[str, Mapping[str, Renderer]] = {
    "check": {"text": _text, "concise": _concise, **_FOR_MACHINES},
    "replay": {"text": _replay, "json": _json},
    "memory": {"text": _memory, **_FOR_MACHINES, "tvm": _tvm, "html": _html},
}
"""The formats of each command; the first is the default."""

COMPLETE = frozenset({"text", "json"})
"""Formats of `memory` that have a place for all that is to be said: totals, findings and comparison."""
