"""What became of one input before the configuration has its say: plain data that can be kept and sent."""

from __future__ import annotations

import json
from collections.abc import Iterable

from relax_lint.results.check import Check
from relax_lint.results.report import FileResult
from relax_lint.rule import load_rules
from relax_lint.sources.ignore_comment import IgnoreComment
from relax_lint.support.bounded_json import read_json
from relax_lint.support.codec import decode, encode
from relax_lint.support.lazy_dataclass import dataclass

MAX_TEXT_BYTES = 32 << 20
"""The length of a text that is read: an outcome comes from a cache or another machine."""


@dataclass(frozen=True)
class Outcome:
    """`comments` are the ignore comments of the input, `assumptions` those of the configuration that are
    about one of its functions. `repeatable` is False where something crashed or ran over a limit: another
    time, or on another machine, it may not. `tvm_version` is None where TVM was not needed.
    `gaps` is what the sandbox lacked where the work was done elsewhere.
    """

    result: FileResult
    comments: tuple[IgnoreComment, ...] = ()
    assumptions: tuple[str, ...] = ()
    repeatable: bool = True
    tvm_version: str | None = None
    gaps: tuple[str, ...] = ()


def outcome_text(outcome: Outcome) -> str:
    """The outcome as one line of JSON."""
    return json.dumps(encode(outcome), separators=(",", ":"))


def read_outcome(text: str) -> Outcome:
    """The outcome that was written so. Raises ValueError for any other text, and for one of more than
    MAX_TEXT_BYTES.
    """
    outcome = decode(Outcome, read_json(text, max_bytes=MAX_TEXT_BYTES))
    require_known_rules(outcome.result.checks)
    return outcome


def require_known_rules(checks: Iterable[Check]) -> None:
    """Raise ValueError for a check of a rule that this process does not have."""
    rules = load_rules()
    for check in checks:
        if check.rule not in rules:
            raise ValueError(f"no rule {check.rule[:20]!r}")
