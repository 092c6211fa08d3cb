"""Constants whose elements the text of a module omits, as TVM prints every array unless it is told otherwise: as indices,
as conditions, folded and replayed. What is said of the text has to hold whatever they are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

import relax_lint
from relax_lint.replay import Machine, Module, Tensor
from relax_lint.replay.confirm import confirm
from relax_lint.results.check import Check
from relax_lint.results.confirmation import Status
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from tests.guarded import guarded_machine
from tests.rules.checking import parse
from tests.rules.test_constants_as_indices import GATHER

guarded = pytest.fixture(guarded_machine)
HEADER = "# from tvm.script import ir as I\n# from tvm.script import relax as R, tirx as T\n"
TAKE = """
@R.function
def main(x: R.Tensor((16,), "float32")) -> R.Tensor((2,), "float32"):
    i = R.add(R.const({held}, "int64"), R.const([1, 1], "int64"))
    y = R.take(x, i, axis=0)
    return y
"""
BRANCH = """
@R.function
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    c = R.const({held}, "bool")
    s = R.memory.alloc_storage(R.shape([{then}]), R.prim_value(0), R.str("global"), R.dtype("float32"))
    q = R.memory.alloc_storage(R.shape([{other}]), R.prim_value(0), R.str("global"), R.dtype("float32"))
    if c:
        t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
        z = t
    else:
        u = R.memory.alloc_tensor(q, R.prim_value(0), R.shape([4]), R.dtype("float32"))
        z = u
    return z
"""


def _printed(module: Any, *, elements: bool = False) -> str:
    return HEADER + str(module.script(show_meta=elements))


def _said(text: str, folder: Path, code: str, **options: Any) -> list[Check]:
    path = folder / "printed.py"
    path.write_text(text)
    report = relax_lint.check(str(path), Config(select=(code,), **options))
    assert report.files[0].input.status == "checked"
    return list(report.checks)


@pytest.mark.parametrize("index", ["at[i]", "at[i] - 1", "at[i] + 1"])
@pytest.mark.parametrize("held", [[0, 1], [15, 14], [-1, 16]])
def test_an_index_may_be_any(tmp_path: Path, index: str, held: list[int]) -> None:
    module = parse(GATHER.format(type="int64", index=index, held=held))
    same = _said(_printed(parse(GATHER.format(type="int64", index=index, held=[7, 7]))), tmp_path, "RLX30")
    found = _said(_printed(module), tmp_path, "RLX30")
    assert [check.message for check in found] == [check.message for check in same]
    bounds = [check for check in found if check.rule in ("RLX306", "RLX308")]
    assert all(check.verdict is not Verdict.ALWAYS_WRONG for check in bounds)
    assert all(check.assumes for check in bounds if check.verdict is Verdict.ALWAYS_FINE)


@pytest.mark.vm
def test_the_machine_reads_beyond_what_is_not_known(tmp_path: Path, guarded: Machine) -> None:
    """The elements that the text omits make the difference."""
    for held, is_damaged in (([0, 15], False), ([0, 40_000], True)):
        module = parse(GATHER.format(type="int64", index="at[i]", held=held))
        x = [Tensor("float32", (16,))]
        text = _printed(module, elements=True)
        result = guarded.run(Module(text), "main", x, allocator="naive")
        assert (result.damage is not None) == is_damaged
        wrong = [one for one in _said(text, tmp_path, "RLX30") if one.verdict is Verdict.ALWAYS_WRONG]
        assert bool(wrong) == is_damaged


@pytest.mark.parametrize("held", [[0, 1], [20, 3]])
def test_what_is_computed_of_it_is_not_folded(tmp_path: Path, held: list[int]) -> None:
    module = parse(TAKE.format(held=held))
    known = _said(_printed(module, elements=True), tmp_path, "RLX", lower=True)
    found = _said(_printed(module), tmp_path, "RLX", lower=True)
    assert all(check.verdict is not Verdict.ALWAYS_WRONG for check in found)
    assert len(found) > len(known)


@pytest.mark.parametrize(("then", "other"), [(8, 16), (16, 8)])
def test_a_condition_may_be_either(tmp_path: Path, then: int, other: int) -> None:
    text = _printed(parse(BRANCH.format(held="True", then=then, other=other)))
    omitted = text.replace('R.const(True, "bool")', 'metadata["ir.GenericConst"][0]')
    assert omitted != text
    found = {check.binding: check.verdict for check in _said(omitted, tmp_path, "RLX101")}
    assert found == {
        "t": Verdict.ALWAYS_WRONG if then < 16 else Verdict.ALWAYS_FINE,
        "u": Verdict.ALWAYS_WRONG if other < 16 else Verdict.ALWAYS_FINE,
    }
    # Of the branch that is not taken nothing is said.
    known = {check.binding: check.verdict for check in _said(text, tmp_path, "RLX101")}
    assert known == {"t": found["t"]}


@pytest.mark.vm
def test_the_machine_takes_one_of_the_branches() -> None:
    for held, is_right in ((True, False), (False, True)):
        module = parse(BRANCH.format(held=held, then=8, other=16))
        machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu(), memory_cfg="naive")
        x = tvm.runtime.tensor(np.zeros(4, "float32"))
        if is_right:
            machine["main"](x)
        else:
            with pytest.raises(Exception, match="storage"):
                machine["main"](x)


@pytest.mark.vm
def test_it_is_not_replayed(tmp_path: Path) -> None:
    path = tmp_path / "printed.py"
    for held, is_omitted in (("True", False), ("[1, 2]", True)):
        text = BRANCH.format(held="True", then=8, other=16).replace(
            "return z", f"return (z, R.const({held}))"
        )
        path.write_text(_printed(parse(text.replace(' -> R.Tensor((4,), "float32")', ""))))
        config = Config(select=("RLX101",))
        report = confirm(relax_lint.check(str(path), config), config)
        (found,) = (one.confirmation for one in report.checks if one.confirmation is not None)
        assert (found.status is Status.NOT_RUNNABLE) == is_omitted
        assert ("show_meta=True" in found.reason) == is_omitted
