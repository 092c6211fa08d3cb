"""`--show-files` and `--show-settings`: what a run would read, and with which settings."""

from __future__ import annotations

import argparse
import json
from enum import Enum
from typing import Any

from relax_lint.commands.judging import named_inputs
from relax_lint.commands.terminal import UsageError, write
from relax_lint.judging.selection import ALL
from relax_lint.results.problem import Problem
from relax_lint.settings.config import TABLE, Config
from relax_lint.settings.memory_request import WHOLE
from relax_lint.settings.options import KEYS
from relax_lint.support.escaping import printable


def show(options: argparse.Namespace, config: Config) -> int:
    """Print the settings or the inputs, as asked; 0. Raises UsageError for a path that cannot be searched."""
    if options.show_settings:
        return write(settings_text(config))
    inputs = named_inputs(options, config)
    for one in inputs:
        if isinstance(one, Problem):
            raise UsageError(one.message)
    return write("".join(f"{printable(one.path)}\n" for one in inputs if not isinstance(one, Problem)))


def settings_text(config: Config) -> str:
    """The settings in effect as a TOML file that can be named with `--config`."""
    origin = (
        f"{config.origin}, and the command line" if config.origin else "the defaults, and the command line"
    )
    lines = [f"# from {printable(origin)}", f"[{TABLE}]"]
    for option in KEYS:
        value = getattr(config, option.field)
        if value is None:
            lines.append(f"# {option.key} is not set")
        elif option.kind == "codes":
            lines.append(f"{option.key} = {_toml(_words(value))}")
        elif option.kind == "codes by pattern":
            by_pattern = {pattern: _words(codes) for pattern, codes in value}
            lines.append(f"{option.key} = {_toml(by_pattern)}")
        elif option.kind == "severities":
            lines.append(f"{option.key} = {_toml({code or ALL: severity for code, severity in value})}")
        elif option.kind == "budgets":
            lines.append(f"{option.key} = {_budgets(value)}" if value else f"# {option.key} is not set")
        else:
            by_name = option.kind == "conditions by function"
            lines.append(f"{option.key} = {_toml(dict(value) if by_name else value)}")
    return "\n".join(lines) + "\n"


def _words(codes: tuple[str, ...]) -> list[str]:
    """Codes as a file has them: every code begins with the empty prefix, which a file calls `ALL`."""
    return [code or ALL for code in codes]


def _budgets(value: tuple[tuple[str, int], ...]) -> str:
    sizes = {scope: f"{size} B" for scope, size in value}
    return _toml(sizes[WHOLE] if tuple(sizes) == (WHOLE,) else sizes)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, dict):
        items = (f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items())
        return f"{{ {', '.join(items)} }}" if value else "{}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml, value))}]"
    # A text of JSON is one of TOML, but for the DEL character.
    return json.dumps(value).replace("\x7f", "\\u007f")
