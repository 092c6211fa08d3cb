"""Lifetime rules on what TVM's passes make, at every stage of them."""

from __future__ import annotations

from typing import Any

import pytest
import tvm
from tvm import relax

from tests.rules.by_hand import said
from tests.rules.checking import findings, parse, stages

PLANNED = "StaticPlanBlockMemory"
BEFORE_0_27 = tvm.__version__.startswith("0.26")

CHAIN = """
@R.function
def main(x: R.Tensor(("n", 4), "float32")):
    n = T.int64()
    a = R.add(x, x)
    b = R.reshape(a, (n * 4,))
    c = R.exp(b)
    parts = R.split(R.reshape(c, (n, 4)), 2, axis=1)
    d = R.add(parts[0], parts[1])
    e = R.concat((d, d), axis=1)
    f = R.sum(e, axis=[1])
    return (f, e, x)
"""
FUNCTIONS = """
@R.function(private=True)
def pair(y: R.Tensor((8, 4), "float32")):
    a = R.add(y, y)
    b = R.exp(a)
    return (a, b)

@R.function
def main(x: R.Tensor((8, 4), "float32")):
    p = Module.pair(x)
    a = p[0]
    b = p[1]
    c = R.add(a, b)
    q = (a, b)
    d = q[1]
    e = R.add(c, d)
    return R.exp(e)
"""
KERNELS = """
@R.function
def main(x: R.Tensor((4, 8), "float32"), w: R.Tensor((8, 8), "float32")):
    a = R.matmul(x, w)
    b = R.nn.softmax(a)
    c = R.cumsum(b, axis=1)
    d = R.sort(c, axis=1)
    e = R.topk(d, k=3, axis=1)
    f = R.nn.layer_norm(d, R.sum(w, axis=[0]), R.sum(w, axis=[1]), axes=[1])
    g = R.max(f, axis=[0])
    h = R.take(g, R.const([1, 2], "int64"), axis=0)
    return (e[0], e[1], h)
"""


@pytest.mark.parametrize("body", [CHAIN, FUNCTIONS, KERNELS], ids=["chain", "functions", "kernels"])
def test_nothing_is_said_of_what_the_compiler_makes(body: str) -> None:
    for stage, module in stages(parse(body)):
        assert said(module) == [], stage


BRANCHES = """
@R.function
def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
    if c:
        a = R.exp(x)
        r = R.add(a, x)
    else:
        b = R.negative(x)
        r = R.multiply(b, x)
    return r
"""


def test_the_storage_of_the_other_branch_from_planning_on() -> None:
    planned = False
    for stage, module in stages(parse(BRANCHES)):
        planned = planned or stage == PLANNED
        found = findings(module, "RLX204")
        assert [(check.verdict.value, check.binding) for check in found] == (
            [("always-wrong", "alloc2")] if planned else []
        ), stage
        assert [related.message for check in found for related in check.related] == (
            ["`storage` is defined here"] if planned else []
        )


INNER = """
@R.function
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    @R.function
    def f(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        a = R.exp(y)
        b = R.exp(a)
        d = R.add(b, y)
        return d
    g = R.exp(x)
    h = R.exp(g)
    k = f(h)
    return R.add(k, x)
"""


def test_the_storage_of_an_inner_function() -> None:
    (found,) = findings(dict(stages_until_planned(INNER))[PLANNED], "RLX204")
    assert found.verdict.value == "always-wrong"
    assert "which is defined only in the inner function `f`" in found.message


def stages_until_planned(body: str) -> list[tuple[str, Any]]:
    """The stages that a module with inner functions survives."""
    passes = [
        relax.transform.LegalizeOps(),
        relax.transform.ToNonDataflow(),
        relax.transform.RemovePurityChecking(),
        relax.transform.CallTIRRewrite(),
    ]
    with tvm.target.Target("llvm"):
        module = tvm.transform.Sequential(passes)(parse(body))
        return [("CallTIRRewrite", module), (PLANNED, relax.transform.StaticPlanBlockMemory()(module))]


def alias_program(alias: str) -> str:
    """A tensor that lives on as `v` while the planner reuses its storage, if it does not see that."""
    return f"""
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    t = R.add(x, x)
    v = {alias}
    r = R.exp(x)
    s = R.exp(r)
    return R.add(v, s)
"""


@pytest.mark.parametrize(
    ("alias", "wrong"),
    [
        ("t", False),
        ('R.match_cast(t, R.Tensor((4,), "float32"))', BEFORE_0_27),
        (
            'R.call_packed("vm.builtin.reshape", t, R.shape([4]), ty_args=R.Tensor((4,), "float32"))',
            BEFORE_0_27,
        ),
        ('R.call_packed("vm.builtin.copy", t, ty_args=R.Tensor((4,), "float32"))', True),
        ("R.reshape(t, (4,))", False),
    ],
    ids=["name", "match_cast", "vm.builtin.reshape", "vm.builtin.copy", "reshape"],
)
def test_aliases_that_the_planner_does_not_see(alias: str, wrong: bool) -> None:
    for stage, module in stages(parse(alias_program(alias))):
        found = [verdict for rule, verdict, _ in said(module) if rule == "RLX203"]
        before = stage in ("parsed", "LegalizeOps", "ToNonDataflow", "RemovePurityChecking", "CallTIRRewrite")
        assert found == (["always-wrong"] if wrong and not before else []), stage


CAST = """
@R.function
def main(x: R.Tensor((10, 20), "float32"), y: R.Tensor("float32", ndim=2)):
    cast = R.match_cast(y, R.Tensor((10, 20), "float32"))
    c = R.add(x, cast)
    d = R.call_dps_packed("mix", (c, y), R.Tensor((10, 20), "float32"))
    return d
"""


def test_a_cast_that_is_not_trivial_keeps_its_register_when_shapes_are_lowered() -> None:
    for stage, module in stages(parse(CAST)):
        assert said(module) == [], stage
