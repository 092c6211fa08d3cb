"""Everything that is reported of a module, word for word: the texts, places, fixes, examples, proofs and figures.

Of each object a digest is kept, as the texts would fill a book; which object it is that has changed stands before it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from relax_lint.results.check import Check
from relax_lint.results.plain import plain
from relax_lint.results.report import UnitResult

_DIGITS = 8


def words_of(found: UnitResult) -> Iterator[str]:
    """A line for each check, the totals and the accesses of each function, and the rest."""
    for check in found.checks:
        yield f"{name_of(check)} #{_digest(check)}"
    for totals in found.memory:
        yield f"{totals.function} memory #{_digest(totals)}"
    for counted in found.accesses:
        yield f"{counted.function} accesses #{_digest(counted)}"
    yield f"module #{_digest(replace(found, checks=(), memory=(), accesses=()))}"


def name_of(check: Check) -> str:
    """What a check is about."""
    return f"{check.function}/{check.binding} {check.rule}"


def _digest(value: Any) -> str:
    text = json.dumps(plain(value), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
