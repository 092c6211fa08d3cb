"""Two `If`s on one condition take the same branch unless something may overwrite it in between, by whatever name."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.model.builder import build_program
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.compute import measure
from tests.rules.checking import parse
from tests.totals.asked_twice import FUNCTIONS, PACKED, PURE, Behaviour, Drawing, Drawn, inputs


def drawn(seed: int, count: int, *, unknown: bool) -> dict[str, Drawn]:
    """Functions by name."""
    drawing = Drawing(seed, unknown=unknown)
    return {f"f{number}": drawing.draw() for number in range(count)}


def text_of(functions: dict[str, Drawn]) -> str:
    """A module of them."""
    return FUNCTIONS + "".join(one.text(name) for name, one in functions.items())


def said(functions: dict[str, Drawn]) -> dict[str, int]:
    """The most that each takes, as the totals say."""
    program = build_program(parse(text_of(functions)))
    found = {}
    for name in functions:
        peak = measure(program, program.by_name[name]).peak_live
        assert not isinstance(peak, Unknown), peak
        found[name] = int(peak.size)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_the_most_is_what_the_worst_call_takes(seed: int) -> None:
    functions = drawn(seed, 40, unknown=False)
    exact = 0
    for name, most in said(functions).items():
        runs = list(functions[name].runs())
        real = max(size for size, _ in runs)
        assert most >= real, functions[name].text(name)
        if not any(overwritten for _, overwritten in runs):
            assert most == real, functions[name].text(name)
            exact += real == 2010
    assert exact >= 5


@pytest.mark.parametrize("seed", range(3))
def test_whatever_functions_do_that_are_not_known(seed: int) -> None:
    functions = drawn(100 + seed, 40, unknown=True)
    for name, most in said(functions).items():
        assert most >= max(size for size, _ in functions[name].runs()), functions[name].text(name)


@pytest.mark.vm
def test_the_machine_takes_the_same_branches() -> None:
    functions = drawn(7, 10, unknown=True)

    def turns(one: tvm.runtime.Tensor) -> tvm.runtime.Tensor:
        one.copyfrom(~one.numpy())
        return one

    tvm.register_global_func(PACKED, turns, override=True)
    tvm.register_global_func(PURE, lambda one: one, override=True)
    machine = relax.VirtualMachine(tvm.compile(parse(text_of(functions)), "llvm"), tvm.cpu())
    for name, one in functions.items():
        for c, d in inputs():
            given = [tvm.runtime.tensor(np.array(each.holds)) for each in (c, d)]
            if c is d:
                given = given[:1] * 2
            real = sum(int(np.prod(part.shape)) for part in machine[name](*given))
            assert one.bytes_of(c, d, Behaviour()) == real, one.text(name)
