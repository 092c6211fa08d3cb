"""The schema of the tool's own report, which is read and checked once: that takes longer than to compare a report."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

import jsonschema


@cache
def report_validator() -> jsonschema.Draft202012Validator:
    """What compares a report with the schema."""
    schema = json.loads(files("relax_lint.output").joinpath("check-report.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)
