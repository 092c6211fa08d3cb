"""Branches that no run takes: an assertion that can never hold is put into each, and no run meets it.

python -m tests.oracle.untaken [--minutes 5] [--programs N] [--seed N]

Random programs, half of them with shape heaps, run with every condition at some sizes. The branches around those get
such an assertion too, to see that they are reached: how often is counted.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import tvm
from tvm import relax

from relax_lint.analysis.flow import FunctionFlow, ProgramFlow
from relax_lint.fixes.module.rewriting import address
from relax_lint.model.builder import build_program
from relax_lint.model.operations import If
from relax_lint.replay import Input, Machine, Module, Shape, Tensor
from relax_lint.replay.modules import load_module
from tests.oracle import compare as verdicts
from tests.oracle.answers import NOT_COMPARED, is_answer
from tests.oracle.clock import Clock
from tests.oracle.evaluator import Call
from tests.oracle.heap import compare as heaps
from tests.oracle.heap.program import SKIP, Match, Step, random_program
from tests.oracle.heap.program import Branch as HeapBranch
from tests.oracle.heap.program import text as heap_text
from tests.oracle.program import is_planned_across_branches, text
from tests.oracle.strategies import some

MET = "a branch is taken"
Branch: TypeAlias = tuple[int, bool]
"""The `If`, by the address of its node, and whether it is the branch where the condition holds."""
Calls: TypeAlias = Sequence[tuple[str, Sequence[Input]]]


def _marked(body: Any, branches: Collection[Branch], *, is_wanted: bool = False) -> Any:
    """A body with the assertion at the beginning of some branches, and perhaps at its own."""
    blocks = []
    if is_wanted:
        call = relax.op.assert_op(relax.const(False, "bool"), format=MET)
        blocks.append(relax.BindingBlock([relax.VarBinding(relax.Var("met", relax.TupleType([])), call)]))
    for block in body.blocks:
        bindings = [_with_branches(binding, branches) for binding in block.bindings]
        blocks.append(type(block)(bindings))
    made = relax.SeqExpr(blocks, body.body)
    relax.expr._update_type(made, body.ty)
    return made


def _with_branches(binding: Any, branches: Collection[Branch]) -> Any:
    op = binding.value
    if not isinstance(op, relax.If):
        return binding
    then, other = (
        _marked(branch, branches, is_wanted=(address(op), holds) in branches)
        for branch, holds in ((op.true_branch, True), (op.false_branch, False))
    )
    made = relax.If(op.cond, then, other)
    relax.expr._update_type(made, binding.var.ty)
    return relax.VarBinding(binding.var, made)


def marked(module: Any, branches: Collection[Branch]) -> Module:
    """The module with the assertion in these branches, to be run."""
    found = tvm.IRModule(dict(module.functions_items()), attrs=module.attrs)
    for name, function in module.functions_items():
        if isinstance(function, relax.Function):
            body = _marked(function.body, branches)
            found[name] = relax.Function(
                function.params, body, function.ret_ty, function.is_pure, function.attrs
            )
    return Module(tvm.ir.save_json(relax.transform.Normalize()(found)), "json")


def branches_of(module: Any) -> tuple[list[Branch], list[Branch]]:
    """The branches that no run takes, as the linter says, and others with an `If` that has one of these inside."""
    program = build_program(module)
    flow = ProgramFlow(program)
    untaken: list[Branch] = []
    around: list[Branch] = []
    for function in program.functions:
        places = FunctionFlow(flow, function).untaken.places
        for op in function.body.of(If):
            for block, holds in ((op.then_block, True), (op.else_block, False)):
                inside = [inner.place.index for inner in block.walk()]
                if inside and places.issuperset(inside):
                    untaken.append((address(op.place.node), holds))
                elif not places.isdisjoint(inside):
                    around.append((address(op.place.node), holds))
    return untaken, around


def compare(module: Any, calls: Calls, machine: Machine) -> Counter[str]:
    """No call takes a branch that no run takes; whether some call takes one around it. Raises Disagreement."""
    untaken, around = branches_of(module)
    seen: Counter[str] = Counter()
    if not untaken:
        return seen
    seen["branches that no run takes"] += len(untaken)
    if _meets(marked(module, untaken), calls, machine, seen):
        raise verdicts.Disagreement(f"a branch is taken:\n{module.script()}")
    seen["programs"] += 1
    seen["branches around them are taken"] += _meets(marked(module, around), calls, machine, seen)
    return seen


def _meets(module: Module, calls: Calls, machine: Machine, seen: Counter[str]) -> bool:
    found = False
    for function, inputs in calls:
        result = machine.run(module, function, inputs, allocator="naive")
        if result.stage == "build":
            raise verdicts.Disagreement(f"not built: {result.message}")
        seen["runs" if is_answer(result) else NOT_COMPARED] += 1
        found = found or (result.error_type == "AssertionError" and MET in str(result.message))
    return found


def heap_case(seed: int, *, bare: bool = False) -> tuple[Any, Calls]:
    """A random program with a shape heap, and the calls of which it is known what they do; `bare`: nothing but
    its branches, so that nothing ends a call before them.
    """
    program = _bare(random_program(seed)) if bare else random_program(seed)
    points = [point for point in heaps.points() if heaps.Run(point).call(program).known]
    inputs = [
        (Tensor("float32", (p.n,)), Tensor("float32", (p.m,)), Shape((p.k,)), Tensor("bool", (), int(p.c)))
        for p in points
    ]
    return load_module(heap_text(program), "script"), [("main", each) for each in inputs]


def _bare(steps: Sequence[Step]) -> tuple[Step, ...]:
    return tuple(
        replace(step, then=_bare(step.then), other=_bare(step.other))
        if isinstance(step, HeapBranch)
        else Match(step.name, "x", SKIP, 0)
        for step in steps
    )


def random_case(seed: int) -> tuple[Any, Calls]:
    """A random program, and such calls."""
    (program,) = some(1, seed, tidy=bool(seed % 2))
    calls = [
        (function.name, verdicts.as_inputs(point))
        for function in ([] if is_planned_across_branches(program) else program.functions)
        for point in verdicts.points()[::7]
        if all(getattr(point, name) <= limit for name, limit in function.upper)
        and Call(program, function, point, "naive", faithful=True).run().ends not in ("undefined", "crash")
    ]
    return load_module(text(program), "script"), calls


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--programs", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    clock, seen, failed = Clock(options.minutes), Counter[str](), 0
    with Machine() as machine:
        for seed in range(options.seed, options.seed + options.programs):
            if clock.is_over:
                break
            seen["tried"] += 1
            module, calls = heap_case(seed, bare=seed % 4 == 1) if seed % 2 else random_case(seed)
            try:
                seen += compare(module, calls, machine)
            except verdicts.Disagreement as error:
                failed += 1
                sys.stdout.write(f"seed {seed}: {error}\n")
    sys.stdout.write(f"{failed} disagreements{clock.ended_by}, {dict(seen)}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
