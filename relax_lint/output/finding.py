"""One finding as text: headline, source with carets, and what is known about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from relax_lint.output.patch import patch_lines
from relax_lint.output.snippet import Mark, draw
from relax_lint.output.style import Style
from relax_lint.results.check import AllocatorFailure, Check, Fix, Related
from relax_lint.results.location import Location
from relax_lint.results.verdict import Verdict
from relax_lint.rule import is_source_problem, load_rules
from relax_lint.support.escaping import printable, printable_lines

_OTHERS_NAMED = 8


def finding_lines(
    check: Check, lines: Mapping[int, str], style: Style, others: Sequence[Check] = ()
) -> Iterator[str]:
    """The lines of one finding. `lines` is the text of its file, by line number; `others` are findings that
    one and the same condition decides, which are only named.
    """
    severity = check.severity.value
    title = style.link(style.paint(severity, f"{severity}[{check.rule}]"), _page(check, style))
    yield f"{title} {style.paint('strong', f'{check.name}: {printable(check.message)}')}"
    marks = _marks(check, lines)
    number_width = max((len(str(mark.end_line)) for mark in marks), default=1)
    margin = " " * number_width
    yield f"{margin}{style.paint('frame', '-->')} {_where(check)}"
    if marks:
        yield f"{margin} {style.paint('frame', '|')}"
        yield from draw(marks, lines, style, number_width)
        yield f"{margin} {style.paint('frame', '|')}"
    for word, text in (*_facts(check, lines), *_named(others)):
        head, *rest = printable_lines(text)
        yield f"{margin} {style.paint('frame', '=')} {style.paint('strong', word)}{head}"
        # A line of a log that begins with `::` is a command to GitHub, after blanks too.
        bar = style.paint("frame", "|")
        yield from (f"{margin} {bar} {' ' * len(word)}{line}" for line in rest)
    for fix, option in _options(check.fixes):
        yield from _fix_lines(fix, option, lines, style, margin)


def _page(check: Check, style: Style) -> str:
    """The address of the page of its rule, where links are shown."""
    rule = load_rules().get(check.rule) if style.links else None
    return "" if rule is None else rule.page.absolute().as_uri()


def headline(check: Check, style: Style) -> str:
    """A finding in one line: place, severity, rule, message, and where it is safe."""
    title = style.paint(check.severity.value, f"{check.severity.value}[{check.rule}]")
    region = safe_region(check)
    known = f" ({printable(region)})" if region else ""
    return f"{_where(check)}: {title} {printable(check.message)}{known}"


def details(check: Check) -> Iterator[str]:
    """What is known about a finding besides its headline: the verdict, the safe region, and so on, each with
    the line breaks that it has.
    """
    for word, text in _facts(check, {}):
        yield word + "\n".join(printable_lines(text))
    for fix, option in _options(check.fixes):
        yield f"{_fix_word(option)}{printable(fix.title)}{option}"


def _options(fixes: Sequence[Fix]) -> Iterator[tuple[Fix, str]]:
    """The fixes that change the text, each with the option that applies it; nothing for an alternative."""
    editing = [fix for fix in fixes if fix.edits]
    safe = next((fix for fix in editing if fix.applicability == "safe"), None)
    for fix in editing:
        if fix is safe:
            yield fix, " (`--fix`)"
        else:
            yield fix, " (`--fix --unsafe-fixes`)" if fix is editing[0] else ""


def _fix_lines(fix: Fix, option: str, lines: Mapping[int, str], style: Style, margin: str) -> Iterator[str]:
    """What a fix is, how it is applied, and the lines that it changes."""
    patch = list(patch_lines(fix.edits, lines)) if fix.edits else []
    if not patch:
        return
    word = style.paint("strong", _fix_word(option))
    yield f"{margin} {style.paint('frame', '=')} {word}{printable(fix.title)}{option}"
    number_width = max(len(str(line.number)) for line in patch)
    for line in patch:
        number = style.paint("frame", f"{line.number:>{number_width}} {line.sign}")
        yield f"{margin}   {number} {printable(line.text)}".rstrip()


def _fix_word(option: str) -> str:
    return "fix: " if option else "or: "


def allocator_text(failures: Mapping[str, AllocatorFailure]) -> str:
    """From where on each allocator refuses: `naive fails from m = 5; pooled hides it until m = 1025`."""
    naive, pooled = failures.get("naive"), failures.get("pooled")
    if naive is None or pooled is None:
        return "; ".join(f"{name} {_fails(failure)}" for name, failure in failures.items())
    if naive == pooled:
        if not naive.known:
            return "the first failure on naive and pooled is unknown"
        if naive.first_failure is None:
            return "neither naive nor pooled ever fails"
        return f"naive and pooled both {_fails(naive).replace('fails', 'fail', 1)}"
    if not (naive.known and pooled.known) or naive.first_failure is None:
        return f"naive {_fails(naive)}; pooled {_fails(pooled)}"
    if pooled.first_failure is None:
        return f"naive {_fails(naive)}; pooled always hides it"
    if not naive.first_failure:
        return f"naive {_fails(naive)}; pooled {_fails(pooled)}"
    return f"naive {_fails(naive)}; pooled hides it until {assignment_text(pooled.first_failure)}"


def assignment_text(assignment: Mapping[str, int]) -> str:
    """`m = 4, n = 2`."""
    return ", ".join(f"{printable(name)} = {value}" for name, value in assignment.items())


def _fails(failure: AllocatorFailure) -> str:
    if not failure.known:
        return "fails for unknown inputs"
    if failure.first_failure is None:
        return "never fails"
    if not failure.first_failure:
        return "fails on every input"
    # With one symbol what fails at one value fails beyond; with more a point is only a point.
    word = "from" if len(failure.first_failure) == 1 else "at"
    return f"fails {word} {assignment_text(failure.first_failure)}"


def _facts(check: Check, lines: Mapping[int, str]) -> Iterator[tuple[str, str]]:
    if not is_source_problem(check.rule):
        yield "verdict: ", _verdict(check)
    known = "; ".join(filter(None, (safe_region(check), allocator_text(check.allocators))))
    if known:
        yield "", known
    for assumption in check.assumes:
        yield "assumes: ", assumption
    for related in check.related:
        if not _is_quoted(related.location, check.path, lines):
            yield "note: ", _elsewhere(related)
    for note in check.notes:
        yield "note: ", note
    if check.confirmation is not None:
        yield "replayed: ", f"{check.confirmation.status.value}: {check.confirmation.reason}"
    for help_text in check.help:
        yield "help: ", help_text


def _named(others: Sequence[Check]) -> Iterator[tuple[str, str]]:
    if not others:
        return
    names = [_brief(other) for other in others[:_OTHERS_NAMED]]
    if len(others) > _OTHERS_NAMED:
        names.append(f"{len(others) - _OTHERS_NAMED} more")
    yield "note: ", f"the same condition decides {', '.join(names)}"


def _brief(check: Check) -> str:
    name = f"`{check.binding}`" if check.binding is not None else "the function"
    return name if check.location is None else f"{name} ({check.location.line_in_words})"


def _verdict(check: Check) -> str:
    if check.undecided:
        return f"{check.verdict.value} (undecided)"
    if check.verdict is Verdict.NEEDS_RUNTIME_CHECK and check.fine is not None and check.wrong is not None:
        return f"{check.verdict.value} (safe for some inputs)"
    return check.verdict.value


def safe_region(check: Check) -> str:
    """`safe iff m <= 4`, or what is known where no such condition is; else nothing."""
    if check.safe_when is not None:
        return f"safe iff {check.safe_when}"
    if check.verdict is not Verdict.NEEDS_RUNTIME_CHECK:
        return ""
    parts = []
    if check.fine is not None:
        parts.append(f"fine for {assignment_text(check.fine)}" if check.fine else "fine on some path")
    if check.wrong is not None:
        parts.append(f"wrong for {assignment_text(check.wrong)}" if check.wrong else "wrong on some path")
    return ", ".join(parts)


def _where(check: Check) -> str:
    if check.location is not None:
        place = check.location
        return f"{printable(place.path)}{place.in_words}"
    names = [name for name in (check.module, check.function) if name]
    where = printable(check.path)
    if names:
        where += f", in `{printable('.'.join(names))}`"
    if check.binding is not None:
        where += f", at `{printable(check.binding)}`"
    if check.binding_index is not None:
        where += f" (binding {check.binding_index})"
    return where


def _elsewhere(related: Related) -> str:
    if related.location is None:
        return related.message
    place = related.location
    return f"{related.message}, at {place.path}{place.in_words}"


def _is_quoted(location: Location | None, path: str, lines: Mapping[int, str]) -> bool:
    return location is not None and location.path == path and location.line in lines


def _marks(check: Check, lines: Mapping[int, str]) -> list[Mark]:
    marks: list[Mark] = []
    if check.location is not None and _is_quoted(check.location, check.path, lines):
        marks.append(_mark(check.location, check.label, check.severity.value, lines, primary=True))
    for related in check.related:
        if related.location is not None and _is_quoted(related.location, check.path, lines):
            marks.append(_mark(related.location, related.message, "frame", lines, primary=False))
    return marks


def _mark(place: Location, label: str, kind: str, lines: Mapping[int, str], *, primary: bool) -> Mark:
    if place.end_line in lines:
        return Mark(place.line, place.column, place.end_line, place.end_column, label, kind, primary)
    return Mark(place.line, place.column, place.line, len(lines[place.line]) + 1, label, kind, primary)
