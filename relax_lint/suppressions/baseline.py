"""The baseline: a file with the findings of today, which are accepted until they are gone."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from relax_lint.results.check import Check, Suppression
from relax_lint.results.identity import identities
from relax_lint.results.report import Report
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import unreadable_codes
from relax_lint.support.bounded_json import read_json
from relax_lint.support.errors import UserError
from relax_lint.support.escaping import readable_json
from relax_lint.support.regular_file import read_regular

VERSION = 1
_MAX_BYTES = 32 << 20


class BaselineError(UserError, ValueError):
    """A baseline that cannot be read or written; the text says which and why."""


@dataclass(frozen=True, order=True)
class Entry:
    """One accepted finding. `id` is that of the JSON report, with `path` seen from the folder of the
    baseline; `where` names the function and the binding, for people.
    """

    path: str
    rule: str
    where: str
    id: str
    verdict: str

    def __str__(self) -> str:
        return f"{self.path}: {self.rule}" + (f" in {self.where}" if self.where else "")


def read_baseline(path: str) -> tuple[Entry, ...]:
    """The entries of a file, in order, each once. Raises BaselineError."""
    try:
        data = read_json(
            read_regular(path, _MAX_BYTES).decode(errors="surrogateescape"), max_bytes=_MAX_BYTES
        )
    except FileNotFoundError:
        raise BaselineError(f"the baseline {path} does not exist: `--write-baseline` creates it") from None
    except OSError as error:
        raise BaselineError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise BaselineError(f"{path}: not a baseline: {error}") from None
    match data:
        case {"version": 1, "findings": [*found]}:
            return tuple(sorted({_entry(path, one) for one in found}))
        case {"version": int(version)} if version > VERSION:
            raise BaselineError(f"{path}: written by a newer version of relax-lint")
    raise BaselineError(f"{path}: not a baseline of relax-lint")


def write_baseline(path: str, entries: Iterable[Entry]) -> None:
    """Write the entries, sorted, a line for each, so that branches can be merged. Raises BaselineError."""
    lines = [readable_json(_plain(entry)) for entry in sorted(set(entries))]
    body = "".join(
        f"\n    {line}{',' if number < len(lines) else ''}" for number, line in enumerate(lines, 1)
    )
    text = f'{{\n  "version": {VERSION},\n  "findings": [{body}{chr(10) + "  " if lines else ""}]\n}}\n'
    temporary = f"{path}.{secrets.token_hex(8)}.new"
    try:
        # A link that stands at either name is not written through.
        with open(temporary, "x", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError as error:
        raise BaselineError(f"cannot write {path}: {error.strerror}") from None


def entries_of(report: Report, folder: str) -> tuple[Entry, ...]:
    """An entry for each finding of a report that is not accepted yet. `folder` is that of the baseline."""
    checks = report.checks
    return tuple(
        _entry_of(check, identity)
        for check, identity in zip(_seen_from(folder, checks), _identities(checks, folder), strict=True)
        if _is_open(check)
    )


def accept(report: Report, entries: Iterable[Entry], folder: str) -> Report:
    """The report with the accepted findings marked. A finding whose verdict has become worse since it was
    accepted is not the one that was.
    """
    accepted = {entry.id: entry for entry in entries}
    found = iter(_identities(report.checks, folder))
    files = []
    for file in report.files:
        checks = []
        for check in file.checks:
            entry = accepted.get(next(found))
            if entry is not None and _is_open(check) and not _is_worse(check, entry):
                check = replace(check, suppressed=True, suppressed_by=Suppression("baseline"))
            checks.append(check)
        files.append(replace(file, checks=tuple(checks)))
    return replace(report, files=tuple(files))


def stale(
    report: Report, entries: Iterable[Entry], folder: str, was_run: Mapping[str, Mapping[str, bool]]
) -> tuple[Entry, ...]:
    """The entries that match nothing any more, by a report before it was accepted: their finding is gone
    from a file that was judged in full, by rules that were on, or the file itself is gone.

    `was_run` says for the path of each input whether a rule was on for it, by its code.
    """
    open_now = {entry.id for entry in entries_of(report, folder)}
    judged = {}
    unreadable = unreadable_codes()
    for file in report.files:
        complete = not any(check.rule in unreadable for check in file.checks)
        judged[_relative(file.input.path, folder)] = (file.input.path, complete)
    gone = []
    for entry in entries:
        if entry.id in open_now:
            continue
        if entry.path in judged:
            path, complete = judged[entry.path]
            over = was_run[path].get(entry.rule, False) and (complete or entry.rule in unreadable)
        else:
            over = not os.path.exists(os.path.join(folder, entry.path))
        gone += [entry] if over else []
    return tuple(gone)


def _entry(path: str, data: Any) -> Entry:
    names = [field.name for field in fields(Entry)]
    if not isinstance(data, dict) or not all(isinstance(data.get(name), str) for name in names):
        raise BaselineError(f"{path}: not an entry of a baseline: {json.dumps(data):.80}")
    return Entry(**{name: data[name] for name in names})


def _plain(entry: Entry) -> dict[str, str]:
    return {name: getattr(entry, name) for name in ("id", "path", "rule", "verdict", "where")}


def _entry_of(check: Check, identity: str) -> Entry:
    names = ".".join(filter(None, (check.module, check.function)))
    where = ": ".join(filter(None, (names, check.binding)))
    return Entry(check.path, check.rule, where, identity, check.verdict.value)


def _is_open(check: Check) -> bool:
    return check.severity is not Severity.NONE and not check.suppressed


def _is_worse(check: Check, entry: Entry) -> bool:
    return check.verdict is Verdict.ALWAYS_WRONG and entry.verdict != Verdict.ALWAYS_WRONG.value


def _identities(checks: Iterable[Check], folder: str) -> tuple[str, ...]:
    return identities(_seen_from(folder, checks))


def _seen_from(folder: str, checks: Iterable[Check]) -> list[Check]:
    paths: dict[str, str] = {}
    found = []
    for check in checks:
        if check.path not in paths:
            paths[check.path] = _relative(check.path, folder)
        found.append(replace(check, path=paths[check.path]))
    return found


def _relative(path: str, folder: str) -> str:
    return os.path.relpath(path or ".", folder or ".").replace(os.sep, "/")
