"""Mutants that no test can notice, each with the reason, or by class: `explained.toml`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Alike:
    """Mutants that are explained by one reason: those of an operator whose line and fault match."""

    operator: str
    line: re.Pattern[str]
    fault: re.Pattern[str]
    reason: str

    def has(self, key: Key) -> bool:
        """Whether a mutant is one of them."""
        matched = self.line.search(key.line) and self.fault.search(key.fault)
        return key.operator == self.operator and matched is not None


def classes(path: Path = FILE) -> tuple[Alike, ...]:
    """The classes. Raises ValueError for one without a reason."""
    data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    found = tuple(
        Alike(one["operator"], re.compile(one["line"]), re.compile(one["fault"]), one["reason"].strip())
        for one in data.get("class", ())
    )
    if not all(one.reason for one in found):
        raise ValueError(f"{path.name}: a class without a reason")
    return found


def reasons(keys: Iterable[Key]) -> dict[Key, str]:
    """Why no test can notice some of these mutants."""
    single, alike = explained(), classes()
    found: dict[Key, str] = {}
    for key in keys:
        of_class = next((one.reason for one in alike if one.has(key)), "")
        if reason := single.get(key, of_class):
            found[key] = reason
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
