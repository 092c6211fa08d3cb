"""What there is to say of an option. Read at every start of the command: imports nothing."""

from __future__ import annotations

# Importing `typing` for this constant would be felt at every start; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

CHECK, MEMORY, REPLAY = "check", "memory", "replay"
EVERY = (CHECK, MEMORY, REPLAY)

AT_MOST_DEFAULT = "at most the default"
"""The limit of a number that a configuration which was found may lower and not raise."""
STRICTER = "the default or stricter"
"""The limit of a choice, listed from the loosest to the strictest, that such a configuration may tighten."""

_REPEATED = ("codes", "conditions", "patterns", "budgets", "texts")


class Option:
    """One row of the table.

    `kind` names how a value is read (`settings/values.py`), with `choices`, or `least` and `most`, for the
    kinds that need them. `key` is its name in a configuration file (None: on the command line only),
    `commands` are those that take it (none: in files only). `given` maps what the command line gives to what
    the key takes. `default` is the default of the key, `shown` how it is written where that is not plain.
    `help` is the text of `--help`, and with `more` that of docs/configuration.md. `limit` is what a
    configuration that was found may do to it. With `--untrusted` the value is `untrusted`; an option that is
    `refused` does not go with it. Results are kept for other values of what does not `change_results`.
    `short` is its letter on the command line.
    """

    def __init__(
        self,
        name: str,
        kind: str,
        help: str,
        *,
        key: str | None = None,
        is_key: bool = True,
        commands: tuple[str, ...] = EVERY,
        metavar: str | None = None,
        choices: tuple[str, ...] = (),
        given: Mapping[Any, Any] | None = None,
        least: int = 1,
        most: int | None = None,
        default: Any = None,
        shown: str | None = None,
        more: str = "",
        limit: str | None = None,
        untrusted: Any = None,
        refused: bool = False,
        changes_results: bool = True,
        short: str | None = None,
    ) -> None:
        self.name, self.kind, self.help = name, kind, help
        self.key = (key or name) if is_key else None
        self.commands, self.metavar, self.choices, self.given = commands, metavar, choices, given
        self.least, self.most, self.default, self.shown, self.more = least, most, default, shown, more
        self.limit, self.untrusted, self.refused = limit, untrusted, refused
        self.changes_results, self.short = changes_results, short

    @property
    def flags(self) -> tuple[str, ...]:
        """How it is written on the command line."""
        return (f"--{self.name}",) if self.short is None else (f"-{self.short}", f"--{self.name}")

    @property
    def attribute(self) -> str:
        """Where argparse puts its value."""
        return self.name.replace("-", "_")

    @property
    def field(self) -> str:
        """Its field in `Config`; only for a key."""
        return (self.key or self.name).replace("-", "_")

    @property
    def for_argparse(self) -> dict[str, Any]:
        """The keyword arguments of `add_argument`."""
        words = self.help if self.shown is None else f"{self.help} (default: {self.shown})"
        if self.kind == "flag":
            return {"action": "store_true", "default": None if self.key else False, "help": words}
        found: dict[str, Any] = {"help": words, "default": None if self.key else self.default}
        if self.metavar is not None:
            found["metavar"] = self.metavar
        if self.choices:
            found["choices"] = tuple(self.given or self.choices)
        elif self.kind == "integer":
            found["type"] = int
        elif self.kind in _REPEATED:
            found["action"] = "append"
        return found
