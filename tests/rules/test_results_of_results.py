"""RLX201 for a killed tensor that a private function returns, through several functions and several calls: it is wrong
where every run that makes the call comes to a use.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, T4

FINE, UNSURE, WRONG = Verdict.ALWAYS_FINE, Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
GIVEN = """
@R.function(private=True, pure=False)
def {name}_given(p: T4) -> T4:
    k = R.vm.kill_object(p)
    return p
"""
BETWEEN = """
@R.function(private=True, pure=False)
def {name}_between(p: T4):
    one = Module.{name}_given(p)
    return %s
"""
USING = """
@R.function(private=True, pure=False)
def {name}_using(p: T4) -> T4:
    one = Module.{name}_given(p)
    z = R.call_tir(Module.double, (one,), T4)
    return z
"""
MAIN = """
@R.function(pure=False)
def {name}%s(x: T4, c: R.Tensor((), "bool")):
    %s
    return %s
"""
USE = "z = R.call_tir(Module.double, (one,), T4)"


def main(lines: str, result: str = "z", suffix: str = "") -> str:
    """A function that anybody may call."""
    return MAIN % (suffix, lines.replace("; ", "\n    "), result)


def nested(depth: int) -> tuple[str, str]:
    """A tuple in tuples, and what takes the value out of it again."""
    value = "one"
    for _ in range(depth):
        value = f"({value},)"
    names = [f"t{level}" for level in range(depth)]
    taken = [f"{after} = {before}[0]" for before, after in zip(names, [*names[1:], "one"], strict=True)]
    return value, "; ".join(["t0 = Module.{name}_between(x)", *taken, USE])


ALWAYS, NEVER = {True, False}, set[bool]()
DEEP, DEEPER = nested(8), nested(9)
CASES = {
    # The functions; for each function that is called, the conditions at which it fails; the verdict.
    "used": (GIVEN + main(f"one = Module.{{name}}_given(x); {USE}"), [ALWAYS], WRONG),
    "one of two callers": (
        GIVEN
        + main(f"one = Module.{{name}}_given(x); {USE}")
        + main("one = Module.{name}_given(x)", "x", "_other"),
        [ALWAYS, NEVER],
        UNSURE,
    ),
    "both callers": (
        GIVEN
        + main(f"one = Module.{{name}}_given(x); {USE}")
        + main(f"one = Module.{{name}}_given(x); {USE}", suffix="_other"),
        [ALWAYS, ALWAYS],
        WRONG,
    ),
    "nobody": (GIVEN + main("one = Module.{name}_given(x)", "x"), [NEVER], FINE),
    "the first of two fields": (
        GIVEN + BETWEEN % "(one, one)" + main(f"t = Module.{{name}}_between(x); one = t[0]; {USE}"),
        [ALWAYS],
        WRONG,
    ),
    "the second of two fields": (
        GIVEN + BETWEEN % "(one, one)" + main(f"t = Module.{{name}}_between(x); one = t[1]; {USE}"),
        [ALWAYS],
        WRONG,
    ),
    "another field": (
        GIVEN + BETWEEN % "(one, x)".replace("x", "R.const([1, 2, 3, 4], 'float32')")
        + main(f"t = Module.{{name}}_between(x); one = t[1]; {USE}"),
        [NEVER],
        FINE,
    ),
    "a caller that is always called": (
        GIVEN + USING + main("w = Module.{name}_given(x); z = Module.{name}_using(x)"),
        [ALWAYS],
        WRONG,
    ),
    "a caller that is called on some paths": (
        GIVEN
        + USING
        + main("w = Module.{name}_given(x); if c:;     y = Module.{name}_using(x);     z = y; else:;     z = x"),
        [{True}],
        UNSURE,
    ),
    "a caller that one of two calls": (
        GIVEN
        + USING
        + main("z = Module.{name}_using(x)")
        + main("w = Module.{name}_given(x)", "x", "_other"),
        [ALWAYS, NEVER],
        UNSURE,
    ),
    "eight levels down": (GIVEN + BETWEEN % DEEP[0] + main(DEEP[1]), [ALWAYS], WRONG),
    # So deep it is not followed.
    "nine levels down": (GIVEN + BETWEEN % DEEPER[0] + main(DEEPER[1]), [ALWAYS], UNSURE),
}  # fmt: skip


@cache
def functions() -> str:
    """All programs."""
    texts = (text.replace("{name}", f"f{number}") for number, (text, _, _) in enumerate(CASES.values()))
    return KERNELS + "".join(texts).replace("T4", T4)


@cache
def machine() -> relax.VirtualMachine:
    """Of all programs."""
    return relax.VirtualMachine(relax.build(parse(functions()), "llvm"), tvm.cpu())


@cache
def verdicts() -> dict[str, Verdict]:
    """What is said of each function that kills."""
    found = checks(parse(functions()), "RLX201")
    return {check.function or "": check.verdict for check in found if "returned" in check.message}


@pytest.mark.parametrize("name", CASES)
def test_every_run_has_to_come_to_a_use(name: str) -> None:
    number = list(CASES).index(name)
    _, failing, verdict = CASES[name]
    assert verdicts()[f"f{number}_given"] is verdict
    for suffix, wanted in zip(("", "_other"), failing, strict=False):
        failed = set()
        for condition in (True, False):
            given = (np.ones(4, "float32"), np.array(condition))
            try:
                machine()[f"f{number}{suffix}"](*map(tvm.runtime.tensor, given))
            except (RuntimeError, TypeError):
                failed.add(condition)
        assert failed == wanted
