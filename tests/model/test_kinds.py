"""The operations of some kinds, which most questions are about, without a look at all others."""

from __future__ import annotations

import pytest

from relax_lint.model.operations import Alias, AllocTensor, Block, If, KernelCall, Kill, Op
from tests.model.test_builder import main_of, module

BRANCHES = """
if c:
    y = R.add(x, x)
    z = R.add(y, x)
else:
    y = R.multiply(x, x)
    z = R.add(y, y)
w = R.add(z, x)
v = w
u = R.add(v, x)
return u
"""


@pytest.fixture
def body() -> Block:
    return main_of(module('x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")', BRANCHES)).body


@pytest.mark.parametrize(
    "kinds", [(KernelCall,), (If, KernelCall), (KernelCall, Alias, If), (AllocTensor, Kill)]
)
def test_operations_of_some_kinds_are_in_the_order_of_all(body: Block, kinds: tuple[type[Op], ...]) -> None:
    assert body.of(*kinds) == tuple(op for op in body.walk() if isinstance(op, kinds))


def test_there_are_operations_of_all_three_kinds(body: Block) -> None:
    assert [len(body.of(kind)) for kind in (KernelCall, Alias, If)] == [6, 1, 1]


def test_what_was_asked_once_is_kept(body: Block) -> None:
    assert body.of(KernelCall, If) is body.of(KernelCall, If)
