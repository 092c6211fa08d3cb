"""Random programs, kernels and formulas by number. Those are kept that let some expression of the engine have a
value that it has in none of the others: `texts/drawn.json` names them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import tvm

from relax_lint.replay.modules import load_module
from tests.metamorphic.programs import Text, read
from tests.metamorphic.programs import programs as written
from tests.oracle import passing, through_passes
from tests.oracle.tir import indices
from tests.oracle.tir.compare import Unusable
from tests.oracle.tir.index_writer import some as some_indices
from tests.strength import expressions, functions
from tests.strength.claims import Said, said_of
from tests.strength.collected import said_of_kernel, texts
from tests.strength.formulas import Formulas, said_of_formulas, verify_formulas
from tests.strength.requests import Request, said_of_request

_CHOSEN = Path(__file__).with_name("texts") / "drawn.json"


@dataclass(frozen=True)
class Case:
    """A program: `said` is what the linter says, and `verify` raises where something else contradicts that, if
    there is anything else.
    """

    said: Callable[[], Said]
    verify: Callable[[], object] | None = None


def chosen(kind: str) -> Iterator[tuple[str, Case]]:
    """Those of a kind that are kept, by name."""
    for name in json.loads(_CHOSEN.read_text(encoding="utf-8")).get(kind, ()):
        yield name, KINDS[kind](name)


@cache
def _texts() -> Mapping[str, str]:
    return dict(texts("modules"))


@cache
def _written() -> Mapping[str, Text]:
    return {program.name: program for program in written()}


@cache
def _collected(name: str) -> Any:
    """A module of which more is asked."""
    kind, _, rest = name.partition(" ")
    return load_module(_texts()[rest], "script") if kind == "module" else read(_written()[name])


def _request(name: str) -> Case:
    """`NAME @ NUMBER`: what is asked of a module."""
    named, _, number = name.rpartition(" @ ")
    return Case(lambda: said_of_request(Request(_module(named), int(number))))


def _module(name: str) -> Any:
    kind, _, number = name.partition(" ")
    return load_module(functions.text_of(int(number)), "script") if kind == "function" else _collected(name)


def _functions(name: str) -> Case:
    return Case(partial(_said_of_script, functions.text_of(int(name))))


def _formulas(name: str) -> Case:
    case = Formulas(int(name))
    return Case(partial(said_of_formulas, case), partial(verify_formulas, case))


def _expressions(name: str) -> Case:
    text = expressions.text_of(int(name))
    return Case(partial(said_of_kernel, text), partial(expressions.verify_text, text))


def _indices(name: str) -> Case:
    """Kernels that store integers; with `NUMBER in ROWS` another kernel uses them as indices."""
    number, _, rows = name.partition(" in ")
    (text,) = some_indices(1, int(number))
    if not rows:
        return Case(partial(said_of_kernel, text), partial(_verify_indices, text))
    return Case(partial(_said_of_used, text, rows), partial(_verify_indices, text, rows))


def _said_of_used(text: str, rows: str) -> Said:
    return said_of(indices.used(tvm.script.from_source(text), text, rows), proofs=True)


def _verify_indices(text: str, rows: str = "") -> None:
    try:
        if rows:
            indices.compare_used(text, rows)
        else:
            indices.compare(text)
    except Unusable:
        return


def _passing(name: str) -> Case:
    (program,) = passing.some(1, int(name))
    return Case(partial(_said_of_script, program.text), partial(_verify_passing, program))


def _said_of_script(text: str) -> Said:
    return said_of(load_module(text, "script"), proofs=True)


def _verify_passing(program: passing.Program) -> None:
    try:
        for planned in (False, True):
            passing.compare(program, planned=planned)
    except passing.Unusable:
        return


def _passes(name: str) -> Case:
    (program,) = through_passes.some(1, int(name))
    return Case(partial(_said_behind_passes, program), partial(_verify_passes, program))


def _said_behind_passes(program: through_passes.Program) -> Said:
    """At every stage."""
    module = tvm.script.from_source(program.text)
    stages = through_passes.stages(module, fused=program.fused)
    said = {stage: said_of(found) for stage, found in stages if stage}
    claims = (f"{stage}: {claim}" for stage, one in said.items() for claim in one.claims)
    findings = (f"{stage}: {finding}" for stage, one in said.items() for finding in one.findings)
    words = (f"{stage}: {line}" for stage, one in said.items() for line in one.words)
    return Said(tuple(claims), tuple(findings), tuple(words))


def _verify_passes(program: through_passes.Program) -> None:
    try:
        through_passes.compare(program)
    except passing.Unusable:
        return


KINDS: Mapping[str, Callable[[str], Case]] = {
    "requests": _request,
    "functions": _functions,
    "formulas": _formulas,
    "expressions": _expressions,
    "indices": _indices,
    "passing": _passing,
    "passes": _passes,
}
