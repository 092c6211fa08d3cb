"""Run the examples of findings on the real virtual machine, and say what that shows.

This builds and executes the modules: it is done only on request. Importing this imports no TVM.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from relax_lint.replay import cases
from relax_lint.replay.cases import Prepared, Sought, read_prepared
from relax_lint.replay.session import Session
from relax_lint.results.check import Check, is_finding
from relax_lint.results.confirmation import NOTHING_TO_SEE, Confirmation, Status, Symptom
from relax_lint.results.report import FileResult, Report
from relax_lint.rule import load_rules
from relax_lint.running.messages import FileData
from relax_lint.running.pool import Failed, Item
from relax_lint.running.pools import new_pool
from relax_lint.running.starting import Needs
from relax_lint.sources.discovery import discover
from relax_lint.sources.inputs import Input, UnreadableError
from relax_lint.sources.kinds import is_model
from relax_lint.support.escaping import without_addresses

if TYPE_CHECKING:
    from relax_lint.settings.config import Config

_NOTHING_FAILS = "this finding has no run-time failure: it concerns a declaration, an assumption or waste"
_Findings = dict[int, Check]
"""The findings of one file by their number among its checks."""


def confirm(report: Report, config: Config) -> Report:
    """The report with a `confirmation` at every finding.

    Runs what the findings are about, in subprocesses with the time limit (for one run) and the memory limit
    of the configuration. Standard input cannot be read a second time: its findings are not runnable.
    """
    sought = [_sought_in(file) for file in report.files]
    tasks = [
        tuple(_sought(number, check) for number, check in findings.items() if _symptoms(check))
        for findings in sought
    ]
    files = []
    with _session(config) as session:
        prepared = _prepared([file.input.path for file in report.files], config, tasks)
        for file, findings, (found, failure) in zip(report.files, sought, prepared, strict=True):
            results = dict(_results(findings, found, session))
            checks = list(file.checks)
            for number, check in findings.items():
                reason = failure if _symptoms(check) else _NOTHING_FAILS
                confirmation = results.get(number) or Confirmation(Status.NOT_RUNNABLE, reason)
                checks[number] = replace(check, confirmation=confirmation)
            files.append(replace(file, checks=tuple(checks)))
    return replace(report, files=tuple(files))


def _session(config: Config) -> Session:
    return Session(time_limit=config.time_limit, memory_limit=config.memory_limit, sandbox=config.sandbox)


def any_confirmed(report: Report) -> bool:
    """Whether a run confirmed a finding."""
    confirmations = (check.confirmation for check in report.checks if check.confirmation is not None)
    return any(confirmation.status is Status.CONFIRMED for confirmation in confirmations)


def _sought_in(file: FileResult) -> _Findings:
    return {number: check for number, check in enumerate(file.checks) if is_finding(check)}


def _results(
    findings: _Findings, found: list[Prepared], session: Session
) -> Iterator[tuple[int, Confirmation]]:
    for prepared in found:
        for case in prepared.cases:
            check = findings[case.number]
            yield case.number, session.confirmation(prepared, case, str(check.function), _symptoms(check))


def _symptoms(check: Check) -> frozenset[Symptom]:
    rule = load_rules().get(check.rule)
    return NOTHING_TO_SEE if rule is None else rule.symptoms


def _sought(number: int, check: Check) -> Sought:
    failures = {
        name: failure.first_failure
        for name, failure in check.allocators.items()
        if failure.first_failure is not None and failure.first_failure != check.wrong
    }
    # No input is known to get there and be wrong.
    is_open = check.undecided or check.safe_when is not None
    return Sought(
        number=number,
        module=check.module,
        function=str(check.function),
        binding_index=check.binding_index,
        line=None if check.location is None else check.location.line,
        fine=check.fine,
        # A verdict that does not depend on symbols has no example: any call shows it.
        wrong=None if check.wrong is None and is_open else (check.wrong or {}),
        first_failures=failures,
    )


def _prepared(
    paths: list[str], config: Config, sought: list[tuple[Sought, ...]]
) -> list[tuple[list[Prepared], str]]:
    """What a worker process makes of each input, and why there is nothing where it does not."""
    found: list[tuple[list[Prepared], str]] = [
        ([], "the module was not found when the file was read again") for _ in paths
    ]
    needs = Needs(executable=config.lower)
    with new_pool(config, 1) as pool:
        tasks = {}
        for number, (path, wanted) in enumerate(zip(paths, sought, strict=True)):
            if wanted:
                data = _read(path)
                if isinstance(data, str):
                    found[number] = [], data
                else:
                    tasks[pool.submit(cases.FUNCTION, data, config, wanted, needs=needs)] = number
        for event in pool.events():
            here = found[tasks[event.task]]
            if isinstance(event, Item):
                here[0].append(read_prepared(event.value))
            elif isinstance(event, Failed):
                found[tasks[event.task]] = (
                    here[0],
                    without_addresses(f"the module could not be prepared: {event.failure.message}"),
                )
    return found


def _read(path: str) -> FileData | str:
    for one in discover([path]):
        try:
            if isinstance(one, Input):
                if is_model(one.kind):
                    return "a model cannot be replayed: save the lowered module and replay that"
                return FileData(one.read(), one.path, one.kind, named=True)
        except UnreadableError as error:
            return f"cannot be read: {error}"
    return "standard input cannot be read a second time"
