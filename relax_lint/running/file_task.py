"""The work on one input, as a worker process does it: units are read, then parsed and judged one by one.

Each step is one answer, so that a crash in a unit costs that unit only. Importing this module imports no
TVM: an input that turns out to hold no unit never pays for it.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from relax_lint.results.check import Check
from relax_lint.results.location import Location
from relax_lint.results.problem import Problem
from relax_lint.results.verdict import Severity
from relax_lint.rule import load_rules
from relax_lint.running.messages import (
    LOWERING,
    Answer,
    Doing,
    FileData,
    Impossible,
    Loaded,
    UnitHead,
    UnitList,
)
from relax_lint.running.sandbox.entering import seal
from relax_lint.settings.config import Config
from relax_lint.sources import text as source_text
from relax_lint.sources.models import load_model, refused
from relax_lint.sources.reading import read_units
from relax_lint.sources.spelling import json_text
from relax_lint.sources.text import SourceText, UndecodableError
from relax_lint.sources.unit import ParsedUnit
from relax_lint.support.codec import encode

_SHORT_PLACE_LINES = 6
_NOT_LOWERED = (
    "a model allocates nothing explicitly: `--lower` shows what TVM's pipeline allocates for a target"
)


def analyse(file: FileData, config: Config, first: int) -> Iterator[Any]:
    """Read an input and judge its units from number `first` on: `UnitList`, then, where there are such units,
    `Loaded` and one `UnitResult` each, with `Doing` in between, all as `read_answer` takes them.
    """
    for answer in _answers(file, config, first):
        yield [type(answer).__name__, encode(answer)]


def load() -> Iterator[str]:
    """Load what an analysis needs, on no input: the version of TVM."""
    from relax_lint.sources import parsing

    del parsing
    yield _loaded().tvm_version


def _answers(file: FileData, config: Config, first: int) -> Iterator[Answer]:
    lines = _lines(file)
    for step in _steps(file, lines, first, config):
        if isinstance(step, UnitList | Loaded | Doing):
            yield step
            continue
        from relax_lint.judging.report import check_parsed

        if config.lower and isinstance(step, ParsedUnit):
            from relax_lint.sources.lowering import LoweringError, read_target

            try:
                read_target(config.target_or_default)
            except LoweringError as error:
                yield Impossible(str(error))
                return
            yield Doing(f"{LOWERING} {config.target_or_default}")
            step = _lowered(file, step, config)
            yield Doing("judging")
        result = check_parsed(step, file.path, config)
        yield replace(result, lines=_quoted(lines, file.path, _places(result.checks)))


def _lowered(file: FileData, step: ParsedUnit, config: Config) -> ParsedUnit:
    """A unit after memory planning. A model that cannot be lowered with its weights as parameters is, with
    constants, if that helps.
    """
    from relax_lint.sources.lowering import lower_unit

    target, required = config.target_or_default, not config.memory.lowers
    lowered = lower_unit(step, target, required=required)
    if file.source is None or not lowered.skipped or config.weights == "constants":
        return lowered
    again = load_model(file.source, file.kind, file.path, constant_weights=True)
    if not isinstance(again, ParsedUnit):
        return lowered
    other = lower_unit(again, target, required=required)
    if other.skipped:
        return lowered
    note = f"with weights as parameters it cannot be lowered: {lowered.skipped[0].reason}"
    return replace(other, notes=(*other.notes, note))


_Steps = Iterator[UnitList | Loaded | Doing | ParsedUnit | Problem]


def _steps(file: FileData, lines: list[str], first: int, config: Config) -> _Steps:
    if file.source is not None:
        return _model(file, file.source, first, config)
    if file.kind == "json":
        return _saved_module(file, first)
    return _text_units(file, lines, first, config.dialect)


def _text_units(file: FileData, lines: list[str], first: int, dialect: str) -> _Steps:
    found = read_units(file.data, file.path, file.kind)
    heads = tuple(UnitHead(unit.name, _head(unit.text.location(unit.node))) for unit in found.units)
    places = [head.location for head in heads] + [problem.location for problem in found.problems]
    places += [comment.location for comment in found.comments]
    yield UnitList(
        heads,
        found.problems,
        found.comments,
        _quoted(lines, file.path, places),
        _skipped(found.meant_to_fail),
    )
    if first >= len(found.units):
        return
    from relax_lint.sources.opaque.reading import read_unit

    yield _loaded()
    seal()
    for unit in found.units[first:]:
        yield read_unit(unit, dialect)


def _skipped(meant_to_fail: int) -> tuple[str, ...]:
    if not meant_to_fail:
        return ()
    units = f"{meant_to_fail} unit{'' if meant_to_fail == 1 else 's'}"
    return (f"{units} inside `pytest.raises` skipped: meant to fail",)


def _saved_module(file: FileData, first: int) -> _Steps:
    text = json_text(file.data)
    if not file.named and not _is_saved_ir(text):
        yield UnitList(())
        return
    yield UnitList((UnitHead(None, None),))
    if first > 0:
        return
    from relax_lint.sources.saved import parse_json

    yield _loaded()
    seal()
    yield parse_json(text, file.path)


def _model(file: FileData, source: str, first: int, config: Config) -> _Steps:
    refusal = refused(file.path, file.kind, trusted=config.trust_models)
    if refusal is not None:
        yield UnitList((), (refusal,))
        return
    yield UnitList((UnitHead(None, None),))
    if first > 0:
        return
    yield _loaded()
    yield Doing("importing")
    if file.kind == "onnx":
        from relax_lint.sources.models import onnx_file

        del onnx_file
    seal()
    model = load_model(source, file.kind, file.path, constant_weights=config.weights == "constants")
    if isinstance(model, ParsedUnit) and not config.lower:
        model = replace(model, notes=(*model.notes, _NOT_LOWERED))
    yield model


def _is_saved_ir(text: str) -> bool:
    from relax_lint.sources.saved import is_saved_ir

    try:
        return is_saved_ir(json.loads(text))
    except (ValueError, RecursionError):
        # It mentions what saved IR mentions and is damaged: that has to be said.
        return True


def _loaded() -> Loaded:
    from relax_lint.judging import report
    from relax_lint.sources.machine import keep_to_the_text
    from relax_lint.vm import versions

    del report
    keep_to_the_text()
    # What TVM and sympy hold is there to stay: the collector need not go through it for every unit.
    gc.freeze()
    return Loaded(versions.VERSION, tuple(load_rules()))


def _head(location: Location) -> Location:
    """The first line of a place, without its extent: a unit may be hundreds of lines long."""
    return replace(location, end_line=location.line, end_column=location.column + 1)


def _lines(file: FileData) -> list[str]:
    if file.kind == "json" or file.source is not None:
        return []
    try:
        return SourceText(file.path, source_text.decode(file.data)).lines
    except UndecodableError:
        return []


def _places(checks: Iterable[Check]) -> Iterator[Location | None]:
    for check in checks:
        if check.severity is not Severity.NONE:
            yield check.location
            yield from (related.location for related in check.related)
            yield from (edit.location for fix in check.fixes for edit in fix.edits)


def _quoted(lines: list[str], path: str, places: Iterable[Location | None]) -> dict[int, str]:
    """The text at the places: every line of a short one, the first and the last of a long one."""
    wanted: set[int] = set()
    for place in places:
        if place is None or place.path != path:
            continue
        wanted |= {place.line, place.end_line}
        if place.end_line - place.line < _SHORT_PLACE_LINES:
            wanted |= set(range(place.line, place.end_line))
    return {number: lines[number - 1] for number in sorted(wanted) if 1 <= number <= len(lines)}
