"""What shares bytes on one storage, and what is still needed: against a plain list."""

from __future__ import annotations

import random

import pytest
import sympy

from relax_lint.analysis.flow import FunctionFlow, ProgramFlow
from relax_lint.analysis.overlaps import ByteRange
from relax_lint.analysis.placed import Neighbours, PlacedTensors, Stretch, stretch
from relax_lint.model.builder import build_program
from relax_lint.model.operations import AllocTensor, ValueId
from relax_lint.symbolic.quantity import Unknown
from tests.rules.checking import parse


@pytest.mark.parametrize("seed", range(40))
def test_what_meets_what_is_needed_and_what_holds_something(seed: int) -> None:
    chance = random.Random(seed)
    placed, plain, filled = PlacedTensors(), {}, set()
    for now in range(40):
        if chance.random() < 0.5:
            tensor, where = (
                ValueId(now),
                Stretch(chance.randrange(40), chance.choice((0, 1, 1, 3, 8, 17, 40))),
            )
            plain[tensor] = where, now + chance.randrange(12)
            placed.add(tensor, *plain[tensor])
        for tensor in chance.sample(range(now + 1), min(now, 2)):
            placed.fill(ValueId(tensor))
            filled |= {ValueId(tensor)} & plain.keys()
        asked = Stretch(chance.randrange(50), chance.choice((0, 1, 2, 9, 50)))
        needed = {tensor for tensor, (_, last) in plain.items() if last > now}
        bytes_of = {tensor: set(range(w.start, w.start + w.length)) for tensor, (w, _) in plain.items()}
        wanted = set(range(asked.start, asked.start + asked.length))
        assert placed.needed(now) == sorted(needed)
        assert placed.meeting(asked, now) == sorted(t for t in needed if bytes_of[t] & wanted)
        for tensor, (where, _) in plain.items():
            assert where.meets(asked) == asked.meets(where) == bool(bytes_of[tensor] & wanted)
        excluded = set(chance.sample(sorted(plain), min(len(plain), 3)))
        count, which = placed.others(excluded, now)
        left = sorted((needed & filled) - excluded)
        assert count == len(left)
        assert sorted(which()) == left


def test_bytes_are_numbers_or_nothing() -> None:
    n = sympy.Symbol("n", integer=True)
    two, why = sympy.Integer(2), Unknown("nobody knows")
    assert stretch(ByteRange(two, sympy.Integer(5))) == Stretch(2, 5)
    for start, length in ((n, two), (two, n), (why, two), (two, why)):
        assert stretch(ByteRange(start, length)) is None


SCRIPT = """
@R.function(pure=False)
def main(c: R.Tensor((), "bool")):
    s = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("float32"))
    a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    b = R.memory.alloc_tensor(s, R.prim_value(16), R.shape([4]), R.dtype("float32"))
    d = R.memory.alloc_tensor(s, R.prim_value(32), R.shape([4]), R.dtype("float32"))
    LINES
    return a
"""


@pytest.mark.parametrize(
    ("lines", "apart"),
    [
        ("e = d", "abd"),
        ("if c:\n        e = a\n    else:\n        e = b", "d"),
        ("if c:\n        e = d\n    else:\n        e = a", "b"),
        ("e = R.memory.view(b, R.shape([2]))", "ad"),
    ],
)
def test_what_has_a_name_that_is_something_else_too_is_not_looked_after(lines: str, apart: str) -> None:
    program = build_program(parse(SCRIPT.replace("LINES", lines)))
    (main,) = program.functions
    flow = FunctionFlow(ProgramFlow(program), main)
    found = Neighbours(main, flow.aliases, flow.memory)
    made = {op.result: main.values[op.result].name for op in main.body.of(AllocTensor)}
    assert [name for tensor, name in made.items() if found.allocate(tensor, 99)] == list(apart)
