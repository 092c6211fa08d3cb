"""The options of the commands, as argparse is told of them."""

from __future__ import annotations

import argparse

from relax_lint.commands.terminal import tell, write
from relax_lint.output.formats import FORMATS

# Importing `typing` for this constant would be a fifth of the start-up; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

ERROR = 2

_ALLOCATORS = {"naive": ["naive"], "pooled": ["pooled"], "both": ["naive", "pooled"]}


def complain(message: str) -> int:
    """Write one line to standard error; the exit code of a usage or internal error."""
    line = " ".join(message.split())
    tell(f"relax-lint: error: {line}")
    return ERROR


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

    def print_help(self, file: Any = None) -> None:
        """Write the help as all else is written: to a full disk, say, it is an error like any."""
        write(self.format_help())

    def error(self, message: str) -> NoReturn:
        self.exit(complain(f"{message} (see `{self.prog} --help`)"))


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
        "replay": "BUILD AND EXECUTE the modules in the inputs, to see which findings a run confirms;"
        " only for text that you trust",
    }[command]
    parser = _Parser(command, what)
    add = parser.add_argument
    add("paths", nargs="+", metavar="PATH", help="file or folder; `-` is standard input")
    add("--stdin-filename", metavar="NAME", help="the name to show for standard input")
    add("--output-format", choices=tuple(FORMATS[command]), default="text")
    add("--output-file", metavar="FILE", help="write the report to a file")
    add("--select", metavar="CODES", action="append", help="only these rules (prefixes, with commas)")
    add("--ignore", metavar="CODES", action="append", help="not these rules (prefixes, with commas)")
    add("--config", metavar="FILE", help="a TOML file with a table [tool.relax-lint]")
    add("--allocator", choices=("naive", "pooled", "both"), help="the allocator in use (default: both)")
    add("--page-size", metavar="BYTES", type=int, help="page of the pooled allocator (default: 4096)")
    add(
        "--max-memory", metavar="SIZE", action="append", help="a budget: 512MiB, or global=512MiB for a scope"
    )
    add("--baseline", metavar="FILE", help="a file of accepted findings")
    parser.set_defaults(confirm=command == "replay", proofs=None)
    if command == "check":
        add("--proofs", metavar="FOLDER", help="write a record of each proof there, most of them SMT-LIB 2")
        add(
            "--confirm",
            action="store_true",
            help="execute the modules to see which findings a run confirms; only for text that you trust",
        )
        add(
            "--write-baseline",
            action="store_true",
            help="accept today's findings: write them to the baseline",
        )
        add("--update-baseline", action="store_true", help="remove from the baseline what no longer occurs")
        add(
            "--add-ignore", action="store_true", help="accept today's findings: write comments into the files"
        )
        add("--reason", metavar="TEXT", help="with --add-ignore: why")
        add("--fix", action="store_true", help="apply the safe fixes")
        add("--diff", action="store_true", help="show what --fix would change, and change nothing")
        add("--unsafe-fixes", action="store_true", help="with --fix or --diff: the unsafe fixes too")
    if command == "memory":
        add("--bind", metavar="N=128", action="append", help="the value of a symbol, or a range: n=1..4096")
        add("--compare", metavar="FILE", help="an earlier JSON report to compare with")
        add("--fail-above", metavar="PERCENT", help="exit with 1 where a total grew by more than this")
    add("--assume", metavar="CONDITION", action="append", help="take for granted, such as 'n <= 4096'")
    add("--exclude", metavar="PATTERN", action="append", help="leave out when searching folders")
    add("--lower", action="store_true", default=None, help="first run TVM's pipeline up to memory planning")
    add("--target", metavar="NAME", help="the target to lower for: a name or a JSON object (default: llvm)")
    add("--weights", choices=("parameters", "constants"), help="what the weights of models become")
    add("--trust-models", action="store_true", help="load `.pt2` files, which can execute what is in them")
    add(
        "--untrusted",
        action="store_true",
        help="the inputs are somebody else's: use nothing that came with them, follow no link, write nothing",
    )
    add("--dialect", choices=("auto", "current", "old"), help="how TVMScript is read (default: auto)")
    add("--fail-on", choices=("error", "warning", "note"), help="least severity to exit with 1 (warning)")
    add("--error-on-no-input", action="store_true", help="exit with 3 if no input holds a Relax function")
    add("--jobs", metavar="N", type=int, help="worker processes (default: one for each core)")
    add("--sandbox", choices=("off", "auto", "require"), help="how workers are confined (default: auto)")
    add("--executor", metavar="URL", help="where to work: dask://host:port (default: this machine)")
    add("--no-cache", action="store_true", help="neither use nor keep results")
    add("--cache-dir", metavar="DIR", help="where results are kept (default: the user's cache folder)")
    add("--statistics", action="store_true", help="say which prover decided how much")
    add("--quiet", action="store_true", help="findings only")
    add("--color", choices=("auto", "always", "never"), default="auto")
    return parser


def overrides(options: argparse.Namespace) -> dict[str, Any]:
    """The options that stand for keys of the configuration, by key; those that were given."""
    values: dict[str, Any] = {
        "select": codes(options.select),
        "ignore": codes(options.ignore),
        "allocators": _ALLOCATORS.get(options.allocator),
        "page-size": options.page_size,
        "max-memory": options.max_memory,
        "assume": options.assume,
        "exclude": options.exclude,
        "dialect": options.dialect,
        "target": options.target,
        "lower": options.lower,
        "weights": options.weights,
        "fail-on": options.fail_on,
        "baseline": options.baseline,
        "jobs": options.jobs,
        "sandbox": options.sandbox,
        "cache": False if options.no_cache else None,
        "cache-dir": options.cache_dir,
    }
    return {key: value for key, value in values.items() if value is not None}


def against_untrusted(options: argparse.Namespace, command: str) -> str | None:
    """What was asked for that does not go with `--untrusted`, as it was spelled; None if all does."""
    if not options.untrusted:
        return None
    if command == "replay":
        return "replay"
    refused = (
        *("trust_models", "confirm", "fix", "add_ignore", "write_baseline", "update_baseline"),
        *("cache_dir", "executor"),
    )
    asked = next((name for name in refused if getattr(options, name, None)), None)
    return None if asked is None else "--" + asked.replace("_", "-")


def codes(values: list[str] | None) -> list[str] | None:
    """The rule codes in the values of a repeatable option with commas; None if it was not given."""
    if values is None:
        return None
    return [code.strip() for value in values for code in value.split(",") if code.strip()]
