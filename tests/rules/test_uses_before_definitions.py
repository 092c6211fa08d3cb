"""RLX204 in modules that are put together by hand: TVMScript cannot be written so, but passes can leave it so."""

from __future__ import annotations

from typing import Any

import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks

VECTOR = relax.TensorType([4], "float32")
Bindings = list[tuple[str, str]]


def module(*body: Any, result: str) -> tvm.IRModule:
    """A function of `x` and a condition: each binding is a name and that of the operand of its `R.exp`; a pair of
    lists is an `If` called `r`, whose branches give what they bind last.
    """
    names = {name: relax.Var(name, VECTOR) for name in "xabcdr"}
    condition = relax.Var("condition", relax.TensorType([], "bool"))

    def bound(bindings: Bindings) -> list[Any]:
        return [relax.VarBinding(names[name], relax.op.exp(names[operand])) for name, operand in bindings]

    def branch(bindings: Bindings) -> Any:
        return relax.SeqExpr([relax.BindingBlock(bound(bindings))], names[bindings[-1][0]])

    found = []
    for one in body:
        if isinstance(one[0], list):
            found.append(relax.VarBinding(names["r"], relax.If(condition, branch(one[0]), branch(one[1]))))
        else:
            found += bound([one])
    whole = relax.SeqExpr([relax.BindingBlock(found)], names[result])
    return tvm.IRModule({"main": relax.Function([names["x"], condition], whole, VECTOR)})


@pytest.mark.parametrize(
    ("body", "result", "said"),
    [
        ((("a", "x"), ("b", "a")), "b", []),
        ((("b", "a"), ("a", "x")), "b", [("always-wrong", "b")]),
        ((("a", "a"),), "a", [("always-wrong", "a")]),
        # In a branch, in both, behind them.
        ((([("b", "a"), ("a", "x")], [("c", "x")]),), "r", [("always-wrong", "b")]),
        ((([("b", "a")], [("c", "x")]), ("a", "x")), "r", [("always-wrong", "b")]),
        ((([("a", "x")], [("c", "a")]),), "r", [("always-wrong", "c")]),
        ((([("a", "x")], [("c", "x")]), ("d", "a")), "d", [("needs-runtime-check", "d")]),
        ((([("a", "x")], [("c", "x")]),), "a", [("needs-runtime-check", None)]),
        ((("a", "x"), ([("b", "a")], [("c", "a")])), "r", []),
    ],
)
def test_a_value_that_is_made_later_or_elsewhere(
    body: tuple[Any, ...], result: str, said: list[tuple[str, str | None]]
) -> None:
    found = checks(module(*body, result=result), "RLX204")
    assert [(check.verdict.value, check.binding) for check in found] == said


def test_a_shape_is_asked_of_something() -> None:
    x, stray = relax.Var("x", VECTOR), relax.Var("stray", VECTOR)
    shape = relax.Var("shape", relax.ShapeType(ndim=1))
    block = relax.BindingBlock([relax.VarBinding(shape, relax.op.shape_of(stray))])
    function = relax.Function([x], relax.SeqExpr([block], x), VECTOR)
    (found,) = checks(tvm.IRModule({"main": function}), "RLX204")
    # Nothing uses the shape: `FoldConstant` leaves that out, and what remains runs.
    assert (found.verdict.value, found.binding) == ("needs-runtime-check", "shape")
