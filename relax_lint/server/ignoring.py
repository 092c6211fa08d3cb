"""Code actions that accept a finding by a comment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lsprotocol import types

from relax_lint.results.check import Check, Edit
from relax_lint.results.location import Location
from relax_lint.rule import Acceptance, load_rules
from relax_lint.server.messages import DocumentResult, diagnostic, workspace_edit
from relax_lint.sources.ignore_comment import directive_text

_CODING = re.compile(r"^[ \t\f]*#.*?coding[:=]")


def acceptable(judged: DocumentResult, where: types.Range) -> list[Check]:
    """The findings in a range that a comment can accept, one for each rule and location."""
    found: dict[tuple[str, Location], Check] = {}
    for check in judged.touching(where):
        rule = load_rules().get(check.rule)
        if rule is None or rule.acceptance is Acceptance.NEVER or check.location is None:
            continue
        found.setdefault((check.rule, check.location), check)
    return list(found.values())


def line_action(
    check: Check, edits: Iterable[Edit], judged: DocumentResult, *, versioned: bool
) -> types.CodeAction:
    """The action that writes a comment behind the statement of a finding."""
    return _action(f"{check.rule}: ignore this line", check, edits, judged, versioned)


def file_actions(
    checks: Iterable[Check], judged: DocumentResult, *, versioned: bool
) -> Iterator[types.CodeAction]:
    """The actions that write a comment for the whole file, one for each rule, at its beginning."""
    for check in {check.rule: check for check in checks}.values():
        line = _first_free_line(judged.ruler.lines)
        here = Location(check.path, line, 1, line, 1)
        edit = Edit(here, directive_text("ignore-file", (check.rule,), "") + "\n")
        yield _action(f"{check.rule}: ignore in this file", check, [edit], judged, versioned)


def _action(
    title: str, check: Check, edits: Iterable[Edit], judged: DocumentResult, versioned: bool
) -> types.CodeAction:
    return types.CodeAction(
        title=title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic(check, judged)],
        edit=workspace_edit(edits, judged, versioned=versioned),
    )


def _first_free_line(lines: Iterable[str]) -> int:
    """The first line that may be a comment of ours: behind `#!` and the declaration of an encoding."""
    number = 1
    for line in list(lines)[:2]:
        if line.startswith("#!") or _CODING.match(line):
            number += 1
        else:
            break
    return number
