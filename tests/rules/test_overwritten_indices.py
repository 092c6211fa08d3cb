"""RLX308 and RLX306: of indices that a kernel has overwritten itself what the argument held tells nothing."""

from __future__ import annotations

import pytest

from relax_lint.replay import Machine, Module, Outcome, Tensor
from relax_lint.results.verdict import Verdict
from tests.guarded import guarded_machine
from tests.rules.checking import checks, parse
from tests.rules.test_computed_indices import FILL, IMPORTS, concrete

LOOP = "    for i in range(m):\n        y[i] = "
BEFORE = LOOP.replace("    for", "    for j in range(m):\n        where[j] = {}\n    for", 1)
BEHIND = "x[where[i]]\n    for j in range(m):\n        where[j] = T.int64(0)"


def text(before: str = "", load: str = "x[where[i]]") -> str:
    """Four indices from 100 on are computed, and used for four elements, perhaps after others are put in their place."""
    found = concrete(FILL.format("100 + i", load), 4)
    return found.replace(LOOP, BEFORE.format(before)) if before else found


def known(source: str) -> list[tuple[str, Verdict]]:
    found = checks(parse(source), "RLX30")
    return [
        (one.rule, one.verdict)
        for one in found
        if one.verdict is not Verdict.ALWAYS_FINE and one.rule in ("RLX306", "RLX308")
    ]


def test_what_is_known_to_be_outside_is_so_where_it_is_used() -> None:
    assert known(text()) == [("RLX308", Verdict.ALWAYS_WRONG)]


@pytest.mark.parametrize("before", ["T.int64(0)", "j - j // 4", "x_"])
def test_what_was_overwritten_is_not_used(before: str) -> None:
    assert known(text(before.replace("x_", "where[j] % 4"))) == []


def test_what_is_overwritten_later_is_not_told_either() -> None:
    assert known(text(load=BEHIND)) == []


machine = pytest.fixture(guarded_machine)


@pytest.mark.vm
@pytest.mark.parametrize(("before", "is_right"), [("T.int64(0)", True), ("T.int64(2**20)", False)])
def test_a_run_sees_what_was_put_in_their_place(before: str, is_right: bool, machine: Machine) -> None:
    lines = text(before).splitlines()
    source = IMPORTS + "@I.ir_module\nclass Module:\n" + "\n".join(f"    {line}" for line in lines)
    result = machine.run(Module(source), "main", [Tensor("float32", (4,))], allocator="naive")
    assert (result.outcome is Outcome.OK and result.damage is None) is is_right
