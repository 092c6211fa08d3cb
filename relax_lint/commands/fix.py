"""`check --fix` and `check --diff`: findings are fixed, and what is left is reported."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TextIO

from relax_lint.commands.judging import judge, named_inputs
from relax_lint.commands.terminal import (
    is_terminal,
    style,
    tell,
    tell_all,
    warn,
    write,
    write_bytes,
)
from relax_lint.output.diff import in_log, on_terminal
from relax_lint.output.tables import count
from relax_lint.repair.files import WriteError, encoded, unified_diff, write_atomically
from relax_lint.repair.text_target import FixedFile, fix_files
from relax_lint.results.check import is_finding
from relax_lint.results.problem import Problem
from relax_lint.results.report import FileResult, Report
from relax_lint.settings.config import Config
from relax_lint.sources.inputs import HeldInput, Input, UnreadableError
from relax_lint.sources.text import UndecodableError, decode
from relax_lint.support.lazy_dataclass import dataclass


@dataclass(frozen=True)
class _Changed:
    """A file whose text changes: what it becomes, how many findings were fixed, and of which rules."""

    held: HeldInput
    new: bytes
    fixed: int
    rules: tuple[str, ...]


def run_fixes(options: argparse.Namespace, config: Config) -> tuple[Report, bool]:
    """Fix the inputs: the report that is left to be given, and whether standard output is taken already, by
    the diff or by the fixed text of standard input. With `--diff` nothing is written, and the report is
    that of the inputs as they are.
    """
    inputs = [_held(one) for one in named_inputs(options, config)]
    report = judge(options, config, inputs)
    files = _fixed(report, inputs, config, options)
    changed = list(_changes(files, inputs, report))
    if options.diff:
        _write_diff(b"".join(unified_diff(one.held.path, one.held.data, one.new) for one in changed))
        _say("would fix", changed, options)
        return report, True
    changed = [one for one in changed if _is_written(one)]
    _say("fixed", changed, options)
    # What could not be written is as it was.
    fixed = {one.held.path for one in changed}
    results = tuple(files[one.input.path].result if one.input.path in fixed else one for one in report.files)
    left = replace(report, files=results)
    stdin = next((one for one in inputs if isinstance(one, HeldInput) and one.source is None), None)
    if stdin is None:
        return left, False
    write_bytes(next((one.new for one in changed if one.held is stdin), stdin.data))
    _report_beside(left, options)
    return left, True


def _is_written(changed: _Changed) -> bool:
    """Write the text of a file; whether that went well."""
    held = changed.held
    if held.source is None:
        return True
    try:
        write_atomically(held.source, held.data, changed.new, beneath=held.beneath)
    except WriteError as error:
        warn(str(error))
        return False
    return True


def _held(found: Input | Problem) -> Input | Problem:
    """The input with its bytes, where it is one whose text can be changed."""
    if isinstance(found, Problem) or (found.kind != "python" and found.source is not None):
        return found
    try:
        return found.held()
    except UnreadableError:
        return found


def _fixed(
    report: Report, inputs: list[Input | Problem], config: Config, options: argparse.Namespace
) -> dict[str, FixedFile]:
    """The files for which there are fixes, by path, after all that could be fixed."""
    held = {one.path: one for one in inputs if isinstance(one, HeldInput)}
    files: dict[str, FixedFile] = {}
    for result in report.files:
        path = result.input.path
        if path in held and any(fix.edits for check in result.checks for fix in check.fixes):
            try:
                files[path] = FixedFile(decode(held[path].data), result, unsafe=options.unsafe_fixes)
            except UndecodableError:
                continue

    def judge_again(texts: Mapping[str, str]) -> Mapping[str, FileResult]:
        again = [replace(held[path], data=encoded(text, held[path].data)) for path, text in texts.items()]
        return {file.input.path: file for file in judge(options, config, again).files}

    fix_files(files.values(), judge_again)
    return files


def _changes(
    files: Mapping[str, FixedFile], inputs: list[Input | Problem], before: Report
) -> Iterator[_Changed]:
    found = {file.input.path: file for file in before.files}
    for one in inputs:
        file = files.get(one.path) if isinstance(one, HeldInput) else None
        if file is not None and file.fixed and isinstance(one, HeldInput):
            rules = tuple(_gone(found[one.path], file.result))
            yield _Changed(one, encoded(file.text, one.data), file.fixed, rules)


def _gone(before: FileResult, after: FileResult) -> Iterator[str]:
    """`2 x RLX101 storage-overflow`: the findings that are no longer there, by rule."""
    counts = Counter((check.rule, check.name) for check in before.checks if is_finding(check))
    counts -= Counter((check.rule, check.name) for check in after.checks if is_finding(check))
    for (code, name), number in sorted(counts.items()):
        yield f"{number:,} x {code} {name}"


def _write_diff(diff: bytes) -> None:
    """The diff, exact where a program reads it."""
    if is_terminal(sys.stdout):
        write(on_terminal(diff))
        return
    if diff and os.environ.get("GITHUB_ACTIONS") == "true" and not _is_file(sys.stdout):
        diff = in_log(diff)
    write_bytes(diff)


def _is_file(stream: TextIO) -> bool:
    return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)


def _say(verb: str, changed: list[_Changed], options: argparse.Namespace) -> None:
    if not options.quiet or (options.show_fixes and changed):
        findings = count(sum(one.fixed for one in changed), "finding")
        tell(f"{verb} {findings} in {count(len(changed), 'file')}")
    for one in changed if options.show_fixes else ():
        tell(f"  {one.held.path}: {', '.join(one.rules)}")


def _report_beside(report: Report, options: argparse.Namespace) -> None:
    """The findings on standard error, where standard output holds the fixed text."""
    from relax_lint.output.text import render_findings

    tell_all(render_findings(report, style(options.color, to_file=True)))
