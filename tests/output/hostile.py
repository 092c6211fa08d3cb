"""Strings that somebody writes who wants a report to do something, a report full of them, and readers that do what a
terminal or a CI system would.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import Any

from hypothesis import strategies as st

from relax_lint.results.check import Edit, Fix, ProofRecord, Related, Suppression
from relax_lint.results.confirmation import Confirmation, Run, Status
from relax_lint.results.memory_figures import (
    Amount,
    CallMemory,
    Estimate,
    OverRange,
    Piece,
    PlaceOfPeak,
    Resident,
    SymbolRange,
    Tenure,
    Timeline,
)
from relax_lint.results.report import FileResult, InputStatus, Report
from tests.output.builders import failing, fine, overflow, place, totals

FRAGMENTS = (
    "\n", "\r", "\r\n", "\t", "\0", "\x07", "\b", "\x0b", "\x0c", "\x1c", "\x7f", "\x85", "\x9b2J", "\u2028", "\u2029",
    "\x1b[2J", "\x1b]0;title\x07", "\x1b]8;;http://a.invalid\x1b\\", "\x1bP", "\x1b[8m",
    "\u202a", "\u202e", "\u2066", "\u2069", "\u200f", "\u061c", "\u200b", "\u200d", "\ufeff", "\u00ad", "\u3164",
    "\U000e0041", "\U000e0100", "\udcff", "\ud800", "\ue000", "\uffff", "\u0301", "\u3000", "\u00a0", "漢", "é", "😀",
    "::error file=x::y", "::", ":", "::stop-commands::x", "::add-mask::e", "##[error]x", "##[", "#", "##", "###[group]x",
    "##vso[task.setvariable variable=a]b", "##teamcity[message text='a']", "##[add-mask]e",
    "]]>", "<!--", "</script>", "<script>alert(1)</script>", "&amp;", "&#27;", "<", ">", "'", '"', "\\", "`", "```",
    "[a](http://a.invalid)", "{0}", "{{", "%0A", "%25", "%s", "$(id)", "a,b=c", "../../x", "/etc/passwd", "-rf", "|", ";",
    "--- a/other", "+++ b/other", "@@ -1 +1 @@", " ", "name", "n", "0", "\\u0041", "\\n", "\\ud800",
)  # fmt: skip

strings = st.lists(st.sampled_from(FRAGMENTS), max_size=6).map("".join)
"""Hostile strings."""

# What rules, options and this package decide; nothing of it comes from a linted file.
_OURS = frozenset({"rule", "name", "applicability", "status", "kind", "tvm_version", "example", "file"})
_OURS_BY_CLASS: dict[str, set[str]] = {"SymbolRange": set(), "Resident": set(), "Tenure": set()}
_OUR_KEYS = frozenset({"allocators", "reserved", "unknown", "over_range", "repeated", "lines"})


def poisoned(value: Any, text: str) -> Any:
    """A part of the result model with `text` in the place of every string that a linted file may decide."""
    if isinstance(value, Enum) or (not isinstance(value, str | tuple | Mapping) and not is_dataclass(value)):
        return value
    if isinstance(value, str):
        return text
    if isinstance(value, tuple):
        return tuple(poisoned(item, text) for item in value)
    if isinstance(value, Mapping):
        return {text if isinstance(key, str) else key: poisoned(item, text) for key, item in value.items()}
    ours = _OURS_BY_CLASS.get(type(value).__name__, _OURS)
    changed: dict[str, Any] = {}
    for field in fields(value):
        part = getattr(value, field.name)
        if field.name in _OUR_KEYS:
            changed[field.name] = {key: poisoned(item, text) for key, item in part.items()}
        elif field.name not in ours:
            changed[field.name] = poisoned(part, text)
    whole: Any = value
    copy: Any = replace(whole, **changed)
    return copy


@lru_cache(maxsize=512)
def hostile_report(text: str) -> Report:
    """A report with `text` in each of its fields that a linted file may decide."""
    edits = (Edit(place(8, 1, 1), "new"), Edit(place(9, 3, 5), "new"))
    runs = (Run("wrong", "main(n=1)", "naive", "failed"),)
    common: dict[str, Any] = {
        "related": (
            Related("here", place(8, 2, 4)),
            Related("there", None),
            Related("elsewhere", place(3, 1, 2, path="x")),
        ),
        "origins": (Related("comes from", place(1, 1, 2)),),
        "assumes": ("n <= 4",),
        "notes": ("a note",),
        "help": ("a remedy",),
        "proof": "why",
        "fixes": (Fix("mend", "safe", edits), Fix("mend otherwise", "unsafe", edits[:1])),
        "confirmation": Confirmation(Status.CONFIRMED, "seen", runs),
        "proof_record": ProofRecord("because\n", False),
        "allocators": failing({"m": 5}, {"m": 7}),
    }
    accepted = overflow(suppressed=True, suppressed_by=Suppression("comment", "reason"), **common)
    script = replace(fine(), proof_record=ProofRecord("; a claim\n(assert true)\n", True))
    checks = (
        overflow(**common),
        overflow(**{**common, "safe_when": None, "binding": "alloc"}),
        overflow(**{**common, "location": None, "binding_index": None}),
        overflow(rule="RLX901", name="parse-error", **{**common, "location": None}),
        accepted,
        script,
    )  # fmt: skip
    tenure = Tenure("storage", 0, 0, 0, 1, "global", 0, 3, (Resident("alloc", 0, 0, 0, 1),))
    memory = totals(
        peak_at=PlaceOfPeak("lv", place(3, 1, 2)),
        calls=(CallMemory("f", "lv", Amount("4*m", None)),),
        symbols=(SymbolRange("m", 1, 4),),
        bindings={"m": 4},
        unknown={"lower_bound": "no reason"},
        over_range={"peak_live": OverRange(16, {"m": 4}, (Piece(1, 2, "4*m"), Piece(3, 4, "16")))},
        timelines=(Timeline("branch", ("alloc",), ("4*m",), (tenure,)),),
        peak_live=Amount("4*m", None),
        by_scope={"global": Amount("4*m", None), "local": None},
    )
    status = InputStatus("model.py", 1, "checked", "why", ("a note",))
    lines = {8: "        storage = R.memory", 9: "        alloc"}
    estimate = Estimate("main", 1, 16, 1, 1, 16)
    file = FileResult(status, checks, (memory,), lines, ((estimate,),))
    report: Report = poisoned(Report((file,), "0.27.0", ("a note",), ("gone",)), text)
    # The proof of a verdict in words is the linter's; that for a solver holds names only where it may.
    return report


def commands(text: str) -> Iterator[str]:
    """What a CI system carries out of a log: GitHub Actions, Azure Pipelines, TeamCity."""
    for line in re.split(r"\r\n|\r|\n", text):
        if line.lstrip().startswith("::") or re.search(r"##(\[|vso\[|teamcity\[)", line):
            yield line


def controls(text: str) -> set[str]:
    """What a terminal would not show but carry out or hide, line feeds and our own colours left out."""
    plain = re.sub(r"\x1b\[(0|1|1;3[1346])m", "", text).replace("\n", "")
    return {
        c
        for c in set(plain)
        if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") or c in "\u3164\U000e0100"
    }
