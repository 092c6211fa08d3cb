"""Mutants that no test can notice, each with the reason: `explained.toml`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from tools.mutants.generating import Key

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = Path(__file__).with_name("explained.toml")
_FIELDS = ("file", "operator", "line", "fault")


def explained(path: Path = FILE) -> dict[Key, str]:
    """The reasons, by mutant. Raises ValueError for an entry without one."""
    data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    found = {}
    for entry in data.get("mutant", ()):
        key = Key(**{name: entry[name] for name in _FIELDS}, number=entry.get("number", 0))
        if not entry.get("reason", "").strip() or key in found:
            raise ValueError(f"{path.name}: without a reason, or twice: {key}")
        found[key] = entry["reason"]
    return found


def entry(key: Key, reason: str) -> str:
    """The text of an entry."""
    fields = {name: getattr(key, name) for name in _FIELDS}
    lines = [f"{name} = {_text(value)}" for name, value in fields.items()]
    lines += [f"number = {key.number}"] if key.number else []
    return "\n".join(["[[mutant]]", *lines, f"reason = {_text(reason)}", ""])


def _text(value: str) -> str:
    """A TOML string on one line."""
    return (
        "'" + value + "'" if "'" not in value else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    )
