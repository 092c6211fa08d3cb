"""The options of the commands, as argparse reads them."""

from __future__ import annotations

import argparse

from relax_lint.commands.terminal import complain, write
from relax_lint.output.formats import FORMATS
from relax_lint.settings.option import REPLAY
from relax_lint.settings.options import OPTIONS

# Importing `typing` for this constant would be a fifth of the start-up; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from relax_lint.settings.option import Option


def _formatter(prog: str) -> argparse.HelpFormatter:
    # A fixed width: to find out the terminal's, argparse imports a lot for every option.
    return argparse.HelpFormatter(prog, width=100)


class _Parser(argparse.ArgumentParser):
    def __init__(self, command: str, description: str) -> None:
        super().__init__(
            prog=f"relax-lint {command}",
            description=description,
            allow_abbrev=False,
            formatter_class=_formatter,
        )

    def print_help(self, file: Any = None) -> None:
        """Write the help like any other output: a full disk, say, is an error here too."""
        write(self.format_help())

    def error(self, message: str) -> NoReturn:
        head, _, words = message.partition("unrecognized arguments: ")
        if words and not head:
            message = f"unknown option `{words.split()[0]}`{self._nearest(words.split()[0])}"
        self.exit(complain(f"{message} (see `{self.prog} --help`)"))

    def _nearest(self, word: str) -> str:
        from relax_lint.support.nearest import did_you_mean

        known = [name for action in self._actions for name in action.option_strings if name.startswith("--")]
        return did_you_mean(word.partition("=")[0], known) if word.startswith("-") else ""


def simple_parser(command: str, description: str, *positionals: str) -> argparse.ArgumentParser:
    """The parser of a command that takes `positionals` and a colour only."""
    parser = _Parser(command, description)
    for positional in positionals:
        parser.add_argument(positional)
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    return parser


def report_parser(command: str) -> argparse.ArgumentParser:
    """The parser of `check`, `memory` or `replay`."""
    what = {
        "check": "judge every memory operation of Relax functions",
        "memory": "report the memory that Relax functions need",
        "replay": "BUILD AND EXECUTE the modules in the inputs to see which findings a run confirms;"
        " only for input that you trust",
    }[command]
    parser = _Parser(command, what)
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="file or folder; `-` is standard input, `@FILE` a file with one argument on each line",
    )
    parser.set_defaults(confirm=command == REPLAY, proofs=None, explain=False, all_known=False)
    for option in OPTIONS:
        if command in option.commands:
            arguments = option.for_argparse
            if option.kind == "format":
                arguments["choices"] = tuple(FORMATS[command])
            parser.add_argument(*option.flags, **arguments)
    return parser


def overrides(options: argparse.Namespace) -> dict[str, Any]:
    """The options that stand for keys of the configuration, by key; those that were given."""
    values = {
        str(option.key): _value(option, getattr(options, option.attribute))
        for option in OPTIONS
        if option.key and option.commands
    }
    values["cache"] = False if options.no_cache else None
    return {key: value for key, value in values.items() if value is not None}


def _value(option: Option, found: Any) -> Any:
    if option.kind == "codes":
        return codes(found)
    return found if option.given is None else option.given.get(found)


def against_untrusted(options: argparse.Namespace, command: str) -> str | None:
    """The option that cannot be combined with `--untrusted`; None if there is none."""
    if not options.untrusted:
        return None
    if command == "replay":
        return "replay"
    refused = (option for option in OPTIONS if option.refused)
    asked = next((option for option in refused if getattr(options, option.attribute, None)), None)
    return None if asked is None else f"--{asked.name}"


def codes(values: list[str] | None) -> list[str] | None:
    """The rule codes in the values of a repeatable option with commas; None if it was not given."""
    if values is None:
        return None
    return [code.strip() for value in values for code in value.split(",") if code.strip()]
