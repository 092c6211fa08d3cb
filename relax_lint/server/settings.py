"""What an editor may set: `initializationOptions`, or the section `relax-lint` of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from relax_lint.support.lazy_dataclass import dataclass

SECTION = "relax-lint"


@dataclass(frozen=True)
class EditorSettings:
    """`inlay_hints` shows safe regions and bytes in the text, `code_lens` the memory above each function.
    `show_report` has the server open the memory report; an editor that shows it itself turns this off.
    """

    inlay_hints: bool = False
    code_lens: bool = True
    show_report: bool = True


def read_settings(given: object, present: EditorSettings | None = None) -> EditorSettings:
    """The settings that an editor sends, by their names in camel case; what is missing or is not a truth
    value stays as it is.
    """
    settings = present or EditorSettings()
    if isinstance(given, Mapping) and isinstance(given.get(SECTION), Mapping):
        given = given[SECTION]
    if not isinstance(given, Mapping):
        return settings
    values: dict[str, Any] = {}
    for field in fields(EditorSettings):
        value = given.get(_camel(field.name))
        values[field.name] = value if isinstance(value, bool) else getattr(settings, field.name)
    return EditorSettings(**values)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))
