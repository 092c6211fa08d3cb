"""What TVM makes of models: the corpora that are measured, down to what its code generator gets."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

import tvm

from relax_lint.model.builder import build_program
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.compute import measure
from relax_lint.totals.walk import ExecMode
from relax_lint.vm.allocators import Allocator
from tests.strength.claims import Said, said_of
from tests.totals import interposer
from tests.totals.cases import Case
from tests.totals.corpus import CASES as MAIN
from tests.totals.corpus_packed import CASES as PACKED
from tests.totals.corpus_workspaces import CASES as WORKSPACES
from tests.totals.metering import TARGET, allocating, lowering

# What needs onnx, or takes as long as ten others.
_LEFT_OUT = {"network from ONNX", "decoder, symbolic batch and length"}


def models() -> Iterator[tuple[str, Case]]:
    """The cases of all corpora, by name."""
    found = {case.name: case for case in (*PACKED, *WORKSPACES, *MAIN) if case.name not in _LEFT_OUT}
    yield from found.items()


def said_of_model(case: Case) -> Said:
    """What is said of it, and at each call what the allocators obtain from the system in all."""
    with tvm.target.Target(TARGET):
        module = lowering()(allocating(planned=case.planned)(case.make()))
    said = said_of(module)
    return Said((*said.claims, *_at_calls(module, case)), said.findings, said.words)


def _at_calls(module: Any, case: Case) -> Iterator[str]:
    program = build_program(module)
    function = next(function for function in program.functions if function.name == case.entry)
    for mode in ExecMode:
        for binding, _ in groupby(case.runs, key=lambda run: run.binding):
            found = measure(program, function, exec_mode=mode, binding=binding)
            for allocator in Allocator:
                once, again = found.reserved[allocator], found.repeated[allocator]
                if not isinstance(once, Unknown) and not isinstance(again, Unknown):
                    yield _obtained(mode.value, binding, allocator.value, once, again)


def _obtained(mode: str, binding: dict[str, int], allocator: str, once: object, again: object) -> str:
    return f"{mode} {dict(sorted(binding.items()))} {allocator}: {once} bytes, over two calls {again}"


def verify_model(case: Case) -> None:
    """Raises where the machine obtained something else. The kernels of the other corpora have tests that measure
    them.
    """
    if case not in MAIN:
        return
    measured = _measured()[case.name]
    wrong = [
        claim for claim in said_of_model(case).claims if " bytes, over " in claim and claim not in measured
    ]
    if wrong:
        raise AssertionError(f"{case.name}: not measured: {wrong}")


@lru_cache(maxsize=1)
def _measured() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        modes = [mode.value for mode in ExecMode]
        for row in interposer.measured(Path(folder), "tests.totals.corpus", *modes):
            claim = _obtained(
                row["exec_mode"], row["binding"], row["allocator"], row["measured"], row["measured again"]
            )
            found.setdefault(row["case"], set()).add(claim)
    return found
