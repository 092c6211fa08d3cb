"""Results as JSON, field for field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any


def to_json(value: Any) -> str:
    """Any result as the text of JSON: objects with the fields of its dataclass."""
    return json.dumps(plain(value), indent=1, ensure_ascii=True)


def plain(value: Any) -> Any:
    """Any result in what `json` can write."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return [plain(item) for item in value]
