"""RLX303 of tensors that start inside of an element: without elements there is none that is out of line."""

from __future__ import annotations

import pytest

from relax_lint.replay import Machine, Module, Outcome, Tensor
from tests.rules.checking import checks, parse

PROGRAM = """
@T.prim_func(private=True)
def fill(p: T.handle):
    n = T.int64()
    x = T.match_buffer(p, (n,), "float32", {form})
    for i in range(n):
        x[i] = T.float32(7)

@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    s = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    a = R.memory.alloc_tensor(s, R.prim_value({at}), R.shape([{extent}]), R.dtype("float32"))
    w = Module.fill(a)
    return a
"""


@pytest.mark.parametrize(
    ("form", "at", "extent", "said", "when", "severity"),
    [
        ("offset_factor=1", 2, "0", "always-fine", None, "none"),
        ("offset_factor=1", 2, "3", "always-wrong", None, "error"),
        ("offset_factor=1", 2, "n", "needs-runtime-check", "n <= 0", "error"),
        ("offset_factor=1", 4, "n", "always-fine", None, "none"),
        # The entry counts whole elements.
        ("offset_factor=4", 2, "0", "always-fine", None, "none"),
        ("offset_factor=4", 10, "0", "always-wrong", None, "error"),
        ("elem_offset=0", 2, "0", "always-wrong", None, "error"),
    ],
)
def test_an_empty_tensor_may_start_inside_of_an_element(
    form: str, at: int, extent: str, said: str, when: str | None, severity: str
) -> None:
    (found,) = checks(parse(PROGRAM.format(form=form, at=at, extent=extent)), "RLX303")
    assert (found.verdict.value, found.safe_when, found.severity.value) == (said, when, severity)


@pytest.mark.vm
@pytest.mark.parametrize(
    ("form", "at", "runs"), [("offset_factor=4", 2, True), ("offset_factor=4", 10, False)]
)
def test_the_virtual_machine_counts_whole_elements(form: str, at: int, runs: bool) -> None:
    head = "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:\n"
    body = PROGRAM.format(form=form, at=at, extent="0").replace("\n", "\n    ")
    with Machine() as machine:
        result = machine.run(Module(head + body), "main", [Tensor("float32", (1,))], allocator="naive")
    assert (result.outcome is Outcome.OK) is runs
