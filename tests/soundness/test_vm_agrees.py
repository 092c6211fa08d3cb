"""Every verdict of the bounds rules against the real virtual machine, input by input."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import relax_lint
from relax_lint.replay import Machine, Module, Outcome, Tensor
from relax_lint.settings.config import Config

from .programs import POINTS, module, predicted, programs

BOUNDS = ("RLX101", "RLX102", "RLX103", "RLX104")
PER_MODULE = 25


def compare(count: int, seed: int, folder: Path, allocator: str) -> Counter[str]:
    """Run `count` random programs at every point; the number of points by what was predicted and happened.

    With the pooled allocator alone the claims are about its pages, so that both allocators are judged by
    what they really do.
    """
    functions = programs(count, seed)
    text = module(functions)
    path = folder / "programs.py"
    path.write_text(text, encoding="utf-8")
    report = relax_lint.check(str(path), Config(select=BOUNDS, allocators=(allocator,)))
    outcomes: Counter[str] = Counter()
    with Machine() as machine:
        for function in functions:
            checks = [check for check in report.checks if check.function == function.name]
            for m in POINTS:
                safe = predicted(checks, BOUNDS, m)
                run = machine.run(Module(text), function.name, [Tensor("int8", (m,))], allocator=allocator)
                guarded = run.error_type == "AssertionError"
                fine = run.outcome is Outcome.OK
                outcomes[
                    f"{'undecided' if safe is None else 'safe' if safe else 'wrong'}: {_word(fine, guarded)}"
                ] += 1
                context = f"{allocator}, m = {m}: {run}\n{function.text}\n{checks}"
                if guarded:
                    continue
                # What is called safe runs; what is called wrong by the size alone is refused (the VM
                # lets some negative offsets and extents through).
                assert not (safe is True and not fine), context
                sized = predicted(checks, ("RLX101",), m) is False
                signs = predicted(checks, ("RLX102", "RLX103", "RLX104"), m)
                assert not (sized and signs is True and fine), context
    return outcomes


def _word(fine: bool, guarded: bool) -> str:
    return "stopped by its assert" if guarded else "ran" if fine else "refused"


@pytest.mark.vm
@pytest.mark.parametrize("allocator", ["naive", "pooled"])
def test_the_virtual_machine_does_what_the_verdicts_say(allocator: str, tmp_path: Path) -> None:
    outcomes = compare(PER_MODULE, 1, tmp_path, allocator)
    assert outcomes["safe: ran"] > 50
    assert outcomes["wrong: refused"] > 10
    assert not any(outcome.startswith("undecided") for outcome in outcomes)


@pytest.mark.vm
@pytest.mark.slow
@pytest.mark.parametrize("allocator", ["naive", "pooled"])
@pytest.mark.parametrize("seed", range(2, 22))
def test_the_virtual_machine_does_what_the_verdicts_say_at_length(
    allocator: str, seed: int, tmp_path: Path
) -> None:
    compare(PER_MODULE, seed, tmp_path, allocator)
