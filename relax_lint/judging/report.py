"""From one module to checks and totals: writes what the rules say down in the result model. Runs inside a
worker process; imports TVM.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from relax_lint.analysis.planned import unplanned_functions
from relax_lint.fixes.changes import Remedy
from relax_lint.fixes.text.describe import help_lines
from relax_lint.fixes.text.edits import TextFixer, display
from relax_lint.judging.module import JudgedFunction, ModuleJudge, PlannedJudgement
from relax_lint.judging.problems import problem_checks
from relax_lint.judging.proof_records import record_of
from relax_lint.judging.severity import severity_of
from relax_lint.judging.skipped import in_part, incomplete
from relax_lint.model.operations import OperationId
from relax_lint.model.positions import Positions
from relax_lint.model.prim_funcs import KeptKernels
from relax_lint.model.program import Function
from relax_lint.results.accesses import FunctionAccesses
from relax_lint.results.check import AllocatorFailure, Check, Fix, Related
from relax_lint.results.location import Location
from relax_lint.results.memory_figures import MemoryTotals
from relax_lint.results.problem import Problem, ProblemKind
from relax_lint.results.report import UnitResult
from relax_lint.results.verdict import Prover, Severity, Verdict
from relax_lint.rule import Judgement, Message, Rule, is_source_problem, load_rules
from relax_lint.settings.config import Config
from relax_lint.sources.unit import ParsedUnit
from relax_lint.support.deep_stack import deep_stack
from relax_lint.support.escaping import without_addresses
from relax_lint.support.gc_pause import seldom_collected
from relax_lint.support.quick_init import maker
from relax_lint.symbolic.answers import Answers
from relax_lint.symbolic.decision import Decision, FailureStatus, FirstFailure
from relax_lint.symbolic.printing import condition_text
from relax_lint.totals.estimates import estimates
from relax_lint.totals.result import function_totals, outside_declared
from relax_lint.vm import versions


def check_parsed(unit: ParsedUnit | Problem, path: str, config: Config) -> UnitResult:
    """Judge a unit that the sources have read, or report why they could not."""
    if isinstance(unit, Problem):
        return UnitResult(checks=problem_checks([unit], path, config))
    judged = check_module(
        unit.ir_module,
        config,
        path=path,
        module_name=unit.module_name,
        positions=unit.positions,
        write_fix=_fixer(unit),
        assumptions=unit.assumptions,
        notes=unit.notes,
        depends=unit.depends,
        called_unseen=unit.called_unseen,
    )
    if unit.skipped:
        parts = problem_checks(in_part(unit, judged), path, config)
        judged = replace(judged, checks=(*parts, *judged.checks), notes=(*judged.notes, *incomplete(unit)))
    if unit.ill_formed is None:
        return judged
    # TVM will not compile it, but what can be judged is judged all the same.
    refused = problem_checks([_ill_formed(unit)], path, config)
    rules = load_rules()
    wrong = {rules[check.rule].family for check in judged.checks if check.verdict is Verdict.ALWAYS_WRONG}
    # What the rules have found in the module need not be said for TVM's reason once more.
    refused = tuple(c for c in refused if is_source_problem(c.rule) or rules[c.rule].family not in wrong)
    return replace(judged, checks=(*refused, *judged.checks))


@seldom_collected()
@deep_stack()
def check_module(
    ir_module: Any,
    config: Config,
    *,
    path: str = "<module>",
    module_name: str | None = None,
    positions: Positions | None = None,
    write_fix: Callable[[Function, Remedy], Fix] | None = None,
    assumptions: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
    depends: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    called_unseen: frozenset[str] = frozenset(),
    totals: bool = True,
    fine: bool = True,
    kept: KeptKernels | None = None,
    answers: Answers | None = None,
    without: Container[int] = (),
) -> UnitResult:
    """Judge every memory operation of an IRModule and, unless `totals` is False, total its memory. If
    `fine` is False the operations that are always fine have no checks; functions whose node has an address in
    `without` are left out.

    `assumptions` (values that were assumed to read the module) are listed with every
    verdict that is not unconditional; `write_fix` makes a fix of a remedy. `depends` tells what was not read
    that the verdicts of a function depend on; those in `called_unseen` may be called from there. `kept` knows
    the kernels of an earlier version of the module; `answers` are those of provers in earlier modules, with
    the same `max-extent`.
    """
    judge = ModuleJudge(
        ir_module,
        config,
        positions=positions,
        module_name=module_name,
        kept=kept,
        answers=answers,
        without=without,
        called_unseen=called_unseen,
    )
    program, notes = judge.program, (*notes, *judge.notes)
    checks: list[Check] = []
    memory: list[MemoryTotals] = []
    accesses: list[FunctionAccesses] = []
    for judged in judge.functions():
        function = judged.facts.function
        of_outermost = depends.get(function.name.partition(".")[0], ())
        unread = tuple(f"{text}: treated as unknown" for text in of_outermost)
        writer = _Writer(
            path, function, (*assumptions, *unread), write_fix or _displayed, config, is_whole=not unread
        )
        checks += writer.checks(judged, fine=fine)
        checks += problem_checks(judged.failures, path, config)
        if fine and (covered := judged.facts.indices.coverage(path)) is not None:
            accesses.append(covered)
        if totals:
            memory.append(
                function_totals(
                    program,
                    function,
                    judged.facts.totals,
                    config.memory,
                    page_size=config.page_size,
                    path=path,
                    kernels=judge.kernels if config.memory.details else None,
                )
            )
        notes = (*notes, *outside_declared(function, config.memory))
    return UnitResult(
        checks=tuple(checks),
        memory=tuple(memory),
        functions=len(program.functions),
        notes=notes,
        estimates=estimates(program) if config.memory.estimates else (),
        assumptions=judge.assumptions,
        unplanned=tuple(_qualified(program.module, name) for name in unplanned_functions(program)),
        accesses=tuple(accesses),
    )


def _fixer(unit: ParsedUnit) -> Callable[[Function, Remedy], Fix] | None:
    """What makes edits of the remedies for a unit; None where there is no text to edit."""
    if unit.script is None:
        return None
    return TextFixer(unit.script, unit.ir_module, assumed=bool(unit.assumptions)).fix


def _qualified(module: str | None, name: str) -> str:
    return name if module is None else f"{module}.{name}"


def _ill_formed(unit: ParsedUnit) -> Problem:
    names = [name for name, _ in versions.relax_functions(unit.ir_module)]
    location = unit.positions.function(names[0]) if names else None
    subject = unit.module_name or (names[0] if names else "the module")
    message = f"`{subject}` is not well-formed: {unit.ill_formed}"
    return Problem(ProblemKind.PARSE_ERROR, message, location, unit.module_name)


class _Writer:
    """Writes the judgements of one function down as checks."""

    def __init__(
        self,
        path: str,
        function: Function,
        assumptions: tuple[str, ...],
        write_fix: Callable[[Function, Remedy], Fix],
        config: Config,
        *,
        is_whole: bool = True,
    ) -> None:
        self._is_whole = is_whole
        self._path = path
        self._config = config
        self._proofs = config.proofs
        self._function = function
        self._assumptions = assumptions
        self._write_fix = write_fix
        self._fine: dict[str, Callable[[], Check]] = {}

    def checks(self, judged: JudgedFunction, *, fine: bool) -> list[Check]:
        """One check per judgement; unless `fine`, only of those that may be findings."""
        checks: list[Check] = []
        is_fine, undecided = Verdict.ALWAYS_FINE, Prover.UNDECIDED
        for found in judged.judgements:
            judgement = found.judgement
            decision = judgement.decision
            if decision.verdict is not is_fine:
                checks.append(self._check(found))
            elif not fine:
                continue
            elif decision.proof.by is undecided or judgement.message.notes or self._proofs:
                checks.append(self._check(found))
            else:
                # Most are so, and there is little to tell of them.
                checks.append(self._fine_check(found.rule, judgement))
        return checks

    def _check(self, found: PlannedJudgement) -> Check:
        rule, judgement, message = found.rule, found.judgement, found.judgement.message
        decision, place, function = judgement.decision, judgement.place, self._function
        fine = decision.verdict is Verdict.ALWAYS_FINE
        severity = severity_of(rule, judgement, self._config)
        if not self._is_whole and decision.proof.by is Prover.UNDECIDED and not fine:
            # What was not read would have decided it.
            severity = Severity.NOTE
        remedies = () if fine else found.plan.remedies
        fixes = [(remedy, self._write_fix(function, remedy)) for remedy in remedies]
        # Of what can be edited the edits tell more.
        to_write = help_lines(remedy for remedy, fix in fixes if not fix.edits)
        fine_at, wrong_at = decision.named
        return Check(
            rule=rule.code,
            name=rule.name,
            verdict=decision.verdict,
            severity=severity,
            message=without_addresses(message.text),
            path=self._path,
            module=function.module,
            function=function.name,
            binding=None if place is None else place.binding,
            binding_index=None if place is None else place.index,
            location=(judgement.location or function.location) if place is None else place.location,
            label=without_addresses(message.label),
            related=_related(message),
            origins=() if fine else self._origins(decision),
            safe_when=_safe_when(decision),
            assumes=(*_relied_on(judgement), *self._assumptions),
            fine=fine_at,
            wrong=wrong_at,
            allocators=_failures(judgement.allocators),
            prover=decision.proof.by,
            proof=decision.proof.detail,
            undecided=decision.proof.by is Prover.UNDECIDED,
            notes=tuple(map(without_addresses, (*_reason(decision), *message.notes))),
            help=() if fine else tuple(map(without_addresses, (*to_write, *message.help, *found.plan.help))),
            fixes=tuple([fix for _, fix in fixes]),
            proof_record=record_of(decision) if self._config.proofs else None,
            count=judgement.count,
        )

    def _fine_check(self, rule: Rule, judgement: Judgement) -> Check:
        """There is nothing to tell but that it is fine, and why: so it is of most operations."""
        decision, message, place = judgement.decision, judgement.message, judgement.place
        make = self._fine.get(rule.code)
        if make is None:
            make = self._fine[rule.code] = maker(self._fine_by(rule))
        check = make()
        # Nobody has seen it yet.
        own = check.__dict__
        own["message"] = without_addresses(message.text)
        if place is None:
            own["location"] = judgement.location or self._function.location
        else:
            own["binding"], own["binding_index"], own["location"] = place.binding, place.index, place.location
        own["prover"], own["proof"] = decision.proof.by, decision.proof.detail
        if message.label:
            own["label"] = without_addresses(message.label)
        if message.related:
            own["related"] = _related(message)
        if decision.fine is not None or decision.wrong is not None:
            own["fine"], own["wrong"] = decision.fine, decision.wrong
        if decision.assumptions or judgement.presumptions:
            own["assumes"] = (*_relied_on(judgement), *self._assumptions)
        if judgement.allocators:
            own["allocators"] = _failures(judgement.allocators)
        if judgement.count != 1:
            own["count"] = judgement.count
        return check

    def _fine_by(self, rule: Rule) -> Check:
        """What all checks of a rule have in common that say no more than that something is fine."""
        return Check(
            rule=rule.code,
            name=rule.name,
            verdict=Verdict.ALWAYS_FINE,
            severity=Severity.NONE,
            message="",
            path=self._path,
            module=self._function.module,
            function=self._function.name,
            assumes=self._assumptions,
        )

    def _origins(self, decision: Decision) -> tuple[Related, ...]:
        """Where the symbols that the decision is about get their values, in the order of the signature."""
        names = {*(decision.fine or ()), *(decision.wrong or ())}
        if decision.safe_when is not None:
            names |= {symbol.name for symbol in decision.safe_when.free_symbols}
        return tuple(
            Related(f"`{info.symbol.name}` comes from {info.origin}", info.origin.location)
            for info in self._function.symbols
            if info.symbol.name in names
        )


def _displayed(function: Function, remedy: Remedy) -> Fix:
    return display(remedy)


def _relied_on(judgement: Judgement) -> Iterator[str]:
    yield from (fact.text for fact in judgement.decision.assumptions)
    yield from (presumption.text for presumption in judgement.presumptions)


def _safe_when(decision: Decision) -> str | None:
    if decision.verdict is not Verdict.NEEDS_RUNTIME_CHECK or decision.safe_when is None:
        return None
    return condition_text(decision.safe_when)


def _reason(decision: Decision) -> tuple[str, ...]:
    if decision.proof.by is not Prover.UNDECIDED:
        return ()
    return (f"undecided: {decision.proof.detail}",)


def _location(where: OperationId | Location) -> Location | None:
    return where.location if isinstance(where, OperationId) else where


def _related(message: Message) -> tuple[Related, ...]:
    return tuple([Related(without_addresses(text), _location(where)) for text, where in message.related])


def _failures(failures: Mapping[str, FirstFailure]) -> dict[str, AllocatorFailure]:
    return {
        name: AllocatorFailure(failure.at, known=failure.status is not FailureStatus.UNKNOWN)
        for name, failure in failures.items()
    }
