"""From options to a report: the inputs are judged with the cache, the executor and the progress asked for."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from contextlib import ExitStack
from functools import cache

from relax_lint.commands.looking import inputs_looked_at
from relax_lint.commands.terminal import DEBUG, waiting, warn
from relax_lint.results.problem import Problem
from relax_lint.results.report import Report
from relax_lint.running.cache import Cache, default_folder
from relax_lint.running.hiding import hide_this_process
from relax_lint.running.runner import judge_inputs
from relax_lint.settings.config import Config
from relax_lint.sources.discovery import discover
from relax_lint.sources.inputs import Input
from relax_lint.sources.ordinary import Ordinary
from relax_lint.vm.tested import TESTED, is_tested


def named_inputs(options: argparse.Namespace, config: Config) -> list[Input | Problem]:
    """What the paths on the command line lead to. No file is opened."""
    return discover(
        options.paths,
        exclude=config.exclude,
        stdin_filename=options.stdin_filename,
        follow_links=config.follow_links,
        tell=None if options.quiet else warn,
    )


def judge(
    options: argparse.Namespace,
    config: Config,
    inputs: Iterable[Input | Problem | Ordinary] | None = None,
    *,
    partial: bool = False,
) -> Report:
    """The report on `inputs`, or on those that were named; with `partial` also that of a run that was
    interrupted or has lost its executor. Raises ExecutorError and as `judge_inputs`."""
    debug = bool(os.environ.get(DEBUG))
    if not debug:
        hide_this_process()
    kept = Cache(config.cache_dir or default_folder(), config) if config.cache else None
    with ExitStack() as stack:
        executor = None
        if options.executor is not None:
            from relax_lint.running.executors import open_executor

            executor = stack.enter_context(open_executor(options.executor, debug=debug))
        report = judge_inputs(
            inputs_looked_at(options, config) if inputs is None else inputs,
            config,
            debug=debug,
            cache=kept,
            executor=executor,
            tell=stack.enter_context(waiting(quiet=options.quiet)),
            partial=partial,
        )
    options.all_known = kept is not None and kept.knew_all
    if kept is not None and kept.problem is not None:
        warn(kept.problem)
    if report.tvm_version is not None and not is_tested(report.tvm_version):
        _warn_of_untested(report.tvm_version)
    return report


@cache
def _warn_of_untested(version: str) -> None:
    """Once in a process: fixes are judged again and again."""
    tested = ", ".join(TESTED)
    warn(f"TVM {version} is not a tested version ({tested}): `relax-lint doctor` shows what works")
