"""The report of one run of the linter, free of TVM and sympy objects as all of the result model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from relax_lint.results.accesses import FunctionAccesses
from relax_lint.results.check import Check, is_finding
from relax_lint.results.memory_figures import Estimate, MemoryTotals
from relax_lint.results.memory_report import MemoryReport
from relax_lint.results.notebook import checks_html, joined, memory_html
from relax_lint.results.plain import to_json
from relax_lint.support.lazy_dataclass import dataclass


@dataclass(frozen=True)
class InputStatus:
    """The status of one input: checked, skipped (it contains no Relax) or failed, and why."""

    path: str
    functions: int
    status: str
    reason: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class UnitResult:
    """What one unit gave: every judged operation, the totals of its functions, notes, the quoted text by line
    number, on request what TVM's estimator counts, which assumptions of the configuration concern it, the
    functions of which TVM has still to plan the memory, and what was said of the accesses of kernels.
    """

    checks: tuple[Check, ...] = ()
    memory: tuple[MemoryTotals, ...] = ()
    functions: int = 0
    notes: tuple[str, ...] = ()
    lines: Mapping[int, str] = field(default_factory=dict)
    estimates: tuple[Estimate, ...] = ()
    assumptions: tuple[str, ...] = ()
    unplanned: tuple[str, ...] = ()
    accesses: tuple[FunctionAccesses, ...] = ()


@dataclass(frozen=True)
class FileResult:
    """Everything found in one input. `lines` is the text that the findings refer to, by 1-based line number;
    `estimates`, on request, are what TVM's estimator counts, one for each function of one module; `accesses`
    counts what was said of the accesses of kernels.
    """

    input: InputStatus
    checks: tuple[Check, ...] = ()
    memory: tuple[MemoryTotals, ...] = ()
    lines: Mapping[int, str] = field(default_factory=dict)
    estimates: tuple[tuple[Estimate, ...], ...] = ()
    accesses: tuple[FunctionAccesses, ...] = ()


@dataclass(frozen=True)
class Report:
    """The result of one run over all inputs, in the order in which they were named. `notes` are about the run
    as a whole, `stale` are baseline entries that no longer occur. `interrupted` says that some inputs were
    not judged: because somebody ended the run, or for the reason `lost`.
    """

    files: tuple[FileResult, ...]
    tvm_version: str | None
    notes: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    interrupted: bool = False
    lost: str = ""

    @property
    def checks(self) -> tuple[Check, ...]:
        """Every judged operation of every input."""
        return tuple(check for file in self.files for check in file.checks)

    @property
    def findings(self) -> tuple[Check, ...]:
        """The checks that are reported to the user."""
        return tuple(filter(is_finding, self.checks))

    @property
    def accesses(self) -> tuple[FunctionAccesses, ...]:
        """The accesses of the kernels of every function that calls any."""
        return tuple(found for file in self.files for found in file.accesses)

    @property
    def memory(self) -> MemoryReport:
        """The totals of every function of every input."""
        return MemoryReport(total for file in self.files for total in file.memory)

    def __getitem__(self, function: str) -> MemoryTotals:
        """The totals of a function by its name. Raises KeyError."""
        return self.memory[function]

    def to_json(self) -> str:
        """The report as JSON, field for field, with every check and every total."""
        return to_json({"tvm_version": self.tvm_version, "checks": self.checks, "memory": self.memory})

    def _repr_html_(self) -> str:
        judged = sum(check.count for check in self.checks)
        return joined((checks_html(self.findings, judged), memory_html(self.memory)))
