"""What the memory program knows of the block that a binding is in."""

from __future__ import annotations

from tests.model.test_builder import X, main_of, module


def test_each_binding_knows_whether_it_is_in_a_dataflow_block() -> None:
    body = """
a = R.add(x, x)
with R.dataflow():
    b = R.add(a, x)
    c = R.match_cast(b, R.Tensor((m, n), "float32"))
    R.output(c)
d = R.match_cast(c, R.Tensor((m, n), "float32"))
return d
"""
    function = main_of(module(X, body))
    assert {op.place.binding: op.place.dataflow for op in function.body.walk()} == {
        "a": False,
        "b": True,
        "c": True,
        "d": False,
    }
