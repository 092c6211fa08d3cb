"""The programs: each family by name, with what is said of it and what else tells whether that is so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any

import sympy
import tvm

from benchmarks.kernel_callers import called
from relax_lint.model.kernels import Kernel
from relax_lint.replay.modules import load_module
from relax_lint.settings.config import Config
from tests.metamorphic.programs import programs as written
from tests.metamorphic.programs import read
from tests.oracle import strategies
from tests.oracle.compare import compare_first_failures, compare_verdicts
from tests.oracle.heap import compare as heap
from tests.oracle.heap.program import random_program
from tests.oracle.heap.program import text as heap_text
from tests.oracle.kernels import compare as bodies
from tests.oracle.kernels.bodies import some as some_bodies
from tests.oracle.kernels.interpreter import sizes
from tests.oracle.program import Program
from tests.oracle.program import text as program_text
from tests.oracle.tir import compare as kernels
from tests.oracle.tir.writer import some as some_kernels
from tests.strength.claims import WHERE, Said, said_of
from tests.strength.collected import said_of_kernel, texts
from tests.strength.drawn import KINDS, Case, chosen
from tests.strength.lowered import models, said_of_model, verify_model
from tests.strength.optional import NothingSaid, optional
from tests.strength.questions import question, said_of_question, verify_question
from tests.strength.scheduled import said_of_scheduled, scheduled

RANDOM, HEAPS, BODIES, KERNELS, QUESTIONS = 40, 80, 320, 80, 500
SEED = 14


@cache
def cases(family: str) -> Mapping[str, Case]:
    """The programs of a family, by name."""
    return dict(FAMILIES[family]())


def _written() -> Iterator[tuple[str, Case]]:
    """The examples and those of the rule pages; they have tests of their own."""
    for program in written():
        if not program.name.startswith("random"):
            yield program.name, Case(partial(_of_written, program))


class NoModule(Exception):
    """TVM does not take the text, or there is not one module."""


def _of_written(program: Any) -> Said:
    module = read(program)
    if module is None:
        raise NoModule
    return said_of(module, program.config, proofs=True)


def _random() -> Iterator[tuple[str, Case]]:
    for tidy in (False, True):
        for number, program in enumerate(strategies.some(RANDOM // 2, SEED, tidy=tidy)):
            name = f"{'tidy' if tidy else 'random'} {number}"
            yield name, Case(partial(_of_text, program_text(program)), partial(_verify_random, program))


def _verify_random(program: Program) -> None:
    compare_verdicts(program)
    compare_first_failures(program)


def _of_text(text: str, *, proofs: bool = False) -> Said:
    return said_of(load_module(text, "script"), proofs=proofs)


def _heaps() -> Iterator[tuple[str, Case]]:
    for number in range(HEAPS):
        program = random_program(SEED * 1000 + number)
        yield f"heap {number}", Case(partial(_of_text, heap_text(program)), partial(heap.compare, program))


def _lowered() -> Iterator[tuple[str, Case]]:
    for name, model in models():
        yield name, Case(partial(said_of_model, model), partial(verify_model, model))


def _kernels() -> Iterator[tuple[str, Case]]:
    for number, kernel in enumerate(some_kernels(KERNELS, SEED, more=False)):
        yield f"kernel {number}", Case(partial(_of_kernel, kernel), partial(kernels.compare, kernel))


def _of_kernel(kernel: Any) -> Said:
    prim_func = kernels.read(kernel)
    return said_of(called(prim_func), Config())


def _scheduled() -> Iterator[tuple[str, Case]]:
    for name, source in scheduled():
        yield name, Case(partial(said_of_scheduled, name, source))


def _questions() -> Iterator[tuple[str, Case]]:
    for number in range(QUESTIONS):
        seed, trying = SEED * 1000 + number, number % 3 == 0
        said, verify = partial(_of_question, seed, trying), partial(_verify_question, seed, trying)
        yield f"question {number}", Case(said, verify)


def _of_question(seed: int, trying: bool) -> Said:
    return said_of_question(question(seed), trying=trying)


def _verify_question(seed: int, trying: bool) -> None:
    verify_question(question(seed), trying=trying)


def _bodies() -> Iterator[tuple[str, Case]]:
    for number, body in enumerate(some_bodies(BODIES, SEED)):
        yield f"body {number}", Case(partial(_of_body, body), partial(bodies.compare, body))


def _of_body(body: Any) -> Said:
    return Said(tuple(_claims_of(bodies.kernel_of(body)[1])))


def _claims_of(kernel: Kernel) -> Iterator[str]:
    """What a body does to its two buffers: the claims that it does not do more."""
    for pairs in ("elementwise", "copies", "read_before"):
        yield from (f"{pairs} {one} {other}" for one, other in sorted(getattr(kernel, pairs)))
    for place in (0, 1):
        yield from [f"{place} is not read"] if place not in kernel.reads else []
        yield from [f"{place} is not written"] if place not in kernel.writes else []
        yield from [f"{place} is read first"] if kernel.first_reads.get(place) else []
        whole = kernel.whole_writes.get(place, sympy.false)
        yield from [f"{place} is whole{WHERE}{whole}"] if whole != sympy.false else []
    if kernel.differs is not None:
        for n, m in sizes():
            yield f"{n}, {m}: differs {kernel.differs(bodies.values_of(kernel, n, m), 1, 0, 0)}"
    for race in kernel.inside.races:
        yield f"race {race.element} {race.loop} {race.kind} {race.reads} harmless{WHERE}{race.harmless}"
    for early in kernel.inside.unwritten_reads:
        yield f"unwritten {early.element} {early.ever} harmless{WHERE}{early.harmless}"
    yield from (f"unused {buffer.buffer} {buffer.scope} {buffer.written}" for buffer in kernel.inside.unused)


def _modules() -> Iterator[tuple[str, Case]]:
    for name, text in texts("modules"):
        yield name, Case(partial(_of_text, text, proofs=True))


def _single() -> Iterator[tuple[str, Case]]:
    for name, text in texts("kernels"):
        yield name, Case(partial(said_of_kernel, text))


def _optional() -> Iterator[tuple[str, Case]]:
    for name, said in optional():
        yield name, Case(said)


UNUSABLE = (NoModule, NothingSaid, bodies.Unusable, kernels.Unusable, tvm.error.InternalError)
"""What is raised where a random program is none that TVM takes."""

FAMILIES: Mapping[str, Callable[[], Iterator[tuple[str, Case]]]] = {
    "written": _written,
    "random": _random,
    "lowered": _lowered,
    "heaps": _heaps,
    "kernels": _kernels,
    "bodies": _bodies,
    "questions": _questions,
    "scheduled": _scheduled,
    "modules": _modules,
    "single": _single,
    "optional": _optional,
    **{f"drawn {kind}": partial(chosen, kind) for kind in KINDS},
}
