"""What the linter says of a program, what the VM does with it, and what with its twin."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import tvm
from tvm import relax

from relax_lint.judging.report import check_module
from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from tests.oracle.passing import Disagreement, Unusable
from tests.oracle.values.program import BOUND, FIRST, KEEP, KEPT, Program

Answer: TypeAlias = "tuple[float, ...] | str"
"""What is returned, or the error."""
TOLD = {
    "byte_offset": ("RLX303",),
    "expected Tensor": ("RLX201",),
    "Cannot convert from type `None`": ("RLX201",),
    "expect a Tensor": ("RLX505",),
    "storage allocation failure": ("RLX101", "RLX103", "RLX104"),
    "": ("RLX303", "RLX203"),
}
"""By a part of the error (nothing: other numbers are returned), the rules of which one has to say something."""
NUMBERS = (0, 1, 2, 7, 8, 15, 16, 31, 32, 33, BOUND - 2, BOUND - 1)


def register() -> None:
    """The packed functions that the programs call."""
    kept: list[Any] = []

    def keep(one: Any) -> Any:
        kept.append(one)
        return one

    tvm.register_global_func(FIRST, lambda one: one, override=True)
    tvm.register_global_func(KEEP, keep, override=True)
    tvm.register_global_func(KEPT, lambda: kept[-1], override=True)


def compare(program: Program, *, folded: bool = False) -> Counter[str]:
    """Each verdict against what happens. Raises `Disagreement` or `Unusable`; `folded`: see `answers`."""
    answers = _answers(program, folded=folded)
    twin = _answers(program.twin, folded=False)[0]
    if isinstance(twin, str):
        raise Unusable(f"the twin fails: {twin}")
    wanted = twin if program.used else (3.0, 1.0, 4.0, 1.5)
    wrong = [_kind(answer) for answer in answers if answer != wanted]
    checks = check_module(tvm.script.from_source(program.text), Config()).checks
    for kind in dict.fromkeys(wrong):
        # Types are declared as they are: only of packed functions something has to be assumed.
        is_packed = not {"packed", "kept"}.isdisjoint(program.ways)
        if not any(check.rule in TOLD[kind] and _says(check, packed=is_packed) for check in checks):
            raise Disagreement(f"missed: {kind or 'other numbers'}")
    asked = {rule for rules in TOLD.values() for rule in rules}
    certain = [c for c in checks if c.verdict is Verdict.ALWAYS_WRONG and not c.assumes and c.rule in asked]
    for check in certain if len(wrong) < len(answers) else ():
        raise Disagreement(f"false: {check.rule} {check.message}")
    state = "right" if not wrong else "wrong" if len(wrong) == len(answers) else "mixed"
    return Counter({state: 1, f"{state}, said to be wrong": bool(certain)})


def _says(check: Check, *, packed: bool) -> bool:
    return check.verdict is not Verdict.ALWAYS_FINE or (packed and bool(check.assumes))


def _kind(answer: Answer) -> str:
    if not isinstance(answer, str):
        return ""
    return next(part for part in TOLD if part in answer)


@lru_cache(maxsize=1024)
def _answers(program: Program, *, folded: bool) -> tuple[Answer, ...]:
    """What the VM does with each number and either condition; `folded`: with the pipeline that leaves out what nothing
    uses. Raises `Unusable`.
    """
    register()
    target = tvm.target.Target("llvm")
    try:
        module = tvm.script.from_source(program.text)
        pipeline = relax.get_default_pipeline(target) if folded else "default"
        executable = relax.build(module, target, relax_pipeline=pipeline)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise Unusable(str(error)) from None
    machine = relax.VirtualMachine(executable, tvm.cpu(), memory_cfg="naive")
    found: list[Answer] = []
    for number in NUMBERS if program.size else (0,):
        for condition in (False, True):
            given = tvm.runtime.tensor(np.array([3.0, 1.0, 4.0, 1.5], "float32"))
            try:
                result = machine["main"](given, number, tvm.runtime.tensor(np.array(condition)))
            except Exception as error:
                found.append(str(error))
            else:
                found.append(tuple(result.numpy().tolist()))
    return tuple(found)
