"""What the configuration assumes, as facts of the functions that it is about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from relax_lint.analysis.domains import entry_domain
from relax_lint.model.program import Function, Program
from relax_lint.settings.assumption import Assumption, symbols_in
from relax_lint.settings.config import Config
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.domain import Fact
from relax_lint.symbolic.parsing import parse_condition
from relax_lint.symbolic.prover import ProverChain
from relax_lint.vm.facts import FactSource


@record(frozen=True)
class Assumed:
    """A program with assumptions among the facts of its functions. `used` names the assumptions that are
    about any of them, `notes` says which could not be believed.
    """

    program: Program
    used: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def with_assumptions(program: Program, config: Config, chain: ProverChain) -> Assumed:
    """The program with the assumptions of the configuration.

    Assumptions that no input of a function can satisfy are left out there, and a note says so: under them
    nothing in the function would be reached, and everything in it would look fine.
    """
    if not config.assumptions:
        return Assumed(program)
    functions, notes, used = [], [], []
    for function in program.functions:
        meant = [assumption for assumption in config.assumptions if _is_about(assumption, function)]
        used += [str(assumption) for assumption in meant]
        narrowed = replace(function, facts=(*function.facts, *_facts(meant, function)))
        if meant and _excludes_all(function, narrowed, config, chain):
            notes.append(
                f"the assumption {', '.join(map(str, meant))} excludes every input of "
                f"`{function.name}`: ignored there"
            )
            narrowed = function
        functions.append(narrowed)
    return Assumed(replace(program, functions=tuple(functions)), tuple(dict.fromkeys(used)), tuple(notes))


def _is_about(assumption: Assumption, function: Function) -> bool:
    names = {info.symbol.name for info in function.symbols}
    return assumption.concerns(function.module, function.name) and symbols_in(assumption.text) <= names


def _facts(assumptions: Iterable[Assumption], function: Function) -> list[Fact]:
    symbols = {info.symbol.name: info.symbol for info in function.symbols}
    return [
        Fact.of(
            FactSource.CONFIGURATION,
            parse_condition(assumption.text, symbols),
            f"{assumption.text} (configuration, not enforced)",
        )
        for assumption in assumptions
    ]


def _excludes_all(function: Function, narrowed: Function, config: Config, chain: ProverChain) -> bool:
    trust = config.trust_declared_bounds
    return chain.is_empty(entry_domain(narrowed, trust_declared_bounds=trust)) and not chain.is_empty(
        entry_domain(function, trust_declared_bounds=trust)
    )
