"""What TVM leaves unchecked is a guess. Where guesses contradict each other, inputs get behind them all the same."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import product

import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

HEAD = """
@R.function(pure=False)
def main({parameters}):
    a = T.int64()
    b = T.int64()
"""
TAIL = """
    s = R.memory.alloc_storage(R.shape([{size}]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([1]), R.dtype("float32"))
    return t
"""
SHAPES = 'h: R.Shape(["a"]), g: R.Shape(["b"])'
TENSORS = 'h: R.Tensor(("a",), "float32"), g: R.Tensor(("b",), "float32")'
EXTENTS = ("a", "b", "a + 1", "b + 1", "a + b", "b - 1", "a * 2", "4")
KEPT = [
    # The casts of a program, and sizes with which the machine gets behind them (None: there are none).
    ((("h", "b"), ("g", "a + 1")), (5, 6)),
    ((("g", "a"), ("h", "b + 1")), (6, 5)),
    ((("h", "b"), ("g", "a")), (5, 6)),
    ((("h", "a + 1"),), None),
    ((("h", "3"), ("h", "4")), None),
]


def _text(casts: tuple[tuple[str, str], ...], shapes: bool, size: int) -> str:
    lines = []
    for number, (name, extent) in enumerate(casts):
        type_ = f"R.Shape([{extent}])" if shapes else f'R.Tensor(({extent},), "float32")'
        lines.append(f"    c{number} = R.match_cast({name}, {type_})")
    head = HEAD.format(parameters=SHAPES if shapes else TENSORS)
    return head + "\n".join(lines) + TAIL.format(size=size)


def _gets_there(text: str, shapes: bool, pairs: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The sizes with which the machine comes to the tensor, which does not fit."""
    built = relax.build(parse(text), "llvm", relax_pipeline="default")
    machine = relax.VirtualMachine(built, tvm.cpu(), memory_cfg="naive")
    found = []
    for sizes in pairs:
        given = [tvm.runtime.ShapeTuple([n]) if shapes else tvm.runtime.empty((n,), "float32") for n in sizes]
        with pytest.raises((AssertionError, tvm.error.InternalError, RuntimeError, ValueError)) as refused:
            machine["main"](*given)
        if "storage allocation failure" in str(refused.value):
            found.append(sizes)
    return found


def _verdicts(text: str) -> tuple[set[Verdict], bool]:
    """What is said of the place of the tensor, and whether some cast is said never to pass."""
    module = parse(text)
    never = any(check.verdict is Verdict.ALWAYS_WRONG for check in checks(module, "RLX505"))
    return {check.verdict for check in checks(module, "RLX101") if check.binding == "t"}, never


@pytest.mark.vm
@pytest.mark.parametrize("shapes", [True, False], ids=["shapes", "tensors"])
@pytest.mark.parametrize(("casts", "sizes"), KEPT)
def test_what_stands_behind_a_guess_is_judged(
    casts: tuple[tuple[str, str], ...], sizes: tuple[int, int] | None, shapes: bool
) -> None:
    text = _text(casts, shapes, 1)
    verdicts, never = _verdicts(text)
    if sizes is None:
        assert never
        assert verdicts == set()
        assert _gets_there(text, shapes, product(range(4), repeat=2)) == []
        return
    assert verdicts == {Verdict.ALWAYS_WRONG}
    assert not never
    assert _gets_there(text, shapes, [sizes]) == [sizes]
    assert _verdicts(_text(casts, shapes, 4))[0] == {Verdict.ALWAYS_FINE}


@pytest.mark.vm
@pytest.mark.parametrize("seed", range(30))
def test_no_input_gets_where_nothing_is_judged(seed: int) -> None:
    chance = random.Random(seed)
    shapes = chance.random() < 0.5
    casts = tuple((chance.choice("hg"), chance.choice(EXTENTS)) for _ in range(chance.randint(1, 3)))
    text = _text(casts, shapes, 1)
    verdicts, never = _verdicts(text)
    found = _gets_there(text, shapes, product(range(7), repeat=2))
    assert verdicts <= {Verdict.ALWAYS_WRONG}
    assert not found or (verdicts and not never)
