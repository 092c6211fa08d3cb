"""Figures by hand of calls on paths that a value rules out, and of callees that get a size as a scalar."""

from __future__ import annotations

import pytest
from tvm import relax

from relax_lint.results.memory_figures import Amount
from tests.rules.checking import parse
from tests.totals.test_totals import totals

BRANCHES = """
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    if R.prim_value(n <= 4):
        a = R.builtin.alloc_tensor(R.shape([n]), R.dtype("float32"), R.prim_value(0))
        w = R.call_packed("small", x, a, ty_args=R.Tuple)
        r = a
    else:
        b = R.builtin.alloc_tensor(R.shape([n + 1]), R.dtype("float32"), R.prim_value(0))
        w1 = R.call_packed("large", x, b, ty_args=R.Tuple)
        r = b
    return r
"""


@pytest.mark.parametrize(
    ("binding", "small", "large"),
    [({}, None, None), ({"n": 0}, 0, 0), ({"n": 4}, 16 + 16, 0), ({"n": 5}, 0, 20 + 24)],
)
def test_a_call_uses_nothing_where_it_is_not_made(
    binding: dict[str, int], small: int | None, large: int | None
) -> None:
    found = totals(parse(BRANCHES), binding=binding).calls
    assert [(call.callee, call.used_memory) for call in found] == [
        ("small", Amount("8*n", small)),
        ("large", Amount("8*n + 4", large)),
    ]


SCALARS = """
@R.function(pure=False, private=True)
def f({parameters}):
    a = R.builtin.alloc_tensor(R.shape([{size}]), R.dtype("float32"), R.prim_value(0))
    w = R.call_packed("fill", a, ty_args=R.Tuple)
    return a

@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32"), q: R.Prim("int64")):
    n = T.int64()
    cls = Module
    a = cls.f({arguments})
    return a
"""


@pytest.mark.parametrize(
    ("parameters", "arguments", "size", "bytes_"),
    [
        ('k: R.Prim("int64")', "R.prim_value(n + 1)", "k", Amount("4*n + 4", None)),
        ('k: R.Prim("int64")', "R.prim_value(7)", "k", Amount("28", 28)),
        ('k: R.Prim("int64")', "q", "k", Amount("4*q", None)),
        (
            'k: R.Prim("int64"), j: R.Prim("int64")',
            "R.prim_value(n), R.prim_value(3)",
            "k * j",
            Amount("12*n", None),
        ),
        ('k: R.Shape(["m"]), j: R.Prim("int64")', "R.shape([n]), R.prim_value(3)", "j", Amount("12", 12)),
    ],
)
def test_a_scalar_that_a_callee_gets_is_the_size_that_it_was_given(
    parameters: str, arguments: str, size: str, bytes_: Amount
) -> None:
    module = parse(SCALARS.format(parameters=parameters, arguments=arguments, size=size))
    found = totals(module)
    assert (found.peak_live, found.lower_bound) == (bytes_, bytes_)


COMPUTED = """
@R.function(pure=False, private=True)
def f(k: R.Prim("int64")):
    k = T.int64()
    if R.prim_value(k == 3):
        a = R.builtin.alloc_tensor(R.shape([1024]), R.dtype("uint8"), R.prim_value(0))
        w = R.call_packed("fill", a, ty_args=R.Tuple)
        r = a
    else:
        b = R.builtin.alloc_tensor(R.shape([k]), R.dtype("uint8"), R.prim_value(0))
        w1 = R.call_packed("fill", b, ty_args=R.Tuple)
        r = b
    return r

@R.function(pure=False)
def main(q: R.Prim("int64")):
    q = T.int64()
    a = Module.f(R.prim_value(q + 1))
    return a
"""


@pytest.mark.parametrize("moved", [False, True], ids=["written", "moved into a function"])
@pytest.mark.parametrize(("q", "bytes_"), [(1, 2), (2, 1024), (3, 4)])
def test_a_scalar_that_is_computed_chooses_the_branch_of_a_callee(q: int, bytes_: int, moved: bool) -> None:
    module = parse(COMPUTED)
    if moved:
        module = relax.transform.ComputePrimValue()(module)
        assert len(module.functions) > 2
    found = totals(module, binding={"q": q}).peak_live
    assert found is not None
    assert found.value == bytes_
