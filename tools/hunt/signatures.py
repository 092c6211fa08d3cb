"""What a reply of the child stands for: its class, and a signature by which faults are told apart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_NUMBERS = re.compile(r"0x[0-9a-f]+|\d+|\bv\d+\b|\b\w+_\d+\b")
_RULES = ("RLX2", "RLX101", "RLX102", "RLX303", "RLX304")
"""The rules whose findings tell that other memory is read or written than is meant."""

MISSES = frozenset({"unforetold", "crash", "memory", "false alarm", "not confirmed", "analysis failed"})
"""Classes that are faults of the linter until somebody has looked at them."""


def findings(reply: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The findings about memory: those that a pass introduced before those about the program given, certain
    ones first.
    """
    found = [(str(f[0]), str(f[1]), str(f[2])) for f in reply.get("findings", ())]
    about = [f for f in found if f[1].startswith(_RULES) and f[1] not in ("RLX207", "RLX208")]
    return sorted(about, key=lambda f: (not f[0], f[2] != "always-wrong", f))


def signature(reply: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The class of a reply and what tells it from others of its class; None where all is as it should be."""
    found, ends = findings(reply), reply["ends"]
    if reply.get("failures"):
        return ("analysis failed", plain(reply["failures"][0]))
    if ends in ("differs", "crash"):
        if found:
            made_by, rule, verdict = found[0]
            return ("foretold", made_by or "as given", rule, verdict)
        kind = "unforetold" if ends == "differs" else "crash"
        return (kind, reply["pipeline"], plain(reply.get("message", "")))
    if ends == "timeout":
        return ("timeout", reply["pipeline"])
    if ends == "refused":
        return ("refused", plain(reply.get("message", "")))
    alarms = [rule for rule in reply.get("alarms", ()) if rule.startswith(_RULES)]
    if alarms and not any(finding[2] == "always-wrong" for finding in found):
        return ("false alarm", *alarms)
    wrong = [row for row in reply.get("memory", ()) if of_memory(row) == "differs"]
    if wrong:
        return ("memory", reply["pipeline"], wrong[0]["allocator"])
    certain = [finding for finding in found if finding[0] and finding[2] == "always-wrong"]
    if ends == "same" and certain:
        return ("not confirmed", *certain[0][:2])
    others = [rule for rule in reply.get("alarms", ()) if not rule.startswith(_RULES)]
    return ("certain", *others) if others else None


def of_memory(row: Mapping[str, Any]) -> str:
    """Whether what was measured is what our totals say."""
    if row["predicted"] is None:
        return "unknown"
    return "same" if row["predicted"] == row["measured"] else "differs"


def plain(message: str) -> str:
    """A message without what differs from program to program."""
    return _NUMBERS.sub("#", message)[:160]
