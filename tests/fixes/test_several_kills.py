"""Several kills of one value before a use: every fix that is shown makes its finding go away, and all go at once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest

import relax_lint
from relax_lint.repair.apply import apply_edits
from relax_lint.repair.trials import Trial, Trials
from relax_lint.replay import Machine, Module, Outcome, Scalar, Tensor
from relax_lint.replay.modules import load_module
from tests.fixes.fixing import findings, fixed
from tests.fixes.round_trips import is_same
from tests.fixes.test_killed_and_returned import HEAD, KILLS

KILL, OTHER, USE = "R.memory.kill_tensor(a)", "R.memory.kill_tensor(e)", "cls.double(a, b)"
VIEW = 'v = R.memory.view(a, R.shape([2]), R.dtype("float32"), 0)'
BOTH = ("if c:", f"    {KILL}", "    r = x", "else:", f"    {KILL}", "    r = b")
EACH = ("if c:", f"    {KILL}", f"    {USE}", "    r = x", "else:", f"    {KILL}", f"    {USE}", "    r = b")
INNER = (
    *("if c:", "    if c:", f"        {KILL}", "        q = x", "    else:", f"        {KILL}"),
    *("        q = b", f"    {USE}", "    r = q", "else:", "    r = x"),
)
STORAGE = "R.memory.kill_storage(s)"
ON_IT = 't = R.memory.alloc_tensor(s, 0, R.shape([2]), "float32")'
SHAPES = {
    "twice": (KILL, KILL, USE),
    "twice by one name": (f"d = {KILL}", f"d = {KILL}", VIEW, USE),
    "twice by another name of it": (KILL, OTHER, USE),
    "three times": (KILL, KILL, OTHER, USE),
    "twice, with a use between": (KILL, USE, KILL, VIEW),
    "a storage twice": (STORAGE, STORAGE, ON_IT, USE),
    "in both branches": (*BOTH, USE),
    "before and in both branches": (KILL, *BOTH, USE),
    "in both branches and after": (*BOTH, KILL, USE),
    "before and in branches that use it": (KILL, *EACH, VIEW),
    "in both branches of a branch": INNER,
}


@dataclass(frozen=True)
class _Offer:
    trial: Trial


def program(*lines: str) -> str:
    """A function with some lines, which returns something else."""
    return HEAD + "".join(f"        {line}\n" for line in ("e = a", *lines, "return b"))


@pytest.mark.parametrize("name", SHAPES)
def test_each_fix_makes_its_finding_go_away(name: str) -> None:
    text = program(*SHAPES[name])
    before = findings(text, KILLS)
    for check in before:
        for fix in check.fixes:
            after = findings(apply_edits(text, fix.edits), KILLS)
            assert len(after) < len(before), f"{check.rule} of {check.binding}: {fix.title}"


def test_a_way_that_had_a_kill_keeps_one() -> None:
    branch = ("if c:", f"    {KILL}", f"    {USE}", "    r = x", "else:", "    r = b")
    after = fixed(program(KILL, *branch), KILLS).text
    assert after == program(*branch[:1], *branch[2:], KILL)


def whole() -> str:
    """All of them in one module, as `f0`, `f1` and so on."""
    head, function = HEAD.split("    @R.function")
    functions = [
        f"    @R.function{function.replace('main', f'f{number}')}{lines}"
        for number, shape in enumerate(SHAPES.values())
        for lines in [program(*shape).removeprefix(HEAD)]
    ]
    return head + "\n".join(functions)


def test_all_go_at_once() -> None:
    text = whole()
    after = fixed(text, KILLS).text
    assert not findings(after, KILLS)
    assert fixed(after, KILLS).text == after
    module = relax_lint.fix(load_module(text, "script"), KILLS)
    assert not relax_lint.check(module, KILLS).findings
    assert is_same(relax_lint.fix(module, KILLS), module)
    assert is_same(module, load_module(after, "script"))


def test_what_is_tried_in_vain_is_tried_again_once_something_else_was_made() -> None:
    first, second = (_Offer(Trial((code, None, "main", "a"), code, 0, True)) for code in ("RLX201", "RLX202"))
    trials = Trials()
    both = Counter([first.trial.subject, second.trial.subject])
    assert not trials.settle([first], both, both)
    assert not trials.try_again()
    assert first.trial.key in trials.refused
    assert trials.settle([second], both, Counter([first.trial.subject]))
    assert trials.try_again()
    assert not trials.refused
    assert not trials.try_again()


@pytest.mark.vm
def test_runs_that_failed_are_right_then() -> None:
    after = fixed(whole(), KILLS).text
    with Machine() as machine:
        for number in range(len(SHAPES)):
            for choice in (True, False):
                inputs = (Tensor("float32", (4,)), Scalar(choice))
                run = machine.run(Module(after, "script"), f"f{number}", inputs)
                assert run.outcome is Outcome.OK, run
