"""RLX206: what an in-place call stores is what was there, or is restored before somebody reads it by an older name."""

from __future__ import annotations

from textwrap import indent

import pytest

from relax_lint.replay import Machine, Module, Tensor
from tests.rules.any_size import of_any_size, of_size
from tests.rules.checking import checks, parse

KERNEL = """
@T.prim_func(private=True)
def {name}(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = {value}
"""
VALUES = {
    "same": "x[i] * T.float32(1)",
    "twice": "x[i] * T.float32(2)",
    "more": "x[i] + T.float32(1)",
    "less": "x[i] - T.float32(1)",
    "relu": "T.max(x[i], T.float32(0))",
    "zero": "T.float32(0)",
}
KERNELS = "".join(KERNEL.format(name=name, value=value) for name, value in VALUES.items())
FUNCTION = """
@R.function(pure=False)
def main{number}(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
    a = R.{first}
{body}
    y = R.add(a, {last})
    return y
"""
# What is computed first, the kernels that overwrite it one after the other, and whether it is right then.
CASES = [
    ("add(x, x)", ("same",), True),
    ("add(x, x)", ("twice",), False),
    ("nn.relu(x)", ("relu",), True),
    ("negative(x)", ("relu",), False),
    ("subtract(x, x)", ("zero",), True),
    ("add(x, x)", ("zero",), False),
    ("add(x, x)", ("more", "less"), True),
    ("add(x, x)", ("more", "more"), False),
    ("add(x, x)", ("more", "less", "same"), True),
    ("add(x, x)", ("same", "same", "more"), False),
]
SIZES = {"4": of_size(4), "1000": of_size(1_000), "n": of_any_size}


def _text(*, in_place: bool = True) -> str:
    functions = []
    for number, (first, names, _) in enumerate(CASES):
        # Apart from each other the same kernels work on copies.
        lines = [
            f"r{at} = R.call_tir_inplace(Module.{name}, ({f'r{at - 1}' if at else 'a'},), inplace_indices=[0], "
            "out_ty=[R.Tensor((4,), 'float32')])"
            for at, name in enumerate(names)
        ]
        if not in_place:
            lines = [
                line
                for at, name in enumerate(names)
                for line in (
                    f"k{at} = R.add({f'r{at - 1}' if at else 'a'}, R.const(0.0, 'float32'))",
                    f"r{at} = R.call_tir_inplace(Module.{name}, (k{at},), inplace_indices=[0], "
                    "out_ty=[R.Tensor((4,), 'float32')])",
                )
            ]
        body = indent("\n".join(lines), "    ")
        functions.append(FUNCTION.format(number=number, first=first, body=body, last=f"r{len(names) - 1}"))
    return KERNELS + "".join(functions)


@pytest.mark.parametrize("size", SIZES)
def test_what_holds_the_same_may_be_read(size: str) -> None:
    found = checks(parse(SIZES[size](_text())), "RLX206")
    for number, (first, names, is_right) in enumerate(CASES):
        told = [
            one for one in found if one.function == f"main{number}" and one.verdict.value != "always-fine"
        ]
        # Without elements all is right.
        is_sure = [one.verdict.value == "always-wrong" or one.safe_when == "n <= 0" for one in told]
        assert told
        assert any(is_sure) is not is_right, (first, names)


@pytest.mark.vm
@pytest.mark.parametrize("size", SIZES)
def test_the_machine_computes_the_same_for_these_only(size: str) -> None:
    head = "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:\n"
    one, other = (
        Module(head + indent(SIZES[size](_text(in_place=in_place)), "    ")) for in_place in (True, False)
    )
    count = 4 if size == "4" else 1_000
    inputs = [Tensor("float32", (count,), 3), Tensor("bool", (), 1)]
    with Machine() as machine:
        for number, (first, names, is_right) in enumerate(CASES):
            found = [machine.run(module, f"main{number}", inputs).digest for module in (one, other)]
            assert (found[0] == found[1]) is is_right, (first, names)
