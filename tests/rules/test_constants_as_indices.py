"""Constants, and what kernels compute of nothing, as indices: of loads and stores, with something added to them,
in another type, and where a guard or a clamp stands between them and the index.
"""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.replay import Machine, Module, Outcome, Tensor
from tests.guarded import guarded_machine
from tests.rules.checking import checks, parse

guarded = pytest.fixture(guarded_machine)
HEAD = "from tvm.script import ir as I, relax as R, tirx as T\n\n@I.ir_module\nclass Module:\n"
GATHER = """
@T.prim_func(private=True)
def f(a: T.handle, c: T.handle, b: T.handle):
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    at = T.match_buffer(c, (m,), "{type}")
    y = T.match_buffer(b, (m,), "float32")
    for i in range(m):
        y[i] = x[{index}]

@R.function
def main(x: R.Tensor((16,), "float32")) -> R.Tensor((2,), "float32"):
    y = R.call_tir(Module.f, (x, R.const({held}, "{type}")), R.Tensor((2,), "float32"))
    return y
"""
SCATTER = """
@T.prim_func(private=True)
def f(c: T.handle, b: T.handle):
    n = T.int64()
    m = T.int64()
    at = T.match_buffer(c, (m,), "int64")
    y = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        y[i] = T.float32(0)
    for i in range(m):
        {guard}
            y[{index}] = T.float32(1)

@R.function
def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
    n = T.int64()
    y = R.call_tir(Module.f, (R.const({held}, "int64"),), R.Tensor((n,), "float32"))
    return y
"""


def _said(text: str) -> set[tuple[str, str, str | None]]:
    module = parse(text)
    found = [*checks(module, "RLX306"), *checks(module, "RLX308")]
    return {
        (one.rule, one.verdict.value, one.safe_when) for one in found if one.verdict.value != "always-fine"
    }


def _text(kernel: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in kernel.splitlines())


@pytest.mark.vm
@pytest.mark.parametrize(
    ("type_", "index", "held"),
    [
        ("int64", 'T.Cast("int8", at[i])', [259, 1]),
        ("int64", 'T.Cast("int32", at[i])', [2**32 + 1, 1]),
        ("int32", 'T.Cast("uint8", at[i])', [-255, 1]),
        ("int64", 'T.Cast("int8", at[i] + 1)', [255, 1]),
        ("int64", 'T.Cast("int8", at[i]) + T.int8(1)', [255, 1]),
        ("int64", "at[i] - 1", [16, 1]),
        ("int64", "1 + at[i]", [14, -1]),
        ("uint8", 'T.Cast("int32", at[i])', [15, 0]),
    ],
)
def test_what_runs_right_is_not_called_wrong(type_: str, index: str, held: list[int]) -> None:
    module = parse(GATHER.format(type=type_, index=index, held=held))
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    x = np.arange(16, dtype="float32")
    found = machine["main"](tvm.runtime.tensor(x)).numpy()
    assert set(found) <= set(x)
    assert {verdict for _, verdict, _ in _said(GATHER.format(type=type_, index=index, held=held))} <= {
        "needs-runtime-check"
    }


@pytest.mark.parametrize(
    ("index", "held", "verdict"),
    [
        ("at[i] - 1", [0, 1], "always-wrong"),
        ("at[i] + 1", [15, 1], "always-wrong"),
        ('T.Cast("int32", at[i]) + 1', [15, 1], "always-wrong"),
        ('T.Cast("int64", at[i] - 2)', [18, 2], "always-wrong"),
        ("at[i] - 1", [16, 1], None),
        ('T.Cast("int64", at[i] - 2)', [17, 2], None),
        ("at[i] + 1 - 1", [15, 0], None),
    ],
)
def test_a_number_that_is_added_counts(index: str, held: list[int], verdict: str | None) -> None:
    found = _said(GATHER.format(type="int64", index=index, held=held))
    assert found == (set() if verdict is None else {("RLX308", verdict, None)})


@pytest.mark.vm
@pytest.mark.parametrize(
    ("guard", "index", "held", "at", "said"),
    [
        # Stored to as they are.
        ("if True:", "at[i]", [7, -1, 2], (8,), ("RLX308", "always-wrong", None)),
        ("if True:", "at[i]", [7, 0, 2], (7,), ("RLX308", "needs-runtime-check", "n >= 8")),
        ("if True:", "at[i] - 1", [7, 0, 2], (8,), ("RLX308", "always-wrong", None)),
        # What is known to be outside is not assumed to be inside.
        ("if at[i] < n:", "at[i]", [7, -1, 2], (1, 8), ("RLX306", "needs-runtime-check", None)),
        ("if at[i] >= 0:", "at[i]", [7, -1, 2], (1, 7), ("RLX306", "needs-runtime-check", None)),
        ("if i > 0:", "at[i - 1]", [-7, 0, 2], (1, 8), ("RLX306", "needs-runtime-check", None)),
        ("if True:", "T.truncmod(at[i], n)", [7, -1, 2], (8,), ("RLX306", "needs-runtime-check", None)),
        ("if True:", "T.min(at[i], n - 1)", [7, -1, 2], (1, 8), ("RLX306", "needs-runtime-check", None)),
    ],
)
def test_indices_that_a_store_uses(
    guarded: Machine, guard: str, index: str, held: list[int], at: tuple[int, ...], said: tuple[str, str, str]
) -> None:
    text = SCATTER.format(guard=guard, index=index, held=held)
    for size in at:
        result = guarded.run(Module(_text(text)), "main", [Tensor("float32", (size,))], allocator="naive")
        assert result.damage is not None
    assert _said(text) == {said}


@pytest.mark.vm
@pytest.mark.parametrize(
    ("guard", "index", "held"),
    [
        ("if at[i] < n:", "at[i]", [7, 0, 2]),
        ("if at[i] >= 0 and at[i] < n:", "at[i]", [7, -1, 2]),
        ("if True:", "at[i] % n", [7, -1, 2]),
        ("if True:", "T.truncmod(at[i], n)", [7, 1, 2]),
    ],
)
def test_what_keeps_them_inside(guarded: Machine, guard: str, index: str, held: list[int]) -> None:
    text = SCATTER.format(guard=guard, index=index, held=held)
    for size in (1, 3, 8):
        result = guarded.run(Module(_text(text)), "main", [Tensor("float32", (size,))], allocator="naive")
        assert result.damage is None
        assert result.outcome is Outcome.OK
    assert _said(text) == set()


@pytest.mark.parametrize(
    ("guard", "told"), [("if at[i] >= 0:", "it is inside if n >= 8"), ("if at[i] < n:", None)]
)
def test_it_is_told_when_all_elements_are_inside(guard: str, told: str | None) -> None:
    (check,) = checks(parse(SCATTER.format(guard=guard, index="at[i]", held=[7, -1, 2])), "RLX306")
    assert "which elements of argument 0 are indices is not known" in check.message
    assert check.severity.value == "note"
    assert [note for note in check.notes if note.startswith("it is inside")] == ([told] if told else [])


COMPUTED = """
@T.prim_func(private=True)
def less(b: T.handle):
    m = T.int64()
    at = T.match_buffer(b, (m,), "int64")
    for i in range(m):
        at[i] = T.int64({first}) + i

@T.prim_func(private=True)
def f(c: T.handle, b: T.handle):
    n = T.int64()
    m = T.int64()
    at = T.match_buffer(c, (m,), "int64")
    y = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        y[i] = T.float32(0)
    for i in range(m):
        if at[i] < n:
            y[at[i]] = T.float32(1)

@R.function
def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
    n = T.int64()
    at = R.call_tir(Module.less, (), R.Tensor((4,), "int64"))
    y = R.call_tir(Module.f, (at,), R.Tensor((n,), "float32"))
    return y
"""


@pytest.mark.vm
@pytest.mark.parametrize(("first", "is_inside"), [(-1, False), (0, True)])
def test_what_kernels_compute_is_not_assumed_to_be_otherwise(
    guarded: Machine, first: int, is_inside: bool
) -> None:
    text = COMPUTED.format(first=first)
    result = guarded.run(Module(_text(text)), "main", [Tensor("float32", (4,))], allocator="naive")
    assert (result.damage is None) is is_inside
    assert _said(text) == (set() if is_inside else {("RLX306", "needs-runtime-check", None)})
