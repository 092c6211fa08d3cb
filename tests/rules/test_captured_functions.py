"""Functions that RewriteCUDAGraph takes out of others: what they write in part, return unwritten, and are given."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from relax_lint.results.check import Check, is_finding
from tests.rules.checking import DOUBLE, LOWERING, checks, parse, stages

PERHAPS = """
@T.prim_func(private=True, s_tir=True)
def perhaps(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        if x[i] > T.float32(0):
            y[i] = x[i]
"""
"""It may write all of its result, or a part."""
ON_GIVEN = 'R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))'
CALLED = """
@R.function(private=True, pure=False)
def inner({parameters}):
    s2 = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    c = R.memory.alloc_tensor(s2, R.prim_value(0), R.shape([4]), R.dtype("float32"))
{inside}

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    s1 = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    d = R.memory.alloc_tensor(s1, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    old = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    _ = Module.double(x, old)
    _1 = Module.double(old, d)
{calls}
    return d
"""
FILLS = (
    "a: R.Tensor((4,), 'float32'), b: R.Tensor((4,), 'float32')",
    f"b = {ON_GIVEN}; _2 = Module.inner(x, b)",
)
MAKES = (
    "a: R.Tensor((4,), 'float32'), s: R.Object",
    "made = Module.inner(x, s); _2 = Module.double(made, d)",
)
WRITE, READ = "_3 = Module.perhaps(a, b)", "_4 = Module.double(b, c)"


def found(shape: tuple[str, str], inside: Sequence[str]) -> list[Check]:
    """What is reported of `main` where the inner function does this."""
    parameters, calls = shape
    body = CALLED.format(
        parameters=parameters,
        inside="\n".join(f"    {line}" for line in inside),
        calls="\n".join(f"    {line}" for line in calls.split("; ")),
    )
    said = checks(parse(DOUBLE + PERHAPS + body), "RLX205")
    return [check for check in said if is_finding(check) and check.function == "main"]


@pytest.mark.parametrize(
    ("shape", "inside", "severity"),
    [
        (FILLS, [WRITE, READ, "return c"], "note"),
        (FILLS, [READ, WRITE, "return c"], "warning"),
        (FILLS, [READ, "return c"], "warning"),
        (MAKES, [f"b = {ON_GIVEN}", WRITE, "return b"], "note"),
        (MAKES, [f"b = {ON_GIVEN}", "return b"], "warning"),
    ],
)
def test_what_a_callee_may_write_in_part_only_is_not_taken_for_unwritten(
    shape: tuple[str, str], inside: list[str], severity: str
) -> None:
    (one,) = found(shape, inside)
    assert one.severity.value == severity
    assert ("only a part of it may be written" in one.message) == (severity == "note")


def test_what_a_callee_writes_on_one_branch_alone_may_hold_anything() -> None:
    inside = [
        'flag = R.call_packed("flag", ty_args=[R.Tensor((), "bool")])',
        "if flag:",
        f"    {WRITE}",
        "    z = a",
        "else:",
        "    z = a",
        READ,
        "return c",
    ]
    (one,) = found(FILLS, inside)
    assert one.severity.value == "warning"


CAPTURED = """
@R.function(pure=False)
def capture(x: R.Tensor((4,), "float32"), s: R.Object):
    s1 = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    u = R.memory.alloc_tensor(s1, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    _ = Module.double(x, u)
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    return t
"""
CALLER = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t: R.Tensor((4,), "float32") = R.call_builtin_with_ctx(
        "vm.builtin.cuda_graph.run_or_capture",
        (Module.capture, (x, s), R.prim_value(0)),
        ty_args=[R.Tensor((4,), "float32")],
    )
    %s
    return t
"""


@pytest.mark.parametrize(
    ("caller", "functions"),
    [
        (CALLER % "_ = Module.double(x, t)", []),
        (CALLER % "_ = x", ["main"]),
        ("", ["capture"]),
    ],
)
def test_a_tensor_on_a_given_storage_is_for_the_callers_to_write(caller: str, functions: list[str]) -> None:
    said = checks(parse(DOUBLE + CAPTURED + caller), "RLX205")
    assert [check.function for check in said if is_finding(check)] == functions


WEIGHTS = """
@R.function
def main(
    x: R.Tensor(("n",), "float32"), w: R.Tuple(R.Tensor(("m",), "float32"), R.Tensor(("m", 2), "float32"))
):
    R.func_attr({"num_input": 1})
    n, m = T.int64(), T.int64()
    with R.dataflow():
        first = w[0]
        y = R.call_tir(Module.double, (first,), R.Tensor((m,), "float32"))
        R.output(y)
    return y
"""


def test_the_extent_of_a_weight_in_a_tuple_is_the_one_that_was_read() -> None:
    names = {make.__name__ for make in LOWERING}
    for name, module in stages(parse(DOUBLE + WEIGHTS)):
        if name in names:
            assert not any(map(is_finding, checks(module, "RLX301"))), name


HEAP = """
@R.function(pure=False)
def main(w: R.Tuple(R.Tensor(("m",), "float32"), R.Tensor(("m",), "float32"))):
    R.func_attr({"num_input": 0})
    m = T.int64()
    heap = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (R.prim_value(1),), ty_args=[R.Any])
    a: R.Tensor((m,), "float32") = w[0]
    b: R.Tensor((m,), "float32") = w[1]
    _ = R.call_packed("vm.builtin.match_shape", a, heap, 1, 1, 0, R.str(""), ty_args=[R.Any])
    _1 = R.call_packed("vm.builtin.match_shape", b, heap, 1, 1, 0, R.str(""), ty_args=[R.Any])
    shape = R.call_packed("vm.builtin.make_shape", heap, 1, 1, 0, ty_args=[R.Shape(ndim=1)])
    s = R.vm.alloc_storage(shape, 0, "float32")
    y = R.vm.alloc_tensor(s, 0, shape, "float32")
    _2 = Module.double(%s, y)
    return y
"""


@pytest.mark.parametrize("given", ["a", "b"])
def test_of_two_weights_that_nothing_compares_one_alone_has_the_declared_extent(given: str) -> None:
    said = checks(parse(DOUBLE + HEAP % given), "RLX301")
    assert not any(check.verdict.value == "always-fine" for check in said if check.function == "main")
