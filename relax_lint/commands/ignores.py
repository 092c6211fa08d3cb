"""`check --add-ignore`: comments that accept the findings of today are written into the files."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from relax_lint.commands.judging import judge, named_inputs
from relax_lint.commands.terminal import UsageError, tell, warn
from relax_lint.output.tables import count
from relax_lint.repair.apply import apply_edits
from relax_lint.repair.files import WriteError, encoded, write_atomically
from relax_lint.results.check import Check, is_finding
from relax_lint.results.problem import Problem
from relax_lint.results.report import Report
from relax_lint.rule import Acceptance, load_rules
from relax_lint.running.pool import Item
from relax_lint.running.pools import new_pool
from relax_lint.settings.config import Config
from relax_lint.sources.inputs import HeldInput, Input, UnreadableError
from relax_lint.sources.text import UndecodableError, decode
from relax_lint.support.codec import decode as decode_value
from relax_lint.support.lazy_dataclass import dataclass
from relax_lint.suppressions.adding import FUNCTION, KINDS, Plan, Wanted


@dataclass(frozen=True)
class _Request:
    """A file, its text, and the findings in it that are to be accepted."""

    held: HeldInput
    content: str
    wanted: tuple[Wanted, ...]


def run_with_ignores(options: argparse.Namespace, config: Config) -> Report:
    """Write the comments; the report as it is with them. What has no line that a comment can stand on is
    left: saved IR, notebooks, and the rules that no comment suppresses. Raises UsageError.
    """
    reason = " ".join((options.reason or "").split())
    found = named_inputs(options, config)
    inputs = [_held(one) for one in found]
    report = judge(options, config, inputs)
    requests = list(_requests(report, inputs))
    accepted = 0
    files = 0
    for request, plan in zip(requests, _plans(requests, reason, config), strict=True):
        if not plan.edits:
            continue
        new = encoded(apply_edits(request.content, plan.edits), request.held.data)
        try:
            held = request.held
            write_atomically(held.source or held.path, held.data, new, beneath=held.beneath)
        except WriteError as error:
            warn(str(error))
            continue
        accepted += plan.accepted
        files += 1
    if not options.quiet:
        tell(f"{count(accepted, 'finding')} accepted by comments in {count(files, 'file')}")
    return judge(options, config, found) if files else report


def _held(found: Input | Problem) -> Input | Problem:
    if isinstance(found, Problem) or found.kind not in KINDS:
        return found
    if found.source is None:
        raise UsageError("`--add-ignore` writes into files, and standard input is not a file")
    try:
        return found.held()
    except UnreadableError:
        return found


def _requests(report: Report, inputs: list[Input | Problem]) -> Iterator[_Request]:
    held = {one.path: one for one in inputs if isinstance(one, HeldInput)}
    for file in report.files:
        one = held.get(file.input.path)
        wanted = tuple(
            Wanted(check.rule, check.location)
            for check in file.checks
            if is_finding(check) and check.location is not None and _is_acceptable(check)
        )
        if one is None or not wanted:
            continue
        try:
            yield _Request(one, decode(one.data), wanted)
        except UndecodableError:
            continue


def _is_acceptable(check: Check) -> bool:
    return load_rules()[check.rule].acceptance is not Acceptance.NEVER


def _plans(requests: list[_Request], reason: str, config: Config) -> list[Plan]:
    plans = [Plan((), 0)] * len(requests)
    if requests:
        with new_pool(config, len(requests)) as pool:
            tasks = {
                pool.submit(FUNCTION, one.content, one.held.path, one.held.kind, one.wanted, reason): number
                for number, one in enumerate(requests)
            }
            for event in pool.events():
                if isinstance(event, Item):
                    plans[tasks[event.task]] = decode_value(Plan, event.value)
    return plans
