"""From the findings in one input to calls that can show them: a task for the worker processes.

Importing this imports no TVM; the task itself does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from relax_lint.running.messages import FileData
from relax_lint.sources.reading import read_units
from relax_lint.sources.spelling import json_text
from relax_lint.support.codec import decode, encode
from relax_lint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from relax_lint.model.program import Program
    from relax_lint.settings.config import Config
    from relax_lint.sources.unit import ParsedUnit, Unit

FUNCTION = f"{__name__}:prepare"
"""What the worker pool is asked to call."""


@dataclass(frozen=True)
class Sought:
    """A finding to be shown: where it is, and the assignments at which something is known to happen.

    `number` is how the caller knows it, `line` the line of its place in the text.
    """

    number: int
    module: str | None
    function: str
    binding_index: int | None
    line: int | None
    fine: Mapping[str, int] | None
    wrong: Mapping[str, int] | None
    first_failures: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Case:
    """What to run for one finding, each call as the texts of its arguments (`relax_lint.replay.values`).

    `wrong` and `fine` hold the same example with different contents of the tensors; `first_failures` is by
    allocator. `reason` says why there is nothing to run.
    """

    number: int
    names: tuple[str, ...] = ()
    wrong: tuple[tuple[str, ...], ...] = ()
    fine: tuple[tuple[str, ...], ...] = ()
    first_failures: Mapping[str, tuple[str, ...]] | None = None
    reason: str = ""


@dataclass(frozen=True)
class Prepared:
    """One module as saved IR, the same without any sharing of memory (if there is such a thing), and what to
    run of it.
    """

    module: str
    reference: str | None
    cases: tuple[Case, ...]


def read_prepared(value: Any) -> Prepared:
    """An answer of `prepare`, from what the worker pool delivers. Raises ValueError for anything else."""
    return decode(Prepared, value)


def prepare(file: FileData, config: Config, sought: tuple[Sought, ...]) -> Iterator[Any]:
    """One `Prepared` for each unit of the input that has one of the findings, as `read_prepared` takes it."""
    waiting = list(sought)
    for unit, line_range in _units(file):
        here = [one for one in waiting if _may_be_in(one, unit, line_range)]
        if not here:
            continue
        parsed = _parsed(file, unit, config)
        if parsed is None:
            continue
        prepared, done = _prepared(parsed, config, here)
        waiting = [one for one in waiting if one.number not in done]
        if prepared.cases:
            yield encode(prepared)


def _units(file: FileData) -> Iterable[tuple[Unit | None, range | None]]:
    if file.kind == "json":
        return [(None, None)]
    units = read_units(file.data, file.path, file.kind).units
    return [(unit, _lines(unit)) for unit in units]


def _lines(unit: Unit) -> range:
    place = unit.text.location(unit.node)
    return range(place.line, place.end_line + 1)


def _may_be_in(one: Sought, unit: Unit | None, lines: range | None) -> bool:
    if unit is None or lines is None:
        return True
    return (one.module is None or one.module == unit.name) and (one.line is None or one.line in lines)


def _parsed(file: FileData, unit: Unit | None, config: Config) -> ParsedUnit | None:
    from relax_lint.sources.unit import ParsedUnit

    if unit is None:
        from relax_lint.sources.saved import parse_json

        found = parse_json(json_text(file.data), file.path)
    else:
        from relax_lint.sources.parsing import parse_unit

        found = parse_unit(unit, config.dialect)
    if not isinstance(found, ParsedUnit) or not config.lower:
        return found if isinstance(found, ParsedUnit) else None
    from relax_lint.sources.lowering import lower_unit

    lowered = lower_unit(found, config.target_or_default)
    return lowered if isinstance(lowered, ParsedUnit) else None


def _prepared(parsed: ParsedUnit, config: Config, sought: list[Sought]) -> tuple[Prepared, set[int]]:
    """What to run of a module, and the numbers of the findings that are about it."""
    import tvm

    from relax_lint.judging.module import ModuleJudge
    from relax_lint.replay.calls import Calls
    from relax_lint.replay.reference import without_sharing
    from relax_lint.vm.constants import has_omitted

    program = ModuleJudge(parsed.ir_module, config).program
    calls = {f.name: Calls(f, config) for f in program.functions}
    here = [one for one in sought if one.function in calls]
    reference = without_sharing(parsed.ir_module) if here else None
    why = _unrunnable(program, parsed)
    if not why and has_omitted(parsed.ir_module):
        why = "the text omits the elements of constants: print the module with `show_meta=True`"
    prepared = Prepared(
        module=str(tvm.ir.save_json(parsed.ir_module)) if here else "",
        reference=None if reference is None else str(tvm.ir.save_json(reference)),
        cases=tuple(Case(one.number, reason=why) if why else calls[one.function].case(one) for one in here),
    )
    return prepared, {one.number for one in here}


def _unrunnable(program: Program, parsed: ParsedUnit) -> str:
    others = sorted({device.target for device in program.declared_devices} - {"llvm", "c"})
    if others:
        return f"the module is for another target: {', '.join(others)}"
    if parsed.ill_formed is not None:
        return f"the module is not well-formed: {parsed.ill_formed}"
    return ""
