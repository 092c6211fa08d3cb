"""Accesses on the second side of an `and`, which LLVM carries out in any case, with an index that is loaded along another
axis: what is outside where the first side holds is outside on every target, whatever the loaded index is.
"""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse

TEXT = """
@T.prim_func(private=True, s_tir=True)
def kernel(a: T.handle, b: T.handle, c: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n, 4), "float32")
    p = T.match_buffer(b, (4,), "int64")
    y = T.match_buffer(c, (4,), "float32")
    for i in range(4):
        BODY

@R.function
def main(x: R.Tensor(("n", 4), "float32"), p: R.Tensor((4,), "int64")):
    y = R.call_tir(Module.kernel, (x, p), R.Tensor((4,), "float32"))
    return y
"""
TOGETHER = "if n > 7 and x[{}] > T.float32(0):\n            y[i] = x[0, 0]"
NESTED = "if n > 7:\n            if x[{}] > T.float32(0):\n                y[i] = x[0, 0]"
NOTE = "`kernel` may read outside `x`: whether the first side of an `and` or `or` guards the second depends on the target"
AXIS = "`kernel` may read outside `x` along axis 1"
INSIDE = "`kernel` stays inside its buffers"


@pytest.mark.parametrize(
    ("indices", "together", "nested"),
    [
        ("p[i], i", ("none", INSIDE), ("none", INSIDE)),
        ("p[i], i + 4", ("warning", AXIS), ("warning", AXIS)),
        ("p[i], i - 1", ("warning", AXIS), ("warning", AXIS)),
        ("p[i] % 4, i + 4", ("warning", AXIS), ("warning", AXIS)),
        ("i + 4, i + 4", ("warning", AXIS), ("warning", AXIS)),
        # Inside where the first side holds: a target that does not look at it reads outside.
        ("i + 4, p[i]", ("note", NOTE), ("none", INSIDE)),
        ("i + 4, i", ("note", NOTE), None),
    ],
)
def test_what_is_outside_on_every_target(
    indices: str, together: tuple[str, str], nested: tuple[str, str] | None
) -> None:
    for form, expected in ((TOGETHER, together), (NESTED, nested)):
        found = checks(parse(TEXT.replace("BODY", form.format(indices))), "RLX306")
        assert [(one.severity.value, one.message) for one in found] == ([expected] if expected else []), form
