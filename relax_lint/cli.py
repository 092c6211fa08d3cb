"""The command `relax-lint`.

Exit codes: 0 nothing at or above the failing level; 1 findings at or above it; 2 usage or internal error;
3 no Relax function in any input, with `--error-on-no-input`.

Most files that a hook hands over hold no Relax, so everything beyond argument parsing is imported where it
is needed.
"""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections.abc import Sequence

from relax_lint import __version__

# Importing `typing` for this constant would be a fifth of the start-up; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from relax_lint.config import Config
    from relax_lint.diagnostic import Report
    from relax_lint.memory_command import Asked
    from relax_lint.output.style import Style
    from relax_lint.rule import Rule

OK, FINDINGS, ERROR, NO_INPUT = 0, 1, 2, 3
_INTERRUPTED = 130
_DEBUG = "RELAX_LINT_DEBUG"

_ALLOCATORS = {"naive": ["naive"], "pooled": ["pooled"], "both": ["naive", "pooled"]}

_USAGE = """\
usage: relax-lint [check] [OPTIONS] PATH...
       relax-lint memory [OPTIONS] PATH...
       relax-lint explain CODE
       relax-lint rules
       relax-lint --version

Static linter for memory safety in Apache TVM's Relax IR.

commands:
  check    judge every memory operation (the default command)
  memory   report the memory that each function needs
  explain  print the page of a rule
  rules    list all rules

`relax-lint COMMAND --help` tells the options of a command.
"""


class UsageError(Exception):
    """A request that cannot be carried out; the text is one line for the user."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code. No exception leaves it but SystemExit."""
    try:
        return _run(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:
        if os.environ.get(_DEBUG):
            raise
        return _complain(_explain(error))


def _run(arguments: list[str]) -> int:
    if not arguments:
        sys.stderr.write(_USAGE)
        return ERROR
    first, rest = arguments[0], arguments[1:]
    if first in ("-h", "--help"):
        return _write(_USAGE)
    if first in ("-V", "--version"):
        return _write(f"relax-lint {__version__}\n")
    if first in ("check", "memory"):
        return _check(_check_parser(first).parse_args(rest), first)
    if first == "explain":
        return _explain_rule(_simple_parser(first, "print the page of a rule", "code").parse_args(rest))
    if first == "rules":
        return _list_rules(_simple_parser(first, "list all rules").parse_args(rest))
    return _check(_check_parser("check").parse_args(arguments), "check")


def _explain(error: Exception) -> str:
    if isinstance(error, UsageError):
        return str(error)
    # The other errors that are meant for the user are declared in modules that may not have been loaded.
    if type(error).__name__ in (
        "ConfigError",
        "RunError",
        "RuleConflictError",
        "RequestError",
        "ComparisonError",
    ):
        return str(error)
    return f"internal error: {type(error).__name__}: {error} (set {_DEBUG}=1 to see where)"


def _complain(message: str) -> int:
    line = " ".join(message.split())
    sys.stderr.write(f"relax-lint: error: {line}\n")
    return ERROR


def _write(text: str) -> int:
    """Write to standard output. A reader that has gone (`| head`) is no error."""
    # What the terminal's encoding lacks is escaped instead of failing.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # Else the interpreter tries to flush once more on its way out, and complains.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK


def _formatter(prog: str) -> argparse.HelpFormatter:
    # A given width: to ask for the terminal's, argparse imports a good deal for every option it is told of.
    return argparse.HelpFormatter(prog, width=100)


class _Parser(argparse.ArgumentParser):
    def __init__(self, command: str, description: str) -> None:
        super().__init__(
            prog=f"relax-lint {command}",
            description=description,
            allow_abbrev=False,
            formatter_class=_formatter,
        )

    def error(self, message: str) -> NoReturn:
        self.exit(_complain(f"{message} (see `{self.prog} --help`)"))


def _simple_parser(command: str, description: str, *positionals: str) -> argparse.ArgumentParser:
    parser = _Parser(command, description)
    for positional in positionals:
        parser.add_argument(positional)
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    return parser


def _check_parser(command: str) -> argparse.ArgumentParser:
    what = {
        "check": "judge every memory operation of Relax functions",
        "memory": "report the memory that Relax functions need",
    }[command]
    parser = _Parser(command, what)
    add = parser.add_argument
    add("paths", nargs="+", metavar="PATH", help="file or folder; `-` is standard input")
    add("--stdin-filename", metavar="NAME", help="the name to show for standard input")
    formats = ("text", "json") if command == "check" else ("text", "json", "tvm", "html")
    add("--output-format", choices=formats, default="text")
    add("--output-file", metavar="FILE", help="write the report to a file")
    add("--select", metavar="CODES", action="append", help="only these rules (prefixes, with commas)")
    add("--ignore", metavar="CODES", action="append", help="not these rules (prefixes, with commas)")
    add("--config", metavar="FILE", help="a TOML file with a table [tool.relax-lint]")
    add("--allocator", choices=("naive", "pooled", "both"), help="the allocator in use (default: both)")
    add("--page-size", metavar="BYTES", type=int, help="page of the pooled allocator (default: 4096)")
    add(
        "--max-memory", metavar="SIZE", action="append", help="a budget: 512MiB, or global=512MiB for a scope"
    )
    if command == "memory":
        add("--bind", metavar="N=128", action="append", help="the value of a symbol, or a range: n=1..4096")
        add("--compare", metavar="FILE", help="an earlier JSON report to compare with")
        add("--fail-above", metavar="PERCENT", help="exit with 1 where a total grew by more than this")
    add("--exclude", metavar="PATTERN", action="append", help="leave out when searching folders")
    add("--dialect", choices=("auto", "current", "old"), help="how TVMScript is read (default: auto)")
    add("--fail-on", choices=("error", "warning", "note"), help="least severity to exit with 1 (warning)")
    add("--error-on-no-input", action="store_true", help="exit with 3 if no input holds a Relax function")
    add("--jobs", metavar="N", type=int, help="worker processes (default: one for each core)")
    add("--no-cache", action="store_true", help="accepted; nothing is cached yet")
    add("--statistics", action="store_true", help="say which prover decided how much")
    add("--quiet", action="store_true", help="findings only")
    add("--color", choices=("auto", "always", "never"), default="auto")
    return parser


def _check(options: argparse.Namespace, command: str) -> int:
    if options.output_file is not None:
        _require_writable(options.output_file)
    # Even where no file holds Relax a wrong configuration, or request, is an error.
    asked = _asked(options) if command == "memory" else None
    config = _config(options) if _is_configured(options) else None
    if options.output_format == "text" and options.output_file is None and _none_holds_relax(options.paths):
        if not options.quiet:
            count = len(options.paths)
            _write(f"no Relax function in {count} input{'' if count == 1 else 's'}\n")
        return NO_INPUT if options.error_on_no_input else OK
    return _check_in_full(options, config or _config(options), asked)


def _is_configured(options: argparse.Namespace) -> bool:
    if options.config is not None or _overrides(options):
        return True
    from relax_lint.pyproject import candidates

    return next(candidates("."), None) is not None


def _config(options: argparse.Namespace) -> Config:
    from relax_lint.config import load_config, with_options

    config = with_options(load_config(options.config), _overrides(options))
    _require_known([*config.select, *config.ignore])
    return config


def _none_holds_relax(paths: Sequence[str]) -> bool:
    """Whether every path is an ordinary Python file of a usual size in which there can be no Relax."""
    from relax_lint.sources.prefilter import may_contain_relax

    for path in paths:
        if not path.endswith(".py"):
            return False
        try:
            status = os.stat(path)
            if not stat.S_ISREG(status.st_mode) or status.st_size > 1 << 20:
                return False
            with open(path, "rb") as file:
                if may_contain_relax(file.read()):
                    return False
        except (OSError, ValueError):
            return False
    return True


def _asked(options: argparse.Namespace) -> Asked:
    from relax_lint.memory_command import understand

    select = _codes(options.select)
    _require_known(select or ())
    return understand(options, select)


def _check_in_full(options: argparse.Namespace, config: Config, asked: Asked | None) -> int:
    import gc

    from relax_lint.output.summary import fails
    from relax_lint.runner import run

    # A report is a large heap without cycles, which the collector would go through again and again.
    gc.disable()
    if asked is not None:
        from relax_lint.memory_command import configured

        config = configured(asked, config)
    report = run(
        options.paths,
        config,
        stdin_filename=options.stdin_filename,
        debug=bool(os.environ.get(_DEBUG)),
    )
    grew = False
    if asked is not None:
        grew = _emit_memory(report, options, config, asked)
    else:
        _emit(_render(report, options, config), options.output_file)
    if grew or fails(report, config.fail_on):
        return FINDINGS
    if options.error_on_no_input and not any(file.input.functions for file in report.files):
        return NO_INPUT
    return OK


def _emit_memory(report: Report, options: argparse.Namespace, config: Config, asked: Asked) -> bool:
    """Write the memory report; whether more than allowed was added since an earlier one."""
    from relax_lint.memory_command import compared, render
    from relax_lint.output.text import render_findings

    comparison = compared(asked, report)
    style = _style(options.color, to_file=options.output_file is not None)
    text = render(report, comparison, config, style, output_format=options.output_format, quiet=options.quiet)
    _emit(text, options.output_file)
    if options.output_format in ("tvm", "html"):
        # These formats have no place for what else there is to say, which must not be lost.
        sys.stderr.write(render_findings(report, _style(options.color, to_file=True), comparison))
    return comparison is not None and comparison.exceeds


def _overrides(options: argparse.Namespace) -> dict[str, Any]:
    values: dict[str, Any] = {
        "select": _codes(options.select),
        "ignore": _codes(options.ignore),
        "allocators": _ALLOCATORS.get(options.allocator),
        "page-size": options.page_size,
        "max-memory": options.max_memory,
        "exclude": options.exclude,
        "dialect": options.dialect,
        "fail-on": options.fail_on,
        "jobs": options.jobs,
    }
    return {key: value for key, value in values.items() if value is not None}


def _codes(values: list[str] | None) -> list[str] | None:
    if values is None:
        return None
    return [code.strip() for value in values for code in value.split(",") if code.strip()]


def _require_known(prefixes: Sequence[str]) -> None:
    if not prefixes:
        return
    from relax_lint.rule import load_rules

    rules = load_rules()
    for prefix in prefixes:
        if not any(code.startswith(prefix) for code in rules):
            raise UsageError(_unknown_rule(prefix, rules))


def _unknown_rule(code: str, rules: dict[str, Rule]) -> str:
    from relax_lint.config import did_you_mean

    by_name = {rule.name: rule.code for rule in rules.values()}
    if code in by_name:
        return f"unknown rule `{code}`; did you mean `{by_name[code]}`?"
    return f"unknown rule `{code}`{did_you_mean(code.upper(), [*rules])}"


def _render(report: Report, options: argparse.Namespace, config: Config) -> str:
    if options.output_format == "json":
        from relax_lint.output.json import render_json

        return render_json(report)
    from relax_lint.output.text import render_text

    return render_text(
        report,
        _style(options.color, to_file=options.output_file is not None),
        quiet=options.quiet,
        statistics=options.statistics,
        allocators=config.allocators,
    )


def _style(color: str, *, to_file: bool) -> Style:
    from relax_lint.output.style import Style

    if color != "auto":
        return Style(color == "always")
    dull = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return Style(not to_file and not dull and sys.stdout.isatty())


def _require_writable(path: str) -> None:
    # Before the work rather than after it; appending keeps what an earlier run left until there is new.
    try:
        with open(path, "a"):
            pass
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _emit(text: str, path: str | None) -> None:
    if path is None:
        _write(text)
        return
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _explain_rule(options: argparse.Namespace) -> int:
    from relax_lint.output.page import page_text
    from relax_lint.rule import load_rules

    rules = load_rules()
    rule = rules.get(options.code.upper())
    if rule is None:
        rule = next((each for each in rules.values() if each.name == options.code), None)
    if rule is None:
        raise UsageError(_unknown_rule(options.code, rules))
    try:
        text = rule.page.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"no page for {rule.code}: {error.strerror}") from None
    return _write(page_text(text, _style(options.color, to_file=False)))


def _list_rules(options: argparse.Namespace) -> int:
    from relax_lint.output.page import rules_text
    from relax_lint.rule import load_rules

    return _write(rules_text(load_rules().values(), _style(options.color, to_file=False)))


if __name__ == "__main__":
    sys.exit(main())
