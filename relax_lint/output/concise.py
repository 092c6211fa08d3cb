"""One line for each finding, in the form that editors and `grep -n` read: `path:line:column: ...`."""

from __future__ import annotations

from relax_lint.output.finding import headline
from relax_lint.output.statistics import rule_lines
from relax_lint.output.style import Style
from relax_lint.output.tables import count
from relax_lint.results.check import is_finding
from relax_lint.results.report import Report
from relax_lint.support.escaping import without_commands


def render_concise(report: Report, style: Style, *, quiet: bool = False, statistics: bool = False) -> str:
    """The findings in the order of the inputs, or with `statistics` their number by rule, then (unless
    `quiet`) how many there are.
    """
    findings = [check for check in report.checks if is_finding(check)]
    lines = list(rule_lines(findings, style)) if statistics else [headline(one, style) for one in findings]
    if not quiet:
        lines.append(count(len(findings), "finding"))
    return without_commands("".join(f"{line}\n" for line in lines))
