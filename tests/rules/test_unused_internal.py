"""RLX313 unused-internal where its page does not reach: buffers that are used through others."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse

MODULE = """
@T.prim_func(private=True, s_tir=True)
def kernel(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (8,), "float32")
    y = T.match_buffer(b, (8,), "float32")
    s = T.alloc_buffer((8,), "float32")
{body}

@R.function
def main(x: R.Tensor((8,), "float32")):
    y = R.call_tir(Module.kernel, (x,), R.Tensor((8,), "float32"))
    return y
"""


@pytest.mark.parametrize(
    ("body", "messages"),
    [
        ("    y[0] = x[0]", ["`s` in `kernel` is never used"]),
        ("    s[0] = x[0]", ["`s` in `kernel` is written and never read"]),
        ("    s[0] = x[0]\n    y[0] = s[0]", []),
        ('    w = T.decl_buffer((8,), "float32", data=s.data)\n    s[0] = x[0]\n    y[0] = w[0]', []),
        (
            '    s[0] = x[0]\n    w = T.decl_buffer((8,), "float32", data=y.data, elem_offset=T.Cast("int32", s[0]))\n'
            "    w[0] = x[0]",
            [],
        ),
        (
            '    s[0] = x[0]\n    with T.sblock("b"):\n        g = T.match_buffer(y[T.Cast("int32", s[0]) : '
            'T.Cast("int32", s[0]) + 2], (2,), "float32", offset_factor=1)\n        g[0] = x[0]',
            [],
        ),
    ],
)
def test_only_what_nothing_reads_is_told(body: str, messages: list[str]) -> None:
    assert [check.message for check in checks(parse(MODULE.format(body=body)), "RLX313")] == messages


def test_each_call_of_each_kernel_is_told() -> None:
    body = '    t = T.alloc_buffer((8,), "float32")\n    s[0] = x[0]\n    y[0] = x[0]'
    kernels = MODULE.format(body=body).replace(
        "    return y", '    z = R.call_tir(Module.kernel, (y,), R.Tensor((8,), "float32"))\n    return z'
    )
    found = checks(parse(kernels), "RLX313")
    assert [(check.binding, check.message.split()[0]) for check in found] == [
        (binding, f"`{buffer}`") for binding in "yz" for buffer in ("s", "t")
    ]
