"""The result model: what one run of the linter found, free of TVM and sympy objects, so that it can be
pickled between processes, cached and rendered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from relax_lint.results.confirmation import Confirmation
from relax_lint.results.location import Location
from relax_lint.results.memory_figures import Estimate, OverRange, SymbolRange, Timeline
from relax_lint.results.verdict import Prover, Severity, Verdict


@dataclass(frozen=True)
class Related:
    """A secondary place: `message` says what stands there."""

    message: str
    location: Location | None


@dataclass(frozen=True)
class Edit:
    """Replace the text of `location` by `text`."""

    location: Location
    text: str


@dataclass(frozen=True)
class Fix:
    """A change that makes the finding go away; `applicability` is safe, unsafe or display. Those of a
    lower `turn` are made first, as they may make it needless.
    """

    title: str
    applicability: str
    edits: tuple[Edit, ...]
    turn: int = 0


@dataclass(frozen=True)
class Suppression:
    """What accepts a finding: a `comment` in its file or the `baseline`, and the reason given."""

    kind: str
    reason: str = ""


@dataclass(frozen=True)
class AllocatorFailure:
    """The smallest assignment at which an allocator refuses; None = it never does.
    `known` is False when the search could not decide.
    """

    first_failure: Mapping[str, int] | None
    known: bool = True


@dataclass(frozen=True)
class ProofRecord:
    """A proof written down: for a solver (SMT-LIB 2, `checkable`), or in words. `file` is where it was
    written to, if it was.
    """

    text: str
    checkable: bool
    file: str | None = None


@dataclass(frozen=True)
class Check:
    """One judged memory operation; also the fine ones. Field meanings are those of the JSON output.

    `message` is the headline (lower case, code in back-ticks); `label` stands under the caret of the primary
    place; `notes` and `help` are further lines of the text output. `origins` tells where the symbols that it
    depends on get their values.
    `confirmation` is what became of the
    finding when its examples were run, `proof_record` the proof of a certain verdict written down, both on
    request.
    """

    rule: str
    name: str
    verdict: Verdict
    severity: Severity
    message: str
    path: str
    module: str | None
    function: str | None
    binding: str | None = None
    binding_index: int | None = None
    location: Location | None = None
    label: str = ""
    related: tuple[Related, ...] = ()
    origins: tuple[Related, ...] = ()
    safe_when: str | None = None
    assumes: tuple[str, ...] = ()
    fine: Mapping[str, int] | None = None
    wrong: Mapping[str, int] | None = None
    allocators: Mapping[str, AllocatorFailure] = field(default_factory=dict)
    prover: Prover = Prover.CONSTANT
    proof: str = ""
    undecided: bool = False
    notes: tuple[str, ...] = ()
    help: tuple[str, ...] = ()
    suppressed: bool = False
    suppressed_by: Suppression | None = None
    fixes: tuple[Fix, ...] = ()
    confirmation: Confirmation | None = None
    proof_record: ProofRecord | None = None


def is_finding(check: Check) -> bool:
    """Whether a check is something to tell the user."""
    return check.severity is not Severity.NONE and not check.suppressed


@dataclass(frozen=True)
class Amount:
    """A number of bytes: a sympy-readable expression, and its value where no symbol remains."""

    expr: str
    value: int | None


@dataclass(frozen=True)
class PlaceOfPeak:
    """The operation at which the peak is reached."""

    binding: str
    location: Location | None


@dataclass(frozen=True)
class CallMemory:
    """The bytes alive at one kernel call: its inputs, its output, and everything else alive."""

    callee: str
    binding: str
    used_memory: Amount | None


@dataclass(frozen=True)
class MemoryTotals:
    """Memory totals of one function, in bytes.

    `bindings` are the values that were asked for. A total for which there is no formula is None, or a number
    that holds at the bindings only; `unknown` has the reason by its name: `peak_live`, `reserved.pooled`, ...
    `over_range`, by the same names, and `timelines` are there where they were asked for. `reserved` is for
    one call and `repeated` for any number of calls one after the other, by allocator.
    """

    path: str
    module: str | None
    function: str
    parameter_count: int
    parameter_bytes: Amount | None
    constant_count: int
    constant_bytes: Amount
    io_used_memory: Amount | None
    unplanned_static_count: int
    unplanned_static_bytes: int
    unplanned_dynamic_count: int
    unplanned_dynamic_bytes: Amount | None
    planned_static_count: int
    planned_static_bytes: int
    planned_dynamic_count: int
    planned_dynamic_bytes: Amount | None
    reserved: Mapping[str, Amount | None]
    by_scope: Mapping[str, Amount | None]
    by_device: Mapping[str, Amount | None]
    peak_live: Amount | None = None
    peak_at: PlaceOfPeak | None = None
    lower_bound: Amount | None = None
    calls: tuple[CallMemory, ...] = ()
    symbols: tuple[SymbolRange, ...] = ()
    bindings: Mapping[str, int] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)
    over_range: Mapping[str, OverRange] = field(default_factory=dict)
    timelines: tuple[Timeline, ...] = ()
    repeated: Mapping[str, Amount | None] = field(default_factory=dict)


@dataclass(frozen=True)
class InputStatus:
    """What became of one input: checked, skipped (no Relax in it) or failed, and why."""

    path: str
    functions: int
    status: str
    reason: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class FileResult:
    """Everything found in one input. `lines` is the text that the findings point at, by 1-based line number;
    `estimates`, on request, are what TVM's estimator counts, one for each function of one module.
    """

    input: InputStatus
    checks: tuple[Check, ...] = ()
    memory: tuple[MemoryTotals, ...] = ()
    lines: Mapping[int, str] = field(default_factory=dict)
    estimates: tuple[tuple[Estimate, ...], ...] = ()


@dataclass(frozen=True)
class Report:
    """The result of one run over all inputs, in the order in which they were named. `notes` are about the run
    as a whole, `stale` what a baseline accepts and no longer occurs.
    """

    files: tuple[FileResult, ...]
    tvm_version: str | None
    notes: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()

    @property
    def checks(self) -> tuple[Check, ...]:
        """Every judged operation of every input."""
        return tuple(check for file in self.files for check in file.checks)

    @property
    def findings(self) -> tuple[Check, ...]:
        """The checks that are something to tell the user."""
        return tuple(filter(is_finding, self.checks))

    @property
    def memory(self) -> tuple[MemoryTotals, ...]:
        """The totals of every function of every input."""
        return tuple(total for file in self.files for total in file.memory)
