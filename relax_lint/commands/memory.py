"""What is particular to `relax-lint memory`: its requests, and what is done with the report."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from relax_lint.output.earlier import read_report
from relax_lint.results.report import Report
from relax_lint.rule import load_rules, unreadable_codes
from relax_lint.settings.config import Config
from relax_lint.settings.memory_request import (
    MemoryRequest,
    RequestError,
    read_bindings,
    read_size,
    require_known,
)
from relax_lint.support.lazy_dataclass import dataclass
from relax_lint.totals.comparison import Comparison, FunctionTotals, compare, totals_of

_PERCENT = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?) ?%?", re.ASCII)


@dataclass(frozen=True)
class Asked:
    """The options of the command, understood."""

    request: MemoryRequest
    select: tuple[str, ...] = ()
    compare_with: str | None = None
    earlier: tuple[FunctionTotals, ...] = ()
    limit: Fraction | None = None


def understand(options: Namespace, select: Sequence[str] | None) -> Asked:
    """The options of the command line. Raises RequestError and ComparisonError."""
    if options.fail_above is not None and options.compare is None:
        raise RequestError("`--fail-above` needs `--compare FILE`")
    request = MemoryRequest(
        bindings=read_bindings(options.bind or ()),
        estimates=options.output_format == "tvm",
        timelines=options.output_format == "html",
        # A comparison is of all that an earlier report has, whatever is shown.
        details=options.output_format != "tvm" or options.compare is not None,
        formulas=options.formulas,
        device_memory=None if options.device_memory is None else read_size(options.device_memory),
        # Without a sandbox that is as strict TVM compiles nothing of others.
        lowers=not options.untrusted,
    )
    return Asked(
        request=request,
        select=tuple(select or ()),
        compare_with=options.compare,
        earlier=tuple(read_report(options.compare)) if options.compare is not None else (),
        limit=None if options.fail_above is None else _share(options.fail_above),
    )


def configured(asked: Asked, config: Config) -> Config:
    """The configuration of the run: totals need no rule but the budget's and those that are named; what is
    missing from the totals has to be said all the same.
    """
    select = (*unreadable_codes(), *_budget_codes(config), *asked.select)
    return replace(config, select=select, memory=asked.request, lower=config.lower or asked.request.lowers)


def _budget_codes(config: Config) -> list[str]:
    """The rules that a budget gives something to judge by."""
    unlimited = replace(config, max_memory=())
    return [
        code for code, rule in load_rules().items() if rule.applies(config) and not rule.applies(unlimited)
    ]


def compared(asked: Asked, report: Report) -> Comparison | None:
    """The report against the earlier one that was named, if one was. Raises RequestError for a bound symbol
    that no function has.
    """
    require_known(asked.request.bindings, report.memory)
    if asked.compare_with is None:
        return None
    now = map(totals_of, report.memory)
    return compare(asked.compare_with, asked.earlier, now, asked.limit, asked.request.point)


def _share(text: str) -> Fraction:
    match = _PERCENT.fullmatch(text.strip())
    if match is None:
        raise RequestError(f"`--fail-above` takes a percentage such as 5%, not `{text}`")
    return Fraction(match["number"]) / 100
