"""Random kernels that compute integers, and what the linter knows of these against the interpreter.

python -m tests.oracle.tir.indices [--minutes 10] [--kernels N] [--seed N]

Each kernel stores to `q` what it makes of `p`, of loops and of buffers of its own: clamped, divided, cast,
chosen, reduced, stored in part only. At each size of a grid every element of `q` that was stored has to lie
in the range that the linter states for it, unless it says that something wraps around or is not stored.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from textwrap import indent
from typing import Any

import sympy
import tvm

from relax_lint.facts.kernel_access_verdicts import Status
from relax_lint.judging.module import ModuleJudge
from relax_lint.model.kernel_access.accesses import KernelAccesses
from relax_lint.model.kernel_access.polynomials import Poly
from relax_lint.model.kernel_access.stored import StoredValues
from relax_lint.model.prim_funcs import read_kernel
from relax_lint.settings.config import Config
from relax_lint.symbolic.evaluation import compile_expr
from tests.oracle.tir.compare import Disagreement, Unusable
from tests.oracle.tir.expressions import Declined
from tests.oracle.tir.index_writer import some
from tests.oracle.tir.machine import Machine, Outcome

SIZES = [(n, m) for n in (0, 1, 2, 5) for m in (0, 1, 3)]
_MARK = 101
"""What `q` holds before; an element that still does counts as not stored."""
_Q = 2
"""The position of `q`."""
_SPANS = {"int8": 7, "uint8": 8, "int16": 15, "int32": 31, "int64": 63}


# -- the kernel in a module, whose `q` another one uses ---------------------------------------------

_USED = """
@I.ir_module
class Module:
{producer}

    @T.prim_func(private=True)
    def gather(a: T.handle, c: T.handle, b: T.handle):
        r = T.int64()
        n = T.int64()
        x = T.match_buffer(a, (r,), "float32")
        where = T.match_buffer(c, (n,), "{dtype}")
        y = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            y[i] = x[where[i]]

    @R.function
    def main(p: R.Tensor(("n",), "{given}"), e: R.Tensor(("m",), "int8"), x: R.Tensor(({rows},), "float32")):
        n = T.int64()
        q = R.call_tir(Module.f, (p, e), R.Tensor((n,), "{dtype}"))
        y = R.call_tir(Module.gather, (x, q), R.Tensor((n,), "float32"))
        return y
"""
ROWS = ("1", "4", "8", "128", "256", '"n"', '"m"', '"n + 1"')


def compare_used(text: str, rows: str, seed: int = 1) -> Counter[str]:
    """What is said of an access at the integers that a kernel computes, in an `x` of so many rows, at each
    size. Raises `Disagreement` and `Unusable`.
    """
    try:
        prim_func: Any = tvm.script.from_source(text)
        given = str(prim_func.params[0].dtype)
        module = used(prim_func, text, rows)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise Unusable(f"TVM: {error}") from None
    (said,) = _said_of_gather(module)
    seen: Counter[str] = Counter({"modules": 1, f"gather {said.value}": 1})
    if said not in (Status.PROVED, Status.WRONG):
        return seen
    chance = random.Random(seed)
    for n, m in SIZES:
        extent = int(eval(rows.strip('"'), {"n": n, "m": m}))
        p = contents_of(given, n, chance)
        for unwritten in (120, -100):
            outcome = _run(prim_func, n, m, p, unwritten)
            if outcome is None:
                continue
            outside = [one for one in outcome.contents[_Q] if not 0 <= one < extent]
            if said is Status.PROVED and outside:
                raise Disagreement(
                    f"proved and outside, {outside} in 0..{extent - 1}, at n = {n}, m = {m}, p = {p}"
                )
            if said is Status.WRONG and not outside:
                raise Disagreement(f"wrong and inside, at n = {n}, m = {m}, p = {p}")
            seen["calls compared"] += 1
    return seen


def used(prim_func: Any, text: str, rows: str) -> Any:
    """The kernel in a module, whose `q` another one takes for the indices of an `x` of so many rows."""
    given, dtype = (str(prim_func.params[at].dtype) for at in (0, _Q))
    body = indent(text.replace("(s_tir=True)", "(private=True, s_tir=True)"), "    ")
    return tvm.script.from_source(_USED.format(producer=body, given=given, dtype=dtype, rows=rows))


def _said_of_gather(module: Any) -> Iterator[Status]:
    """What is said of the access of `x`."""
    for function in ModuleJudge(module, Config(select=("RLX306",))).functions():
        for use in function.facts.kernels.uses:
            if use.kernel.name == "gather":
                found = function.facts.indices.verdict(use).open
                yield next((one.status for one in found if one.access.buffer.name == "x"), Status.PROVED)


# -- the comparison --------------------------------------------------------------------------------


def contents_of(dtype: str, count: int, chance: random.Random) -> list[int]:
    """Elements of a dtype: small ones, or any."""
    bits = _SPANS[dtype]
    low = 0 if dtype.startswith("u") else -(2**bits)
    wide = chance.random() < 0.3
    return [
        chance.choice((low, 2**bits - 1, 0, 9)) if wide else chance.randint(max(low, -4), 6)
        for _ in range(count)
    ]


def compare(text: str, seed: int = 1) -> Counter[str]:
    """What is known of the elements of `q` at each size. Raises `Disagreement` and `Unusable`."""
    try:
        prim_func: Any = tvm.script.from_source(text)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise Unusable(f"TVM: {error}") from None
    accesses = read_kernel("f", prim_func).accesses
    values = accesses.values.get(_Q)
    seen: Counter[str] = Counter({"kernels": 1, "stated": int(values is not None)})
    if values is None:
        return seen
    chance = random.Random(seed)
    for n, m in SIZES:
        p = contents_of(str(prim_func.params[0].dtype), n, chance)
        known = {"n": n, "m": m, **({"min(p)": min(p), "max(p)": max(p)} if p else {})}
        for unwritten in (120, -100) if p else ():
            outcome = _run(prim_func, n, m, p, unwritten)
            if outcome is None:
                seen["undefined"] += 1
            else:
                _compare(accesses, values, known, outcome, seen)
    return seen


def _run(prim_func: Any, n: int, m: int, p: Sequence[int], unwritten: int) -> Outcome | None:
    try:
        given = {0: p, 1: [0] * m, _Q: [_MARK] * n}
        outcome = Machine(prim_func).run({"n": n, "m": m}, given, unwritten)
    except Declined as error:
        raise Unusable(f"declined: {error}") from None
    report = outcome.report
    return None if report.undefined or report.failed_assert or report.outside else outcome


def _compare(
    accesses: KernelAccesses,
    values: StoredValues,
    known: Mapping[str, int],
    outcome: Outcome,
    seen: Counter[str],
) -> None:
    def number(p: Poly) -> int:
        return _number(accesses.terms.expression(p), known)

    wraps = any(all(number(p) >= 0 for p in group) for group in values.wraps)
    if wraps or any(number(p) < 0 for p in (*values.steps, *values.reductions)):
        seen["said not to be known"] += 1
        return
    stored = [element for element in outcome.contents[_Q] if element != _MARK]
    ranges = [(number(low), number(high)) for low, high in values.ranges]
    low, high = min(one for one, _ in ranges), max(one for _, one in ranges)
    outside = [element for element in stored if not low <= element <= high]
    if outside:
        raise Disagreement(f"stored outside, {outside} is not within {low}..{high}, at {known}")
    if values.reached and stored and (min(stored), max(stored)) != (low, high):
        raise Disagreement(f"not reached, {low}..{high} of {stored}, at {known}")
    seen["compared"] += 1
    seen["reached"] += values.reached


def _number(expr: sympy.Expr, known: Mapping[str, int]) -> int:
    names = tuple(sorted(expr.free_symbols, key=str))
    return int(compile_expr(expr, names)(*(known[str(name)] for name in names)))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--kernels", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    started, seen, wrong = time.monotonic(), Counter[str](), Counter[str]()
    for text in some(options.kernels, options.seed):
        if time.monotonic() - started > options.minutes * 60:
            break
        try:
            seen += compare(text)
            seen += compare_used(text, ROWS[sum(seen.values()) % len(ROWS)])
        except Unusable as error:
            seen[f"not taken: {str(error).split(':')[0]}"] += 1
        except Exception as error:
            why = str(error).split(",")[0]
            wrong[why] += 1
            if wrong[why] <= 5:
                sys.stdout.write(f"{type(error).__name__}: {error}\n{text}\n\n")
    sys.stdout.write(f"seed {options.seed}: {sum(wrong.values())} disagreements {dict(wrong)}\n")
    for word, count in sorted(seen.items()):
        sys.stdout.write(f"  {word}: {count:,}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
