"""Values that have items without an end, given to whatever walks through its arguments."""

from __future__ import annotations

import pytest
import tvm

from relax_lint.sources.endless import with_an_end
from relax_lint.sources.refusal import RefusedError
from tests.attack.channels import module
from tests.attack.trying import Attack, attempt

_KERNEL = (
    '    @T.prim_func(private=True)\n    def kernel(A: T.Buffer((8,), "float32"), n: T.int64):\n        {}\n'
)
# Each of these walks through a value of TVM that Python finds no end in.
IN_THE_BODY = (
    "y = T.Buffer(x, x)",
    "y = T.Buffer([4], 'float32', strides=x)",
    "y = R.shape(x)",
    "y = R.tuple(*x)",
    "y = T.match_buffer(x, x)",
    "a, b = x",
    "y = 1 in x",
    "y = [a for a in x]",
    "y = R.Tensor(x, 'float32')",
    "y = np.array(x)",
    "y = tuple(x)",
)
IN_A_KERNEL = (
    "B = T.Buffer(A, 'float32')",
    "B = T.alloc_buffer(A, 'float32')",
    "B = T.decl_buffer(n, 'float32')",
    "a, b = A",
    "T.reads(*A)",
    "for i, j in T.grid(*n): T.evaluate(i)",
    "T.evaluate(sum(A))",
)
IN_THE_FILE = (
    "T.Buffer(tvm.tir.Var('n', 'int32'))",
    "[a for a in T.float32]",
    "R.shape(te.placeholder((4,)))",
)


def test_each_ends_and_the_rest_is_judged() -> None:
    attacks = [Attack(f"body {text}", module(text).encode()) for text in IN_THE_BODY]
    attacks += [
        Attack(f"kernel {text}", module(members=_KERNEL.format(text)).encode()) for text in IN_A_KERNEL
    ]
    attacks += [
        Attack(f"file {text}", module("y = R.const(N)", before=f"N = {text}\n").encode())
        for text in IN_THE_FILE
    ]
    for name, outcome in attempt(attacks, limit_s=10.0).items():
        assert outcome.failure == "", (name, outcome)
        assert outcome.functions, (name, outcome)
        assert not outcome.events, (name, outcome)


def test_a_walk_has_an_end_and_leaves_nothing_behind() -> None:
    var = tvm.relax.Var("x", tvm.relax.TensorType((4,), "float32"))
    with with_an_end(), with_an_end(), pytest.raises(RefusedError, match="which has no end"):
        list(var)
    assert not hasattr(type(var), "__iter__")
    pair = tvm.relax.Tuple([var, var])
    with with_an_end():
        assert len(list(pair)) == 2


def test_none_in_place_of_an_expression_costs_no_process() -> None:
    wrong = ("T.abs(None)", "T.grid(None)", "R.tuple(None)", "topi.sum(None)", "tvm.tir.ceil(None)")
    calls = (*wrong, "tvm.ir.Range(None)", "I.lookup_vdevice('llvm')", "I.lookup_vdevice('open(1)', 0)")
    attacks = [Attack(f"body {text}", module(f"y = R.const({text})").encode()) for text in calls]
    attacks += [
        Attack(f"file {text}", module('R.func_attr({"a": N})', before=f"N = {text}\n").encode())
        for text in calls
    ]
    for name, outcome in attempt(attacks, limit_s=10.0).items():
        assert outcome.failure == "", (name, outcome)
        assert outcome.functions, (name, outcome)
