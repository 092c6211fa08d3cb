"""The JSON report as types: what stands in it beside the classes of the result model, field for field.

`output/schema.py` makes the JSON Schema of these types, `output/json.py` fills them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any, Literal, TypeAlias

from relax_lint.output.summary import Count
from relax_lint.results.check import RecordedClaim, Related, Suppression
from relax_lint.results.confirmation import Confirmation
from relax_lint.results.location import Location
from relax_lint.results.memory_figures import (
    Amount,
    CallMemory,
    OverRange,
    PackedFunctions,
    PlaceOfPeak,
    SymbolRange,
    Workspaces,
)
from relax_lint.results.memory_why import Why
from relax_lint.results.report import InputStatus
from relax_lint.results.verdict import Prover, Severity, Verdict
from relax_lint.support.lazy_dataclass import dataclass
from relax_lint.totals.comparison import COMPARED
from relax_lint.totals.serving import Serving

SCHEMA_VERSION: Literal[1] = 1


class Absent(Enum):
    """The value of a field that is left out."""

    ABSENT = "absent"


ABSENT: Literal[Absent.ABSENT] = Absent.ABSENT

Natural: TypeAlias = Annotated[int, {"minimum": 0}]
Positive: TypeAlias = Annotated[int, {"minimum": 1}]
RuleCode: TypeAlias = Annotated[str, {"pattern": "^[A-Z]+[0-9]+$"}]
Assignment: TypeAlias = Mapping[str, int]
Amounts: TypeAlias = Mapping[str, Amount | None]
FunctionName: TypeAlias = Annotated[str | None, {"description": "null: all functions together"}]


def _text(description: str) -> dict[str, Any]:
    return {"description": description}


@dataclass(frozen=True)
class Position:
    """A place between two characters."""

    line: Positive
    column: Positive


@dataclass(frozen=True)
class EditObject:
    """An edit of a fix."""

    path: str
    start: Position
    end: Position
    text: str


@dataclass(frozen=True)
class FixObject:
    """A fix."""

    title: str
    applicability: Annotated[str, {"enum": ["safe", "unsafe", "display"]}]
    edits: tuple[EditObject, ...]


@dataclass(frozen=True)
class Examples:
    """Assignments for which an operation is fine and wrong."""

    fine: Assignment | None
    wrong: Assignment | None


@dataclass(frozen=True)
class Failure:
    """Where an allocator fails first."""

    first_failure: Annotated[Assignment | None, _text("null: never fails, unless `known` is false")]
    known: Literal[False] | Absent = ABSENT


@dataclass(frozen=True)
class Proof:
    """How a verdict was reached."""

    by: Prover
    detail: str
    file: Annotated[
        str | Absent | None,
        _text(
            "the record of the proof: `.smt2` can be checked by any solver, `.txt` is in words;"
            " only with `--proofs`"
        ),
    ] = ABSENT
    claims: Annotated[
        tuple[RecordedClaim, ...] | Absent,
        _text(
            "what was asked, before any arithmetic, and the quantities in it by what they are; of several"
            " claims one holds on each path; only with `--proofs`"
        ),
    ] = ABSENT


@dataclass(frozen=True)
class CheckObject:
    """A judged memory operation."""

    id: Annotated[
        str, {"pattern": "^[0-9a-f]{16}$"}, _text("the same for the same check after lines have moved")
    ]
    path: str
    rule: RuleCode
    name: str
    verdict: Verdict
    severity: Severity
    message: str
    label: Annotated[str, _text("what is shown at the location itself; may be empty")]
    module: Annotated[str | None, _text("null for saved IR and bare functions")]
    function: str | None
    binding: Annotated[str | None, _text("name in the IR; not unique")]
    binding_index: Annotated[int | None, {"minimum": 0}, _text("position in the function's program order")]
    location: Location | None
    related: tuple[Related, ...]
    origins: Annotated[
        tuple[Related, ...], _text("where the symbols that the verdict depends on get their values")
    ]
    safe_when: Annotated[
        str | None, _text("condition on the symbols; null unless the verdict is needs-runtime-check")
    ]
    assumes: tuple[str, ...]
    examples: Examples
    allocators: Mapping[str, Failure]
    proof: Proof
    undecided: bool
    notes: tuple[str, ...]
    help: tuple[str, ...]
    suppressed: bool
    suppressed_by: Suppression | None
    fixes: tuple[FixObject, ...]
    confirmation: Annotated[
        Confirmation | Absent,
        _text("what runs of the examples showed; only with `replay` and `check --confirm`"),
    ] = ABSENT
    count: Annotated[
        int | Absent,
        {"minimum": 1},
        _text("how many equal questions about the operation have this verdict; left out: one"),
    ] = ABSENT


@dataclass(frozen=True)
class Counted:
    """A number of tensors and their bytes."""

    count: Natural
    bytes: Amount | None


@dataclass(frozen=True)
class Tensors:
    """Tensors of static and of dynamic shape."""

    static_count: Natural
    static_bytes: int
    dynamic_count: Natural
    dynamic_bytes: Amount | None


@dataclass(frozen=True)
class Peak:
    """The most bytes alive at one time."""

    expr: str
    value: int | None
    at: PlaceOfPeak | None


@dataclass(frozen=True)
class MemoryObject:
    """The totals of one function."""

    path: str
    module: str | None
    function: str
    parameters: Counted
    constants: Counted
    io_used_memory: Amount | None
    unplanned: Tensors
    planned: Tensors
    peak_live: Peak | None
    lower_bound: Amount | None
    reserved: Amounts
    repeated: Annotated[Amounts, _text("what is reserved over any number of calls, one after the other")]
    by_scope: Amounts
    by_device: Amounts
    symbols: Annotated[
        tuple[SymbolRange, ...], _text("the symbols and their declared bounds; null: not declared")
    ]
    bindings: Annotated[Assignment, _text("the values given with --bind")]
    unknown: Annotated[
        Mapping[str, str],
        _text(
            "why a total has no formula, by its name with dots (reserved.pooled); it is null, or a number"
            " that holds at the bindings only"
        ),
    ]
    over_range: Annotated[
        Mapping[str, OverRange],
        _text(
            "where a range is asked for or bounds are declared: the totals over it, by name; those of lists"
            " have their position in the name, as in workspaces.calls.0"
        ),
    ]
    at_most: Annotated[
        Mapping[str, Amount], _text("what a total without a formula never exceeds, by its name")
    ]
    calls: tuple[CallMemory, ...]
    workspaces: Annotated[
        Workspaces | None, _text("the buffers that kernels make themselves; null: not asked for")
    ]
    packed: Annotated[
        PackedFunctions | None,
        _text("what packed functions take beside the VM's allocator; null: not asked for"),
    ]
    why: Annotated[
        Why | None,
        _text("where most is needed, and which changes would save; null: not asked for, or a symbol is free"),
    ]


@dataclass(frozen=True)
class SummaryObject:
    """Counts over all checks."""

    checks: Natural
    always_wrong: Natural
    always_fine: Natural
    needs_runtime_check: Natural
    undecided: Annotated[int, {"minimum": 0}, _text("of needs_runtime_check")]
    suppressed: Annotated[int, {"minimum": 0}, _text("accepted findings; they are in the other counts too")]
    by_rule: Mapping[RuleCode, Count]
    by_prover: Mapping[str, Natural]
    selectivity: Annotated[
        float | None,
        {"minimum": 0, "maximum": 1},
        _text("share of the checks that are always-fine or always-wrong; null without checks"),
    ]


@dataclass(frozen=True)
class AccessesObject:
    """What was said of the accesses of the kernels that a function calls, counted once for each call."""

    path: str
    module: str | None
    function: str
    proved: Natural
    wrong: Natural
    assumed: Natural
    undecided: Natural
    depends: Annotated[
        Mapping[str, Natural], _text("those that are inside for some inputs, by the symbols that decide")
    ]
    assumptions: Annotated[tuple[str, ...], _text("what the assumed ones rely on")]
    reasons: Annotated[Mapping[str, Natural], _text("the undecided ones, by the reason")]
    unread: Annotated[Mapping[str, str], _text("kernels that could not be read as a whole, and why")]


@dataclass(frozen=True)
class SubjectObject:
    """A function of a comparison."""

    path: str
    module: str | None
    function: FunctionName


@dataclass(frozen=True)
class ChangeObject:
    """A total that is not what it was."""

    path: str
    module: str | None
    function: FunctionName
    total: Annotated[str, {"enum": list(COMPARED)}]
    old: int | str
    new: Annotated[int | str, _text("bytes, or a formula where symbols remain")]
    growth: Annotated[float | None, _text("0.05 for 5 %")]
    exceeds: bool


@dataclass(frozen=True)
class ComparisonObject:
    """What changed since an earlier report."""

    # The key is a keyword of Python.
    with_: str
    fail_above: float | None
    exceeds: bool
    changes: tuple[ChangeObject, ...]
    added: tuple[SubjectObject, ...]
    removed: tuple[SubjectObject, ...]


@dataclass(frozen=True)
class Tool:
    """Who wrote the report."""

    name: Literal["relax-lint"]
    version: str
    tvm_version: Annotated[str | None, _text("null when no input needed TVM")]


@dataclass(frozen=True)
class ReportObject:
    """What `relax-lint check --output-format json` writes: one object."""

    schema_version: Literal[1]
    tool: Tool
    notes: tuple[str, ...]
    stale: Annotated[tuple[str, ...], _text("baseline entries that no longer occur")]
    inputs: tuple[InputStatus, ...]
    checks: Annotated[tuple[CheckObject, ...], _text("every memory operation judged, the fine ones too")]
    memory: tuple[MemoryObject, ...]
    accesses: Annotated[
        tuple[AccessesObject, ...], _text("the accesses of kernels, for each function that calls any")
    ]
    summary: SummaryObject
    comparison: Annotated[ComparisonObject | Absent, _text("with --compare: what changed")] = ABSENT
    serving: Annotated[
        tuple[Serving, ...] | Absent, _text("with --device-memory: what serving takes, for each module")
    ] = ABSENT
