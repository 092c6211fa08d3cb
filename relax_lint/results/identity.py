"""How a check is recognised in the next run. Imports neither TVM nor sympy."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from relax_lint.results.check import Check


def identities(checks: Iterable[Check]) -> tuple[str, ...]:
    """The identity of each check: 16 hexadecimal digits, the same for the same check after lines have moved.

    Checks of one rule about bindings of one name in one function are told apart by their number, so the
    checks have to be all checks of a report, in its order.
    """
    occurrences: dict[tuple[str | None, ...], int] = {}
    found = []
    for check in checks:
        key = (check.path, check.rule, check.module, check.function, check.binding)
        number = occurrences[key] = occurrences.get(key, -1) + 1
        found.append(hashlib.sha256(json.dumps([*key, number]).encode()).hexdigest()[:16])
    return tuple(found)
