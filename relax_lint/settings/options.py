"""Every option, once: the command line, the configuration, its limits and its page are made of these rows.

Read at every start of the command: imports nothing but the class of a row.
"""

from __future__ import annotations

from relax_lint.settings.option import AT_MOST_DEFAULT, CHECK, MEMORY, STRICTER, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MAX_FILE_SIZE = 32 << 20


def _only(name: str, kind: str, help: str, **more: Any) -> Option:
    """An option of the command line that no file can set."""
    return Option(name, kind, help, is_key=False, **more)


def _in_files(name: str, kind: str, help: str, **more: Any) -> Option:
    """A key of the configuration that is no option of the command line."""
    return Option(name, kind, help, commands=(), **more)


OPTIONS = (
    # -- input and output --
    _only("stdin-filename", "text", "the name to show for standard input", metavar="NAME"),
    _only("output-format", "format", "the format of the report", default="text", shown="text"),
    _only("output-file", "text", "write the report to a file", metavar="FILE"),
    # -- which rules, and what they assume --
    Option(
        "select",
        "codes",
        "enable only these rules: codes, prefixes of codes, names, or ALL",
        metavar="CODE,...",
        default=[],
        more="empty: the default rules; code that cannot be analysed is reported unless that is ignored",
    ),
    Option(
        "ignore",
        "codes",
        "disable these rules: codes, prefixes of codes, names, or ALL",
        metavar="CODE,...",
        default=[],
    ),
    _in_files(
        "per-file-ignores",
        "codes by pattern",
        "disable rules in the files that a pattern matches, relative to the folder of the configuration file",
        default={},
        changes_results=False,
    ),
    _in_files(
        "severities",
        "severities",
        "the severity of what a rule reports; the longest matching code decides",
        default={},
        changes_results=False,
    ),
    _only("config", "text", "a TOML file with a table [tool.relax-lint]", metavar="FILE"),
    Option(
        "allocator",
        "allocators",
        "the allocators that a program must be safe with",
        key="allocators",
        choices=("naive", "pooled"),
        given={"naive": ["naive"], "pooled": ["pooled"], "both": ["naive", "pooled"]},
        default=["naive", "pooled"],
        shown="both",
    ),
    Option(
        "page-size",
        "integer",
        "the page size of the pooled allocator in bytes",
        metavar="BYTES",
        default=4096,
        shown="4096",
    ),
    _in_files(
        "max-extent",
        "integer",
        "the largest extent assumed of a tensor parameter",
        default=2**40,
        shown="2**40",
    ),
    _in_files(
        "trust-declared-bounds",
        "flag",
        "whether bounds such as `tir_var_upper_bound` count as facts, although TVM does not enforce them",
        default=True,
    ),
    _in_files(
        "devices",
        "integer",
        "the number of devices of the machine, where a module declares fewer",
        most=1024,
        shown="1",
    ),
    Option(
        "max-memory",
        "budgets",
        "a memory budget with a unit, such as 512MiB, or global=512MiB for one scope",
        metavar="SIZE",
        default=(),
        shown="none",
        more="the budget of the rule `over-budget`",
    ),
    Option(
        "baseline",
        "path",
        "a file of accepted findings",
        metavar="FILE",
        shown="none",
        more="see [baselines](suppressions.md#a-baseline)",
        changes_results=False,
    ),
    # -- what is done with the findings --
    _only(
        "proofs",
        "text",
        "write a record of each proof to this folder, as SMT-LIB 2 where possible",
        commands=(CHECK,),
        metavar="FOLDER",
    ),
    _only(
        "explain",
        "flag",
        "show what was asked about each operation, safe ones too, and what decided it",
        commands=(CHECK,),
    ),
    _only(
        "confirm",
        "flag",
        "execute the modules to see which findings a run confirms; only for input that you trust",
        commands=(CHECK,),
        refused=True,
    ),
    _only(
        "write-baseline",
        "flag",
        "accept the current findings: write them to the baseline",
        commands=(CHECK,),
        refused=True,
    ),
    _only(
        "update-baseline",
        "flag",
        "remove findings that no longer occur from the baseline",
        commands=(CHECK,),
        refused=True,
    ),
    _only(
        "add-ignore",
        "flag",
        "accept the current findings: write ignore comments into the files",
        commands=(CHECK,),
        refused=True,
    ),
    _only("reason", "text", "the reason that --add-ignore writes", commands=(CHECK,), metavar="TEXT"),
    _only("fix", "flag", "apply safe fixes", commands=(CHECK,), refused=True),
    _only("diff", "flag", "show what --fix would change without changing it", commands=(CHECK,)),
    _only("unsafe-fixes", "flag", "with --fix or --diff: apply unsafe fixes too", commands=(CHECK,)),
    _only(
        "show-fixes", "flag", "with --fix or --diff: list what was fixed, by file and rule", commands=(CHECK,)
    ),
    _in_files(
        "fix-strategy",
        "choice",
        "which fix is offered first for a tensor that may not fit its storage: a run-time check (`assert`),"
        " a storage that grows with it (`dynamic`), or what suits the module (`auto`)",
        choices=("assert", "dynamic", "auto"),
        default="auto",
    ),
    _in_files(
        "check-form",
        "choice",
        "how a run-time check is inserted: as `R.assert_op` (`assert-op`), as a call of the virtual machine's"
        " `match_shape` (`builtin`), or as the operator only where it can still be lowered (`auto`)",
        choices=("assert-op", "builtin", "auto"),
        default="auto",
    ),
    # -- totals --
    _only(
        "bind", "texts", "the value of a symbol, or a range: n=1..4096", commands=(MEMORY,), metavar="N=128"
    ),
    _only("formulas", "flag", "show the formulas beside the numbers", commands=(MEMORY,)),
    _only(
        "device-memory",
        "text",
        "what serving takes of a device with this much memory, and what fits",
        commands=(MEMORY,),
        metavar="SIZE",
    ),
    _only("compare", "text", "compare with an earlier JSON report", commands=(MEMORY,), metavar="FILE"),
    _only(
        "fail-above",
        "text",
        "exit with 1 if a total grew by more than this",
        commands=(MEMORY,),
        metavar="PERCENT",
    ),
    # -- what is read, and how --
    Option(
        "assume",
        "conditions",
        "assume CONDITION, such as 'n <= 4096', in every function that has its symbols",
        metavar="CONDITION",
        default=[],
    ),
    _in_files(
        "assume-in",
        "conditions by function",
        "assume conditions in one function: its name, or `Module.name`",
        default={},
    ),
    Option(
        "exclude",
        "patterns",
        "skip matching paths in the folder search",
        metavar="PATTERN",
        default=[],
        more="in the syntax of `.gitignore`, up to 16,384 characters together",
        changes_results=False,
    ),
    _in_files(
        "max-file-size",
        "text size",
        "refuse larger texts",
        default=_MAX_FILE_SIZE,
        shown="32 MiB",
        more="this is also the maximum",
        limit=AT_MOST_DEFAULT,
        changes_results=False,
    ),
    Option(
        "lower",
        "flag",
        "run TVM's pipeline for the target up to memory planning first",
        default=False,
        more="only modules without explicit allocations are lowered",
    ),
    Option(
        "target",
        "text",
        "the target to lower for, and to judge devices and scopes by: a name or a JSON object",
        metavar="NAME",
        shown="llvm",
    ),
    Option(
        "weights",
        "choice",
        "what the weights of an imported model become",
        choices=("parameters", "constants"),
        default="parameters",
        shown="parameters",
    ),
    _only("trust-models", "flag", "load `.pt2` files, which can execute code while loading", refused=True),
    _only(
        "untrusted",
        "flag",
        "treat the inputs as untrusted: ignore configuration found with them, follow no links, write nothing",
    ),
    Option(
        "dialect",
        "choice",
        "how TVMScript is read",
        choices=("auto", "current", "old"),
        default="auto",
        shown="auto",
    ),
    # -- the run --
    Option(
        "fail-on",
        "severity",
        "exit with 1 if a finding has at least this severity",
        choices=("error", "warning", "note"),
        default="warning",
        shown="warning",
        changes_results=False,
    ),
    Option(
        "strict",
        "flag",
        "report what was not decided, or rests on an assumed device, with the severity of its rule",
        default=False,
        more="otherwise it is a note",
    ),
    _only("exit-zero", "flag", "exit with 0 even if there are findings"),
    _only(
        "error-on-no-input",
        "flag",
        "exit with 3 if no input contains a Relax function, or none has anything to check",
    ),
    Option(
        "jobs",
        "integer",
        "the number of worker processes",
        metavar="N",
        most=512,
        shown="one for each core",
        changes_results=False,
    ),
    _in_files(
        "time-limit",
        "seconds",
        "the time limit for one module",
        default=60.0,
        shown="60",
        limit=AT_MOST_DEFAULT,
        changes_results=False,
    ),
    _in_files(
        "memory-limit",
        "size",
        "the address space of a worker process",
        default=4 << 30,
        shown="4 GiB",
        limit=AT_MOST_DEFAULT,
        changes_results=False,
    ),
    Option(
        "sandbox",
        "choice",
        "how workers are confined: not, as far as the system allows, or fully",
        choices=("off", "auto", "require"),
        default="auto",
        shown="auto",
        more="with `require` a run without the full [sandbox](security.md) ends with exit code 2",
        limit=STRICTER,
        untrusted="require",
        changes_results=False,
    ),
    _only(
        "executor",
        "text",
        "where to work: dask://host:port",
        metavar="URL",
        shown="this machine",
        refused=True,
    ),
    _in_files(
        "cache",
        "flag",
        "whether results are kept for the next run",
        default=True,
        more="see [speed](speed.md)",
        untrusted=False,
        changes_results=False,
    ),
    _only("no-cache", "flag", "neither use nor keep results"),
    Option(
        "cache-dir",
        "path",
        "where results are kept",
        metavar="DIR",
        shown="the user's cache folder",
        refused=True,
        changes_results=False,
    ),
    _only("watch", "flag", "run again whenever a file changes (extra `watch`)"),
    _only("show-files", "flag", "list the inputs and do nothing else"),
    _only("show-settings", "flag", "show the settings in effect as TOML and do nothing else"),
    _only("statistics", "flag", "count the findings of each rule instead of showing them"),
    _only("show-provers", "flag", "count the verdicts of each prover, and the accesses of each function"),
    _only("quiet", "flag", "show only findings", short="q"),
    _only("verbose", "flag", "say on standard error what is read and how long it takes", short="v"),
    _only(
        "color",
        "choice",
        "when to use colours",
        choices=("auto", "always", "never"),
        default="auto",
        shown="auto",
    ),
)

KEYS = tuple(sorted((option for option in OPTIONS if option.key), key=lambda option: str(option.key)))
"""What a configuration file may hold, by name."""
