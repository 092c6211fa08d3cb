"""The table in docs/configuration.md is the table of options."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from relax_lint.commands.options import overrides, report_parser
from relax_lint.settings.config import Config
from relax_lint.settings.option import EVERY, Option
from relax_lint.settings.options import KEYS, OPTIONS
from relax_lint.settings.values import READERS

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"
VALUES = {
    "allocators": "list",
    "budgets": "size, or table by scope",
    "codes": "list of codes",
    "codes by pattern": "table of lists of codes",
    "conditions": "list of conditions",
    "conditions by function": "table of lists of conditions",
    "flag": "boolean",
    "integer": "integer",
    "path": "path",
    "patterns": "list of patterns",
    "seconds": "seconds",
    "severities": "table by code",
    "size": "bytes",
    "text": "text",
    "text size": "bytes",
}


def row(option: Option) -> str:
    """The line of the page about a key."""
    value = ", ".join(f"`{choice}`" for choice in option.choices)
    if option.kind not in ("choice", "severity"):
        value = VALUES[option.kind]
    if option.kind == "integer" and option.most is not None:
        value += f", up to {option.most}"
    words = "; ".join(filter(None, (option.help, option.more)))
    return f"| `{option.key}` | {value} | {_default(option)} | {words} |"


def _default(option: Option) -> str:
    if isinstance(option.default, bool):
        return f"`{str(option.default).lower()}`"
    if option.kind == "text" and option.default is None:
        return f"`{option.shown}`"
    if option.kind in ("choice", "severity", "text"):
        return f"`{option.default}`"
    if isinstance(option.default, list | dict):
        return f"`{option.default!s}`".replace("'", '"')
    assert option.shown is not None
    return option.shown


def test_the_table_of_the_page_is_that_of_the_options() -> None:
    expected = ["| key | value | default | meaning |", "|---|---|---|---|", *map(row, KEYS)]
    assert re.findall(r"^\|.*$", PAGE.read_text(), re.MULTILINE) == expected


def test_the_defaults_are_those_of_the_configuration() -> None:
    def read(option: Option) -> Any:
        if option.default is None or option.default == ():
            return option.default
        return READERS[str(option.key)](option.default)

    assert {option.field: read(option) for option in KEYS} == {
        option.field: getattr(Config(), option.field) for option in KEYS
    }


def test_every_field_that_is_not_a_key_is_known() -> None:
    fields = set(Config.__dataclass_fields__) - {option.field for option in KEYS}
    assert fields == {"trust_models", "follow_links", "memory", "proofs", "root", "origin"}


@pytest.mark.parametrize("command", EVERY)
def test_without_options_nothing_is_overridden(command: str) -> None:
    options = report_parser(command).parse_args(["a.py"])
    assert overrides(options) == {}
    for option in OPTIONS:
        if command in option.commands and option.kind == "flag" and not option.key:
            assert getattr(options, option.attribute) in (False, command == "replay")


def test_what_the_command_line_gives_is_what_a_file_would() -> None:
    line = "--select RLX1,RLX2 --allocator both --page-size 8 --lower --no-cache --max-memory 1MiB a.py"
    assert overrides(report_parser("check").parse_args(line.split())) == {
        "select": ["RLX1", "RLX2"],
        "allocators": ["naive", "pooled"],
        "page-size": 8,
        "lower": True,
        "cache": False,
        "max-memory": ["1MiB"],
    }


if __name__ == "__main__":
    text = PAGE.read_text()
    start, end = text.index("| key |"), text.index("\n\n", text.index("| key |"))
    table = "\n".join(["| key | value | default | meaning |", "|---|---|---|---|", *map(row, KEYS)])
    PAGE.write_text(text[:start] + table + text[end:])
