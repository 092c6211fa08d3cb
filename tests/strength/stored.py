"""The files with what was said."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tests.strength.claims import Said

FOLDER = Path(__file__).with_name("said")
_FIELDS = ("claims", "findings", "words")


def read(family: str) -> dict[str, Said]:
    """What was said of each program of a family; nothing where that was never stored."""
    path = FOLDER / f"{family.replace(' ', '_')}.json"
    if not path.exists():
        return {}
    data = json.loads(path.read_text(encoding="utf-8"))
    return {name: Said(*(tuple(one.get(field, ())) for field in _FIELDS)) for name, one in data.items()}


def write(family: str, said: Mapping[str, Said]) -> None:
    """One claim a line, in order, so that a change of one is a change of one line."""
    data = {name: vars(in_order(one)) for name, one in said.items()}
    text = json.dumps(data, indent=0, ensure_ascii=True)
    (FOLDER / f"{family.replace(' ', '_')}.json").write_text(f"{text}\n", encoding="utf-8")


def is_same(said: Said, before: Said) -> bool:
    """Whether the same is said, in whatever words."""
    return in_order(replace(said, words=before.words)) == before


def in_order(said: Said) -> Said:
    """As it is stored."""
    return Said(*(tuple(sorted(getattr(said, field))) for field in _FIELDS))
