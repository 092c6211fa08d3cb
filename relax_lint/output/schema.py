"""The JSON Schema of the report, made of its types: `make schema` writes it to its file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from relax_lint.output.report_model import Absent, ReportObject
from relax_lint.output.summary import Count
from relax_lint.results.check import Suppression
from relax_lint.results.confirmation import Run
from relax_lint.results.location import Location
from relax_lint.results.memory_figures import OverRange
from relax_lint.results.report import InputStatus

SCHEMA_FILE = Path(__file__).with_name("check-report.schema.json")

_TYPES = {str: "string", int: "integer", bool: "boolean", float: "number"}
_NATURAL, _POSITIVE = {"minimum": 0}, {"minimum": 1}
# What the annotations of the result model do not say.
_FIELDS: Mapping[tuple[type, str], dict[str, Any]] = {
    **{(Location, field.name): _POSITIVE for field in fields(Location) if field.name != "path"},
    **{(Count, field.name): _NATURAL for field in fields(Count)},
    (InputStatus, "functions"): {**_NATURAL, "description": "Relax functions that were judged"},
    (InputStatus, "status"): {"enum": ["checked", "skipped", "failed"]},
    (Suppression, "kind"): {"enum": ["comment", "baseline"]},
    (Run, "example"): {"enum": ["wrong", "fine", "first failure"]},
    (OverRange, "maximum"): _NATURAL,
}


def report_schema() -> dict[str, Any]:
    """The schema of the whole report."""
    definitions: dict[str, Any] = {}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "relax-lint check report"}
    return {**head, **_object(ReportObject, definitions), "$defs": dict(sorted(definitions.items()))}


def _object(cls: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(cls, include_extras=True)
    names = {field.name: field.name.rstrip("_") for field in fields(cls)}
    return {
        "description": " ".join(cls.__doc__.split()),
        "type": "object",
        "additionalProperties": False,
        "required": [key for name, key in names.items() if Absent not in _alternatives(hints[name])],
        "properties": {
            key: _schema(hints[name], definitions) | _FIELDS.get((cls, name), {})
            for name, key in names.items()
        },
    }


def _schema(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of the values of a type; classes are put among the definitions."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        found = _schema(arguments[0], definitions)
        for extra in arguments[1:]:
            found = found | extra
        return found
    if origin in (Union, UnionType):
        return _union([one for one in arguments if one is not Absent], definitions)
    if origin is Literal:
        return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
    if origin is tuple:
        return {"type": "array", "items": _schema(arguments[0], definitions)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        keys = _schema(arguments[0], definitions)
        names = {"propertyNames": keys} if keys != {"type": "string"} else {}
        return {"type": "object", **names, "additionalProperties": _schema(arguments[1], definitions)}
    if isinstance(hint, type) and is_dataclass(hint):
        name = hint.__name__.removesuffix("Object")
        if name not in definitions:
            definitions[name] = {}
            definitions[name] = _object(hint, definitions)
        return {"$ref": f"#/$defs/{name}"}
    if issubclass(hint, Enum):
        return {"enum": [member.value for member in hint]}
    return {"type": _TYPES[hint]}


def _union(hints: list[Any], definitions: dict[str, Any]) -> dict[str, Any]:
    found = [{"type": "null"} if one is NoneType else _schema(one, definitions) for one in hints]
    if len(found) == 1:
        return found[0]
    if all(one.keys() == {"type"} for one in found):
        return {"type": [one["type"] for one in found]}
    return {"oneOf": found}


def _alternatives(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) is Annotated:
        return _alternatives(get_args(hint)[0])
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


if __name__ == "__main__":
    SCHEMA_FILE.write_text(json.dumps(report_schema(), indent=1) + "\n")
