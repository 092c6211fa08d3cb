"""The linter as a TVM pass instrument: what each pass makes of a module, and which one brought a finding in.
Importing this module imports TVM.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import tvm
import tvm_ffi

from relax_lint import api
from relax_lint.judging.courses import Course, Courses, Version, erases, has_news, record
from relax_lint.judging.problems import problem_checks
from relax_lint.judging.provenance import counterparts, of_one_condition
from relax_lint.judging.report import check_module
from relax_lint.judging.selection import known_config
from relax_lint.judging.tracing import Tracing, only_what
from relax_lint.model.prim_funcs import KeptKernels
from relax_lint.results.check import Check, is_finding
from relax_lint.results.problem import Problem, ProblemKind
from relax_lint.results.report import FileResult, InputStatus, Report
from relax_lint.results.verdict import Severity
from relax_lint.settings.config import Config, Settings
from relax_lint.support.gc_pause import without_collection
from relax_lint.suppressions.policy import apply_policy
from relax_lint.symbolic.answers import lasting_answers
from relax_lint.vm import versions
from relax_lint.vm.packed_in_place import declared_in, restored
from relax_lint.vm.versions import has_packed_in_place

Passes: TypeAlias = "Collection[str] | Literal['all'] | None"

# It makes plain packed calls of those that overwrite an argument.
_ERASING_PACKED = "RemovePurityChecking"
_STATUS = InputStatus(api.IN_MEMORY, 1, "checked")


# TVM carries an exception through its C++ code as a name and a text, and makes it anew from the two.
@tvm_ffi.register_error("MemoryLintError")
class MemoryLintError(Exception):
    """`MemoryLint` ended a compilation. The text is the findings; `MemoryLint.findings` are the objects."""


@dataclass(frozen=True)
class PassFinding:
    """A finding and the name of the pass that introduced it (None: it was in the module as it was given).
    `check` is what is found right after that pass. `present` tells whether it still was there when the module
    was judged for the last time: another pass may have mended it.
    """

    check: Check
    introduced_by: str | None
    present: bool = True


@dataclass(frozen=True)
class _Search:
    """The findings that are new in the last of some versions, by their numbers among all findings, and what
    finding out where they came in takes.
    """

    versions: list[Version]
    findings: dict[int, Check]
    declared: dict[str, tuple[int, ...]]
    kept: KeptKernels


@tvm.instrument.pass_instrument
class MemoryLint:
    """Judges a module while TVM compiles it and names the pass that introduced each finding:

        lint = relax_lint.MemoryLint(fail_on="error")
        with tvm.transform.PassContext(instruments=[lint]):
            tvm.compile(module)
        print(lint.text())

    `fail_on` (error, warning or note) ends the compilation with `MemoryLintError` on a finding of that
    severity or above; None only collects. `config` is what `relax_lint.check` takes. `passes` are the names
    of the passes after which the module is judged, or `"all"`. By default it is judged where passes are
    about to run that erase what there is to see in it, and where the outermost pass ends; versions in
    between are looked at only to find the pass that introduced a finding: when somebody asks for the
    findings, when they end the compilation, or when another one begins.

    A failure of the analysis itself is a warning and ends nothing; `failures` collects them as RLX904.

    Raises ValueError for another severity or for `passes` that is one text, and
    `relax_lint.settings.config.ConfigError` for settings that cannot be used.
    """

    def __init__(self, fail_on: str | None = "error", config: Settings = None, passes: Passes = None) -> None:
        if isinstance(passes, str) and passes != "all":
            raise ValueError(f"`passes` is a collection of names or 'all', not {passes!r}")
        self._fail_on = None if fail_on is None else api.as_severity(fail_on)
        self._config = known_config(config)
        self._passes: Passes = passes if passes is None or passes == "all" else frozenset(passes)
        self._courses = Courses()
        self._adding = threading.Lock()
        self._seen: set[str] = set()
        self._findings: list[PassFinding] = []
        self._searches: list[_Search] = []
        self._failures: list[Check] = []

    @property
    def findings(self) -> tuple[PassFinding, ...]:
        """What was found so far, in the order in which it was found."""
        self._trace_all()
        return tuple(self._findings)

    @property
    def failures(self) -> tuple[Check, ...]:
        """The modules that could not be analysed (RLX904), as warnings."""
        self._trace_all()
        return tuple(self._failures)

    def report(self) -> Report:
        """The findings as a report, for any output format; a note of each names the pass."""
        return _report([*map(_named, self.findings), *self._failures])

    def text(self) -> str:
        """The findings as text for people."""
        return _text(self.report())

    def enter_pass_ctx(self) -> None:
        """A context begins. What was found before is traced: the versions of a module are not held longer."""
        self._trace_all()
        self._courses.outer.append(self._courses.now)
        self._courses.now = Course()

    def exit_pass_ctx(self) -> None:
        """A context ends: a version that was not judged because a pass failed is judged now."""
        course, outer = self._courses.now, self._courses.outer
        if course.versions and self._passes is None and has_news(course):
            self._judge(course)
        if self._passes not in (None, "all") and not course.running and len(outer) <= 1:
            for name in sorted(set(self._passes or ()) - self._seen):
                _warn(f"no pass `{name}` ran, after which the module was to be judged")
        self._courses.now = outer.pop() if outer else Course()

    def run_before_pass(self, module: Any, info: Any) -> None:
        """A pass is about to run."""
        name, course = str(info.name), self._courses.now
        record(course, module, course.running[-1] if course.running else None)
        course.running.append(name)
        loses = name == _ERASING_PACKED and has_packed_in_place(module)
        if loses:
            course.declared |= declared_in(module)
        if self._passes is None and course.versions and (loses or erases(name, course)):
            self._fail(self._judge(course))

    def run_after_pass(self, module: Any, info: Any) -> None:
        """A pass has run."""
        name, course = str(info.name), self._courses.now
        # Passes that failed within this one were never left.
        while course.running and course.running.pop() != name:
            pass
        self._seen.add(name)
        record(course, module, name)
        if course.versions and self._is_due(name, course):
            self._fail(self._judge(course))

    def _is_due(self, name: str, course: Course) -> bool:
        if self._passes is None:
            return not course.running and has_news(course)
        return self._passes == "all" or name in self._passes

    def _judge(self, course: Course) -> list[int]:
        """Judge the newest version; the numbers of what is new since the last one that was judged, which then
        stands first in the list. A version that was passed over is looked at for what is found in this one.
        """
        versions, new = course.versions, list[int]()
        if versions[-1].judged:
            return new
        self._look_at(versions[-1], course, self._config)
        number = next((n for n, one in enumerate(versions[:-1]) if one is course.passed_over), None)
        if versions[-1].findings and number is not None:
            self._look_at(versions[number], course, only_what(versions[-1].findings, self._config))
            new += self._compared(versions[: number + 1], course)
            versions = versions[number:]
        return new + self._compared(versions, course)

    def _look_at(self, version: Version, course: Course, config: Config) -> None:
        version.judged = True
        version.findings = self._found(version, config, course.declared, course.kept)

    def _compared(self, versions: list[Version], course: Course) -> list[int]:
        """What is new in the last of some versions since the first, by numbers: no other was judged."""
        first, newest, findings = versions[0], versions[-1], versions[-1].findings
        if findings is None:
            return []
        before_it = [] if first is newest else first.findings or []
        known: list[int] = []
        new: dict[int, Check] = {}
        with self._adding:
            for finding, found in zip(findings, counterparts(findings, before_it), strict=True):
                before = of_one_condition(finding, before_it) if found is None else found
                if before is not None:
                    known.append(course.known[before])
                else:
                    known.append(len(self._findings))
                    new[known[-1]] = finding
                    # Until it is asked for it is as it is now, and its pass is not known.
                    self._findings.append(PassFinding(finding, newest.made_by))
            if new:
                self._searches.append(_Search(versions, new, dict(course.declared), course.kept))
            for number in {*course.known, *known}:
                self._findings[number] = replace(self._findings[number], present=number in known)
        course.versions, course.known = [newest], known
        return list(new)

    def _trace_all(self) -> None:
        """Find out where each finding came in. Who asks next begins again what was interrupted."""
        for search in tuple(self._searches):
            traced = list(self._traced(search))
            with self._adding:
                for number, found in zip(search.findings, traced, strict=True):
                    self._findings[number] = replace(found, present=self._findings[number].present)
                # Another thread may have found out the same.
                self._searches[:] = [one for one in self._searches if one is not search]

    def _traced(self, search: _Search) -> Iterator[PassFinding]:
        """New findings about the newest version, each as it is where it came in."""

        def found(version: Version, config: Config, without: Collection[int]) -> list[Check] | None:
            return self._found(version, config, search.declared, search.kept, without)

        tracing = Tracing(search.versions, list(search.findings.values()), self._config, found)
        return (PassFinding(origin.check, origin.made_by) for origin in tracing.origins())

    def _found(
        self,
        version: Version,
        config: Config,
        declared: dict[str, tuple[int, ...]],
        kept: KeptKernels,
        without: Collection[int] = (),
    ) -> list[Check] | None:
        """The findings in a version, but for some functions; None where it cannot be analysed."""
        try:
            with without_collection():
                module = restored(version.module, declared) if declared else version.module
                result = check_module(
                    module,
                    config,
                    path=api.IN_MEMORY,
                    totals=False,
                    fine=False,
                    kept=kept,
                    answers=lasting_answers(config.max_extent),
                    without=without,
                )
        except Exception as error:
            self._note_failure(version, error)
            return None
        judged = apply_policy(FileResult(_STATUS, result.checks), (), config)
        return [check for check in judged.checks if is_finding(check)]

    def _note_failure(self, version: Version, error: Exception) -> None:
        where = "as it was given" if version.made_by is None else f"after `{version.made_by}`"
        lines = str(error).splitlines() or [""]
        message = f"the analysis of the module {where} failed: {type(error).__name__}: {lines[0]}"
        problem = Problem(ProblemKind.ANALYSIS_FAILED, message, None)
        failure = problem_checks([problem], api.IN_MEMORY, self._config)
        self._failures += [replace(check, severity=Severity.WARNING) for check in failure]
        _warn(message)

    def _fail(self, new: list[int]) -> None:
        if self._fail_on is None:
            return
        least = self._fail_on.rank
        if grave := [number for number in new if self._findings[number].check.severity.rank >= least]:
            self._trace_all()
            raise MemoryLintError(_text(_report([_named(self._findings[number]) for number in grave])))


def _warn(message: str) -> None:
    warnings.warn(f"relax-lint: {message}", RuntimeWarning, stacklevel=2)


def _named(found: PassFinding) -> Check:
    origin = "it was in the module as it was given"
    if found.introduced_by is not None:
        origin = f"introduced by the pass `{found.introduced_by}`"
    gone = () if found.present else ("no longer found in the last module that was judged",)
    return replace(found.check, notes=(*found.check.notes, origin, *gone))


def _report(checks: Sequence[Check]) -> Report:
    return Report((FileResult(_STATUS, tuple(checks)),), versions.VERSION)


def _text(report: Report) -> str:
    return api.findings_text(report)
