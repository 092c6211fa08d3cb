"""The command `relax-lint`.

Exit codes: 0 nothing at or above the failing level; 1 findings at or above it; 2 usage or internal error;
3 no Relax function in any input, with `--error-on-no-input`; 130 interrupted, after the report on the inputs
judged by then; 141 the reader of the output is gone (`| head`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from relax_lint import __version__
from relax_lint.commands.terminal import (
    DEBUG,
    ERROR,
    INTERRUPTED,
    ReaderGoneError,
    UsageError,
    complain,
    hold_streams,
    tell,
    tell_all,
    write,
)
from relax_lint.support.errors import UserError

# As a shell tells of a program that SIGPIPE has ended.
_READER_GONE = 141

COMMANDS = (
    "check",
    "memory",
    "replay",
    "explain",
    "rules",
    "new-rule-package",
    "doctor",
    "completion",
    "server",
)
"""Every command, by the word that asks for it."""

_USAGE = """\
usage: relax-lint [check] [OPTIONS] PATH...
       relax-lint memory [OPTIONS] PATH...
       relax-lint replay [OPTIONS] PATH...
       relax-lint explain CODE
       relax-lint rules
       relax-lint new-rule-package NAME
       relax-lint doctor
       relax-lint completion SHELL
       relax-lint server
       relax-lint --version

Static linter for memory safety in Apache TVM's Relax IR.

commands:
  check    judge every memory operation (the default command)
  memory   report the memory that each function needs
  replay   execute the modules to see which findings a run confirms
  explain  print the page of a rule
  rules    list all rules
  new-rule-package  write a package with a rule of your own
  doctor   show what of the installation works: TVM, sandbox, cache, extras
  server   serve an editor (language server protocol, over standard input and output)
  completion  print the completion script of bash or zsh

`relax-lint COMMAND --help` lists the options of a command.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code. No exception leaves it but SystemExit."""
    hold_streams()
    try:
        return _run(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        tell("relax-lint: interrupted")
        return INTERRUPTED
    except ReaderGoneError:
        return _READER_GONE
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        return complain(_explain(error))


def _run(arguments: list[str]) -> int:
    if not arguments:
        tell_all(_USAGE)
        return ERROR
    first, rest = arguments[0], arguments[1:]
    question = inputs = None
    if first not in COMMANDS or first == "check":
        from relax_lint.commands.looking import PlainCall

        call = PlainCall(arguments)
        if (ended := call.answer()) is not None:
            return ended
        inputs = call.inputs
    if first not in COMMANDS or first in ("check", "memory"):
        from relax_lint.running.kept_answers import Question

        question = Question(arguments)
        if (known := question.answer()) is not None:
            text, code = known
            write(text)
            return code
    # The reader of options costs as much as all that comes before.
    from relax_lint.commands.options import report_parser, simple_parser

    if first in ("-h", "--help"):
        return write(_USAGE)
    if first in ("-V", "--version"):
        return write(f"relax-lint {__version__}\n")
    if first == "explain":
        from relax_lint.commands.rules import explain

        return explain(simple_parser(first, "print the page of a rule", "code").parse_args(rest))
    if first == "rules":
        from relax_lint.commands.rules import list_rules

        parser = simple_parser(first, "list all rules")
        parser.add_argument("--output-format", choices=("text", "json"), default="text")
        return list_rules(parser.parse_args(rest))
    if first == "new-rule-package":
        from relax_lint.commands.new_rule_package import lay

        return lay(simple_parser(first, "write a package with a rule of your own", "name").parse_args(rest))
    if first == "server":
        from relax_lint.commands.server import serve

        return serve(simple_parser(first, "serve an editor over standard input and output").parse_args(rest))

    if first == "doctor":
        from relax_lint.commands.doctor import examine

        return examine(simple_parser(first, "show what of the installation works").parse_args(rest))
    if first == "completion":
        from relax_lint.commands.completion import print_completion

        parser = simple_parser(first, "print the completion script of a shell", "shell")
        return print_completion(parser.parse_args(rest), COMMANDS)
    _require_command(first)
    if any(argument.startswith("@") for argument in arguments):
        from relax_lint.commands.argument_files import with_argument_files

        arguments = with_argument_files(arguments)
        rest = arguments[1:]

    from relax_lint.commands.check import run_report

    command = first if first in ("check", "memory", "replay") else "check"
    options = report_parser(command).parse_args(rest if first == command else arguments)
    return run_report(options, command, question, inputs)


def _require_command(word: str) -> None:
    """Raise UsageError for a word that is like a command and no path."""
    if not word.isalpha() or word in COMMANDS or os.path.lexists(word):
        return
    from relax_lint.support.nearest import did_you_mean

    if suggestion := did_you_mean(word, [*COMMANDS]):
        raise UsageError(f"unknown command `{word}`{suggestion} (see `relax-lint --help`)")


def _explain(error: Exception) -> str:
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        # The surroundings, and not the tool: no room, too many open files, a folder that is gone.
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    from relax_lint.support.escaping import without_addresses

    text = without_addresses(str(error))
    return f"internal error: {type(error).__name__}: {text} (set {DEBUG}=1 to see where)"


if __name__ == "__main__":
    sys.exit(main())
