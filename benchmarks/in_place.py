"""The share of in-place calls of TVM's own in-place pass that are proved fine, and whether they run right.

python -m benchmarks.in_place [--count N] [--layers N]

The pass (`relax.transform.DataflowUseInplaceCalls`) is run over the small modules that are written at random
here and over the benchmark models. With `--count` modules also run on the virtual machine: with and without
the pass they must return the same. The exit code is 1 where they do not although all is called fine.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.relax.transform import ConvertToDataflow, DataflowUseInplaceCalls, LegalizeOps

from benchmarks.bugs.bug import written_out
from benchmarks.common import counts, options
from benchmarks.victims import victims
from relax_lint.judging.report import check_module
from relax_lint.model.builder import build_program
from relax_lint.model.operations import KernelCall
from relax_lint.replay.modules import load_module
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from tests.programs import transformer

RULES = Config(select=("RLX203", "RLX205", "RLX206"))
_ONE = (
    "R.exp({0})",
    "R.nn.silu({0})",
    "R.nn.gelu({0})",
    "R.nn.relu({0})",
    "R.negative({0})",
    "R.nn.softmax({0}, axis=-1)",
    "R.nn.log_softmax({0}, axis=-1)",
    "R.nn.layer_norm({0}, g, b, axes=[-1])",
    "R.nn.rms_norm({0}, g, axes=[-1])",
    "R.reshape(R.reshape({0}, ({rows} * 8,)), ({rows}, 8))",
    "R.flip({0}, axis=1)",
    "R.cumsum({0}, axis=1)",
    "R.clip({0}, -1, 1)",
    "R.concat(R.split({0}, 2, axis=1), axis=1)",
    "R.permute_dims(R.permute_dims({0}))",
)
_TWO = (
    "R.add({0}, {1})",
    "R.subtract({0}, {1})",
    "R.multiply({0}, {1})",
    "R.maximum({0}, {1})",
    "R.where(R.greater({0}, {1}), {0}, {1})",
    "R.matmul({0}, R.matmul(R.permute_dims({1}), {0}))",
)


def text(chance: random.Random, rows: str) -> str:
    """One module of several operators in a dataflow block."""
    lines = [f"function main(x: f32[{rows}, 8], y: f32[{rows}, 8], g: f32[8], b: f32[8]):"]
    names = ["x", "y"]
    for place in range(chance.randint(2, 8)):
        if chance.random() < 0.2:
            source, halves = chance.choice(names), f"h{place}"
            lines.append(f"    {halves} = R.split({source}, 2, axis=1)")
            lines.append(f"    i{place} = {chance.choice(('R.exp', 'R.nn.silu'))}({halves}[0])")
            lines.append(f"    t{place} = R.concat((i{place}, {halves}[1]), axis=1)")
        else:
            form = chance.choice(_TWO if chance.random() < 0.5 else _ONE)
            chosen = [chance.choice(names), chance.choice(names)]
            lines.append(f"    t{place} = {form.format(*chosen, rows=rows)}")
        names = [*names[-3:], f"t{place}"]
    lines.append(f"    return {names[-1]}")
    return "\n".join(lines)


def modules(count: int, layers: int) -> Iterator[tuple[str, Any]]:
    """Names and modules as they are written."""
    for seed in range(count):
        chance = random.Random(seed)
        rows = chance.choice(("4", "n"))
        yield f"random {seed}", load_module(written_out(text(chance, rows)), "script")
    yield from ((victim.name, victim.module) for victim in victims(0))
    yield f"transformer, {layers} layers", transformer.exported(layers, bounded=False)


def in_place(module: Any) -> Any:
    """The module after the in-place pass."""
    return DataflowUseInplaceCalls()(ConvertToDataflow()(module))


def verdicts(module: Any) -> dict[tuple[str | None, int | None], list[Any]]:
    """What is said of each in-place call, by function and place."""
    calls: dict[tuple[str | None, int | None], list[Any]] = {}
    program = build_program(module)
    for function in program.functions:
        for op in function.body.walk():
            if isinstance(op, KernelCall) and op.kind.in_place:
                calls[function.name, op.place.index] = []
    for check in check_module(module, RULES).checks:
        key = check.function, check.binding_index
        # What happens to a parameter is up to the caller: the pass asks whether it may be overwritten.
        if key in calls:
            calls[key].append(check)
    return calls


def results(module: Any, seed: int) -> np.ndarray[Any, Any] | None:
    """What the module returns for an input; None where TVM does not compile it."""
    try:
        compiled = tvm.compile(LegalizeOps()(module), target="llvm")
    except Exception:
        return None
    machine = relax.VirtualMachine(compiled, tvm.cpu())
    numbers = np.random.default_rng(seed)
    shapes = ((4, 8), (4, 8), (8,), (8,))
    arguments = [tvm.runtime.tensor(numbers.random(shape, "float32")) for shape in shapes]
    found = machine["main"](*arguments)
    return np.asarray(found.numpy())


def main() -> int:
    given = options(__doc__, count=60, layers=2, run=30)
    seen: Counter[str] = Counter()
    wrong: list[str] = []
    rows: dict[str, Counter[str]] = {}
    for name, module in modules(given.count, given.layers):
        try:
            lowered = in_place(module)
        except Exception as error:
            seen[f"not taken by the pass: {type(error).__name__}"] += 1
            continue
        found = verdicts(lowered)
        kind = "random modules" if name.startswith("random") else name
        count = rows.setdefault(kind, Counter())
        count["modules"] += 1
        fine = True
        for checks in found.values():
            bad = [check for check in checks if check.verdict is not Verdict.ALWAYS_FINE]
            fine = fine and not bad
            count["in-place calls"] += 1
            count["proved fine"] += not bad
            count["always-wrong"] += any(check.verdict is Verdict.ALWAYS_WRONG for check in bad)
            for check in bad:
                seen[f"{name}: {check.rule} {check.verdict.value}: {check.message} ({check.proof})"] += 1
        if name.startswith("random") and int(name.split()[1]) < given.run:
            plain, other = results(module, 1), results(lowered, 1)
            count["runs"] += plain is not None and other is not None
            if (
                plain is not None
                and other is not None
                and not np.allclose(plain, other, 1e-4, 1e-5, equal_nan=True)
            ):
                count["other results"] += 1
                if fine:
                    wrong.append(name)
    words = ("modules", "in-place calls", "proved fine", "always-wrong", "runs", "other results")
    print(counts("what", words, rows))
    print("\n".join(f"{count:4} {reason}" for reason, count in sorted(seen.items())))
    if wrong:
        print(f"all is called fine, and the result differs: {', '.join(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
