"""Asking every rule about every function of a module, and planning what they ask for. Importing this imports
TVM.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from relax_lint.analysis.flow import ProgramFlow
from relax_lint.facts.assumed import with_assumptions
from relax_lint.facts.function import FunctionFacts
from relax_lint.fixes.check_form import CheckForm, form_in_text
from relax_lint.fixes.planning import NOTHING, Plan, Planner
from relax_lint.judging.asking import judgements_of
from relax_lint.judging.left_out import unless_left_out, unless_unread
from relax_lint.model.builder import build_program
from relax_lint.model.positions import NoPositions, Positions
from relax_lint.model.prim_funcs import KeptKernels
from relax_lint.model.program import Program
from relax_lint.results.problem import Problem
from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Rule, load_rules
from relax_lint.settings.config import Config
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.answers import Answers
from relax_lint.symbolic.prover import ProverChain
from relax_lint.totals.kernel_memory import KernelMemory
from relax_lint.vm import versions
from relax_lint.vm.scopes import POINTER_MOVER


@record(frozen=True)
class PlannedJudgement:
    """What a rule says of one operation, with its remedies."""

    rule: Rule
    judgement: Judgement
    plan: Plan = NOTHING


@record(frozen=True)
class JudgedFunction:
    """What the rules say of one function, and the facts that they read. Operations that nothing reaches
    are left out.
    """

    facts: FunctionFacts
    judgements: tuple[PlannedJudgement, ...]
    failures: tuple[Problem, ...] = ()
    """The rules of other packages that failed."""


class ModuleJudge:
    """Judges the functions of one module with the rules that are on.

    `notes` are about the module as a whole; `assumptions` are those of the configuration that concern it;
    `kernels` knows the buffers that kernels make themselves, where a total or a budget counts them.
    Functions whose node has an address in `without` are left out; those in `called_unseen` may be called from
    parts of the module that were not read.
    """

    def __init__(
        self,
        ir_module: Any,
        config: Config,
        *,
        positions: Positions | None = None,
        module_name: str | None = None,
        without: Container[int] = (),
        kept: KeptKernels | None = None,
        answers: Answers | None = None,
        called_unseen: frozenset[str] = frozenset(),
    ) -> None:
        self._config = config
        self._without = without
        self._positions = positions or NoPositions()
        self._chain = ProverChain(max_extent=config.max_extent, answers=answers)
        wanted = config.memory.details or config.max_memory
        self.kernels = KernelMemory(ir_module, config.target_or_default) if wanted else None
        program = build_program(
            ir_module,
            positions=self._positions,
            module_name=module_name,
            max_extent=config.max_extent,
            kernels=None if kept is None else kept.of(ir_module),
            called_unseen=called_unseen,
        )
        if config.target_kind == POINTER_MOVER and not program.declared_devices:
            program = replace(program, moves_pointers=True)
        assumed = with_assumptions(program, config, self._chain)
        self.program: Program = assumed.program
        self.notes: tuple[str, ...] = assumed.notes
        self.assumptions: tuple[str, ...] = assumed.used

    def functions(self) -> Iterator[JudgedFunction]:
        """Every function in turn: the facts of one are not kept for the next."""
        shared = ProgramFlow(self.program)
        rules = [rule for rule in load_rules().values() if rule.is_on(self._config)]
        for function in self.program.functions:
            if function.node is not None and versions.identity(function.node) in self._without:
                continue
            facts = FunctionFacts(shared, function, self._config, self._chain, self.kernels)
            fine = Verdict.ALWAYS_FINE
            answers = [(rule, *judgements_of(rule, facts)) for rule in rules]
            found = [
                PlannedJudgement(
                    rule,
                    judgement
                    if judgement.decision.verdict is fine
                    else _where_it_runs(judgement, rule, facts),
                )
                for rule, judgements, _ in answers
                for judgement in judgements
            ]
            failures = tuple(failure for _, _, failure in answers if failure is not None)
            yield JudgedFunction(facts, self._planned(facts, found), failures)

    def _planned(
        self, facts: FunctionFacts, found: Sequence[PlannedJudgement]
    ) -> tuple[PlannedJudgement, ...]:
        """Those of operations that are reached, with their plans."""
        if not found:
            return ()
        untaken = facts.flow.untaken.places
        reached = [one for one in found if one.judgement.decision.reachable]
        if untaken:
            places = [one.judgement.place for one in reached]
            pairs = zip(reached, places, strict=True)
            reached = [one for one, place in pairs if place is None or place.index not in untaken]
        planner = Planner(facts, form=lambda: self._form)
        # Most operations are fine, and nothing is to be mended.
        plans = {
            number: planner.plan(judgement.remedy, judgement.decision, judgement.place)
            for number, one in enumerate(reached)
            if (judgement := one.judgement).remedy is not None
            and judgement.decision.verdict is not Verdict.ALWAYS_FINE
        }
        for number, plan in zip(plans, planner.minimised(list(plans.values())), strict=True):
            reached[number] = PlannedJudgement(reached[number].rule, reached[number].judgement, plan)
        return tuple(reached)

    @cached_property
    def _form(self) -> CheckForm:
        """How the checks of this module are written."""
        return form_in_text(self._config.check_form, self.program)


def _where_it_runs(judgement: Judgement, rule: Rule, facts: FunctionFacts) -> Judgement:
    """A judgement on what may not be fine, which is not certain where it is not that a run gets there."""
    found = unless_unread(judgement, rule, facts)
    wrong = found.decision.verdict is Verdict.ALWAYS_WRONG
    return unless_left_out(found, rule, facts.flow) if wrong else found
