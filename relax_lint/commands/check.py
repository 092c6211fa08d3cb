"""The commands `check`, `memory` and `replay`: from options to an exit code.

Most files that a hook hands over hold no Relax, so everything beyond the pre-filter is imported where it is
needed.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Container, Sequence

from relax_lint.commands.looking import (
    inputs_looked_at,
    may_be_configured,
    none_holds_relax,
    without_relax,
)
from relax_lint.commands.options import against_untrusted, codes, overrides
from relax_lint.commands.terminal import (
    INTERRUPTED,
    UsageError,
    complain,
    emit,
    require_standard_input,
    require_working_directory,
    require_writable,
    style,
    tell,
    tell_all,
    times_told,
    write,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from relax_lint.commands.looking import Inputs
    from relax_lint.commands.memory import Asked
    from relax_lint.results.report import Report
    from relax_lint.running.kept_answers import Question
    from relax_lint.settings.config import Config

OK, FINDINGS, NO_INPUT = 0, 1, 3
_STALE_SHOWN = 10
_LOST_SHOWN = 100


def run_report(
    options: argparse.Namespace,
    command: str,
    question: Question | None = None,
    inputs: Inputs | None = None,
) -> int:
    """Carry out `check`, `memory` or `replay`; the exit code. What is printed is kept as the answer to the
    question, where it depends on nothing else. `inputs` is what the paths lead to, where that is known.

    Raises UsageError and what the configuration raises.
    """
    require_working_directory()
    _require_paths(options, command)
    if (refused := against_untrusted(options, command)) is not None:
        raise UsageError(f"`{refused}` cannot be combined with `--untrusted`")
    if options.show_settings or options.show_files:
        from relax_lint.commands.showing import show

        return show(options, configuration(options))
    require_writable(options.output_file)
    if "-" in options.paths:
        require_standard_input()
    if command == "check":
        _require_sense(options)
    if options.watch:
        from relax_lint.commands.watch import watch

        _require_inputs(options.paths)
        return watch(options, configuration(options), lambda: _run_once(options, command, watched=True))
    told = times_told()
    code = _run_once(options, command, question, inputs)
    code = OK if options.exit_zero and code == FINDINGS else code
    if question is not None and question.text is not None and times_told() == told:
        from relax_lint.commands.keeping import keep

        keep(question, code)
    return code


def _run_once(
    options: argparse.Namespace,
    command: str,
    question: Question | None = None,
    inputs: Inputs | None = None,
    *,
    watched: bool = False,
) -> int:
    # Even where no file holds Relax a wrong configuration, or request, is an error.
    asked = _asked(options) if command == "memory" else None
    config = configuration(options) if _is_configured(options) else None
    if inputs is None and _is_plain(options, command, config):
        inputs = inputs_looked_at(options, config)
    if inputs is not None and none_holds_relax(inputs):
        if not options.quiet and not (command == "check" and options.diff):
            write(without_relax(inputs))
        elif options.error_on_no_input:
            tell(f"relax-lint: no input of {len(inputs)} has a Relax function (`--error-on-no-input`)")
        return NO_INPUT if options.error_on_no_input else OK
    if not watched:
        # What is watched may go and come again.
        _require_inputs(options.paths)
    from relax_lint.support.gc_pause import without_collection

    with without_collection():
        config = configuration(options) if config is None else config
        return _check_in_full(options, command, config, asked, question, inputs)


def _require_paths(options: argparse.Namespace, command: str) -> None:
    if not options.paths and not options.show_settings:
        raise UsageError(f"the following arguments are required: PATH (see `relax-lint {command} --help`)")


def _require_inputs(paths: Sequence[str]) -> None:
    """Raise UsageError for a path at which there is nothing."""
    for path in paths:
        try:
            if path != "-":
                os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            raise UsageError(f"{path}: no such file or folder") from None
        except (OSError, ValueError):
            # Whoever reads it says why that is impossible.
            continue


def _require_sense(options: argparse.Namespace) -> None:
    """Raise UsageError for options of `check` that do not go together."""
    fixes = options.fix or options.diff
    for name in ("unsafe_fixes", "show_fixes"):
        if getattr(options, name) and not fixes:
            raise UsageError(f"--{name.replace('_', '-')} needs --fix or --diff")
    if options.reason is not None and not options.add_ignore:
        raise UsageError("--reason needs --add-ignore")
    if sum(map(bool, (fixes, options.add_ignore, options.write_baseline, options.update_baseline))) > 1:
        raise UsageError("--fix, --add-ignore, --write-baseline and --update-baseline cannot be combined")


def _is_plain(options: argparse.Namespace, command: str, config: Config | None) -> bool:
    """Whether there is nothing to say of a file that holds no Relax, but that it does not."""
    if command == "check" and (options.write_baseline or options.update_baseline):
        return False
    # What is a link is not even opened.
    if options.untrusted:
        return False
    # What a baseline accepts may be gone because the file holds no Relax any more.
    accepting = config is not None and config.baseline is not None
    return (
        options.output_format == "text"
        and options.output_file is None
        and not options.verbose
        and not accepting
    )


def _is_configured(options: argparse.Namespace) -> bool:
    # Whether results are kept is no matter to a file without any.
    if options.config is not None or set(overrides(options)) - {"cache"}:
        return True
    return not options.untrusted and may_be_configured()


def configuration(options: argparse.Namespace) -> Config:
    """The configuration of a run: what was found or named, and the command line on top. Raises UsageError and
    ConfigError.
    """
    from dataclasses import replace

    from relax_lint.settings.config import Config, load_config, with_options
    from relax_lint.settings.trust import untrusted
    from relax_lint.support.regular_file import is_inside

    found = Config() if options.untrusted and options.config is None else load_config(options.config)
    config = with_options(found, overrides(options))
    config = replace(config, trust_models=options.trust_models)
    if options.untrusted:
        config = untrusted(config)
        if config.baseline is not None and not is_inside(config.baseline, os.curdir):
            raise UsageError("with `--untrusted` a baseline must be inside the working directory")
    return _with_codes(config, overrides(options))


def _with_codes(config: Config, given: Container[str]) -> Config:
    if not (config.select or config.ignore or config.per_file_ignores or config.severities):
        return config
    from relax_lint.judging.selection import with_codes

    return with_codes(config, given)


def _asked(options: argparse.Namespace) -> Asked:
    from relax_lint.commands.memory import understand
    from relax_lint.settings.config import Config

    select = tuple(codes(options.select) or ())
    return understand(options, _with_codes(Config(select=select), ("select",)).select)


def _judged(
    options: argparse.Namespace, command: str, config: Config, inputs: Inputs | None
) -> tuple[Report, bool]:
    """The report, after what was asked to be done about it, and whether it has been shown."""
    from relax_lint.commands.judging import judge

    if command == "check" and (options.fix or options.diff):
        from relax_lint.commands.fix import run_fixes

        return run_fixes(options, config)
    if command == "check" and options.add_ignore:
        from relax_lint.commands.ignores import run_with_ignores

        return run_with_ignores(options, config), False
    if command == "check" and (options.write_baseline or options.update_baseline):
        from relax_lint.commands.baseline import run_with_new_baseline

        return run_with_new_baseline(options, config), False
    return judge(options, config, inputs, partial=True), False


def _check_in_full(
    options: argparse.Namespace,
    command: str,
    config: Config,
    asked: Asked | None,
    question: Question | None,
    inputs: Inputs | None,
) -> int:
    from dataclasses import replace

    from relax_lint.commands.verbose import Course
    from relax_lint.output.formats import COMPLETE, FORMATS
    from relax_lint.output.presentation import Presentation

    if asked is not None:
        from relax_lint.commands.memory import compared, configured

        config = configured(asked, config)
    if options.proofs is not None or options.explain:
        config = replace(config, proofs=True)
    course = Course(config, wanted=options.verbose)
    report, shown = _judged(options, command, config, inputs)
    course.judged(report)
    if report.stale:
        _complain_of_stale(report, config)
    if shown:
        return FINDINGS if _fails(report, command, config) else OK
    if options.proofs is not None:
        report = _with_proofs(report, options.proofs)
    if options.confirm and not report.interrupted:
        from relax_lint.replay.confirm import confirm

        report = confirm(report, config)
    comparison = None if asked is None or report.interrupted else compared(asked, report)
    how = Presentation(
        style(options.color, to_file=options.output_file is not None),
        config,
        quiet=options.quiet,
        statistics=options.statistics,
        provers=options.show_provers,
        explain=options.explain,
        comparison=comparison,
    )
    text = FORMATS[command][options.output_format](report, how)
    emit(text, options.output_file)
    if question is not None:
        from relax_lint.commands.keeping import may_be_kept

        question.text = text if may_be_kept(options, command, config) else None
    if command == "memory" and options.output_format not in COMPLETE:
        from relax_lint.output.text import render_findings

        # What such a format has no place for must not be lost.
        tell_all(render_findings(report, style(options.color, to_file=True), comparison))
    if report.interrupted:
        return _tell_interrupted(report)
    if (comparison is not None and comparison.exceeds) or _fails(report, command, config):
        return FINDINGS
    if options.error_on_no_input and _is_empty(report, command):
        return _tell_nothing_to_check(report, shown=options.output_format == "text" and not options.quiet)
    return OK


def _tell_nothing_to_check(report: Report, *, shown: bool) -> int:
    """Say why the run fails where the report itself does not."""
    if not shown:
        what = (
            "has anything to check"
            if any(file.input.functions for file in report.files)
            else "has a Relax function"
        )
        tell(f"relax-lint: no input of {len(report.files)} {what} (`--error-on-no-input`)")
    return NO_INPUT


def _tell_interrupted(report: Report) -> int:
    from relax_lint.running.progress import INTERRUPTED as REASON

    if report.lost:
        return _tell_lost(report)
    judged = sum(file.input.reason != REASON for file in report.files)
    tell(f"relax-lint: interrupted: {judged} of {len(report.files)} inputs judged")
    return INTERRUPTED


def _tell_lost(report: Report) -> int:
    """Say which inputs nobody has analysed: all of them are `failed` in the JSON report."""
    reason = f"not analysed: {report.lost}"
    left = [file.input.path for file in report.files if file.input.reason == reason]
    total = len(report.files)
    code = complain(f"{report.lost}: {total - len(left)} of {total} inputs judged, not analysed:")
    _tell_first(left, _LOST_SHOWN)
    return code


def _is_empty(report: Report, command: str) -> bool:
    """Whether there was no Relax function, or nothing in one to check."""
    return not any(file.input.functions for file in report.files) or (
        command == "check" and not report.checks
    )


def _complain_of_stale(report: Report, config: Config) -> None:
    complain(
        f"{config.baseline} is stale: {len(report.stale)} of its findings no longer occur; "
        "`--update-baseline` removes them"
    )
    _tell_first(report.stale, _STALE_SHOWN)


def _tell_first(entries: Sequence[str], most: int) -> None:
    for entry in entries[:most]:
        tell(f"  {entry}")
    if len(entries) > most:
        tell(f"  and {len(entries) - most} more")


def _with_proofs(report: Report, folder: str) -> Report:
    from relax_lint.output.proofs import write_proofs

    try:
        return write_proofs(report, folder)
    except OSError as error:
        raise UsageError(f"cannot write proofs to {folder}: {error.strerror}") from None


def _fails(report: Report, command: str, config: Config) -> bool:
    if command == "replay":
        from relax_lint.replay.confirm import any_confirmed

        return any_confirmed(report)
    from relax_lint.output.summary import fails

    return fails(report, config.fail_on)
