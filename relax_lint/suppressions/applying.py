"""Which findings the ignore comments of a file accept, and which comments are of no use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

from relax_lint.results.check import Check, Edit, Fix, Suppression
from relax_lint.results.problem import ProblemKind
from relax_lint.results.report import FileResult
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import Acceptance, Rule, load_rules, rule_of, unreadable_codes
from relax_lint.sources.ignore_comment import IgnoreComment, directive_text, joined
from relax_lint.support.lazy_dataclass import dataclass


@dataclass(frozen=True)
class _Entry:
    """One of the rules that a comment names: the codes that it suppresses, or what is wrong with it."""

    written: str
    codes: tuple[str, ...] = ()
    problem: str = ""


def apply_comments(
    result: FileResult, comments: Sequence[IgnoreComment], was_run: Mapping[str, bool]
) -> FileResult:
    """The result with its accepted findings marked, and a finding for each comment that is of no use.

    `was_run` says for the code of each rule whether it was on for the file.
    """
    rules = load_rules()
    named = [(comment, [_entry(written, rules) for written in comment.rules]) for comment in comments]
    used: set[tuple[IgnoreComment, str]] = set()
    checks: list[Check] = []
    for check in result.checks:
        reasons = []
        for comment, entries in named if check.severity is not Severity.NONE else ():
            if not comment.covers(check.location):
                continue
            fitting = [entry for entry in entries if check.rule in entry.codes]
            if fitting:
                used |= {(comment, entry.written) for entry in fitting}
                reasons.append(comment.reason)
        by = Suppression("comment", joined(reasons))
        checks.append(replace(check, suppressed=True, suppressed_by=by) if reasons else check)
    unused = rule_of(ProblemKind.UNUSED_SUPPRESSION).code
    if was_run[unused]:
        # A block that could not be looked at may hold what a comment is there for.
        complete = not any(check.rule in unreadable_codes() for check in result.checks)
        for comment, entries in named:
            idle = {
                entry.written
                for entry in entries
                if complete and (comment, entry.written) not in used and _all_were_run(entry, rules, was_run)
            }
            checks += _complaints(result.input.path, comment, entries, idle, rules[unused])
    return replace(result, checks=tuple(checks))


def _entry(written: str, rules: Mapping[str, Rule]) -> _Entry:
    whole = [code for code, rule in rules.items() if written in (code, rule.name)]
    if whole and rules[whole[0]].acceptance is Acceptance.NEVER:
        return _Entry(written, problem=f"no comment suppresses `{written}`")
    if whole:
        return _Entry(written, tuple(whole))
    begun = [code for code in rules if written and code.startswith(written)]
    # A finding that a block was not analysed is accepted only by its whole code or name, so that this is not
    # done by accident.
    codes = tuple(code for code in begun if rules[code].acceptance is Acceptance.BY_PREFIX)
    if begun and (not codes or not written[-1].isdigit()):
        return _Entry(written, problem=f"the prefix `{written}` is too broad: write the whole code")
    if codes:
        return _Entry(written, codes)
    known = [*rules, *(rule.name for rule in rules.values())]
    near = get_close_matches(written, known, n=1, cutoff=0.7)
    hint = f"; did you mean `{near[0]}`?" if near else ""
    return _Entry(written, problem=f"unknown rule `{written}`{hint}")


def _all_were_run(entry: _Entry, rules: Mapping[str, Rule], was_run: Mapping[str, bool]) -> bool:
    """Whether every rule of an entry was on; of several, those that are off by default need not be."""
    several = len(entry.codes) > 1
    wanted = [code for code in entry.codes if rules[code].default or not several]
    return bool(wanted) and all(was_run[code] for code in wanted)


def _complaints(
    path: str, comment: IgnoreComment, entries: Sequence[_Entry], idle: set[str], rule: Rule
) -> Iterator[Check]:
    wrong = [entry.problem for entry in entries if entry.problem]
    kept = tuple(entry.written for entry in entries if not entry.problem and entry.written not in idle)
    if comment.problem:
        yield _complaint(path, comment, rule, f"this comment cannot be understood: {comment.problem}", ())
    for problem in wrong:
        yield _complaint(path, comment, rule, problem, ())
    if idle:
        names = ", ".join(f"`{entry.written}`" for entry in entries if entry.written in idle)
        message = (
            f"this comment suppresses nothing: {names}" if not kept else f"unused in this comment: {names}"
        )
        yield _complaint(path, comment, rule, message, () if wrong else _removing(comment, kept))


def _complaint(path: str, comment: IgnoreComment, rule: Rule, message: str, fixes: tuple[Fix, ...]) -> Check:
    return Check(
        rule=rule.code,
        name=rule.name,
        verdict=Verdict.ALWAYS_WRONG,
        severity=rule.severity_of(Verdict.ALWAYS_WRONG),
        message=message,
        path=path,
        module=None,
        function=None,
        location=comment.location,
        proof="compared with the findings",
        fixes=fixes,
    )


def _removing(comment: IgnoreComment, kept: tuple[str, ...]) -> tuple[Fix, ...]:
    if kept:
        word = "ignore-file" if comment.scope is None else "ignore"
        edit = Edit(comment.location, directive_text(word, kept, comment.reason))
        return (Fix("remove the unused codes", "safe", (edit,)),)
    if comment.removal is None:
        return ()
    return (Fix("remove the comment", "safe", (Edit(comment.removal, ""),)),)
