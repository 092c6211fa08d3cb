"""A tensor on one of several storages, of which a branch chooses: a check for the smallest one refuses what fits into another
one, so it is no safe fix.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import relax_lint
from relax_lint.replay import Machine, Module, Outcome, Tensor
from relax_lint.replay.modules import load_module
from tests.fixes.fixing import findings, fixed

PROGRAM = """from tvm.script import ir as I, relax as R, tirx as T


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("m",), "float32"), c: R.Tensor((), "bool")):
        m = T.int64()
        s = R.memory.alloc_storage(R.shape([8]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        z = R.memory.alloc_storage(R.shape([{other}]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        if c:
            q0 = s
            q = q0
        else:
            q1 = z
            q = q1
        t = R.memory.alloc_tensor({on}, R.prim_value(0), R.shape([m]), R.dtype("float32"))
        return R.shape_of(t)
"""
FITS = "m <= 2"
"""Into 8 bytes; 16 bytes hold four elements."""


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with Machine() as machine:
        yield machine


def _ends(machine: Machine, text: str, m: int, c: bool) -> Outcome:
    inputs = (Tensor("float32", (m,)), Tensor("bool", (), int(c)))
    return machine.run(Module(text), "main", inputs, allocator="naive").outcome


@pytest.mark.vm
def test_what_fits_where_the_branch_leads_is_not_refused(machine: Machine) -> None:
    text = PROGRAM.format(other=16, on="q")
    assert [finding.safe_when for finding in findings(text) if finding.rule == "RLX101"] == [FITS]
    assert _ends(machine, text, 3, True) is Outcome.ERROR
    assert _ends(machine, text, 3, False) is Outcome.OK
    assert fixed(text).text == text
    assert FITS not in relax_lint.fix(load_module(text, "script")).script()
    checked = fixed(text, unsafe=True).text
    assert f"R.assert_op({FITS}" in checked
    assert _ends(machine, checked, 3, False) is Outcome.ERROR


@pytest.mark.vm
@pytest.mark.parametrize(("other", "on"), [(8, "q"), (16, "s")])
def test_what_fits_on_no_way_is_refused(machine: Machine, other: int, on: str) -> None:
    """Storages of one size, and a storage that nothing chooses."""
    text = PROGRAM.format(other=other, on=on)
    checked = fixed(text, relax_lint.Config(fix_strategy="assert")).text
    assert f"R.assert_op({FITS}" in checked
    for c in (True, False):
        assert _ends(machine, text, 3, c) is _ends(machine, checked, 3, c) is Outcome.ERROR
        assert _ends(machine, text, 2, c) is _ends(machine, checked, 2, c) is Outcome.OK
