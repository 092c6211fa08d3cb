"""What every call of a private function satisfies needs no check in it."""

from __future__ import annotations

import pytest

import relax_lint
from relax_lint.replay import Machine, Module, Outcome, Tensor
from relax_lint.replay.modules import load_module
from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict

HEAD = """
from tvm.script import ir as I, relax as R, tirx as T


@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def copy(xh: T.handle, yh: T.handle):
        n = T.int64()
        x = T.match_buffer(xh, (n,), "float32")
        y = T.match_buffer(yh, (n,), "float32")
        for i in range(n):
            with T.sblock("b"):
                v = T.axis.spatial(n, i)
                y[v] = x[v]

    @R.function(private=PRIVATE, pure=False)
    def inner(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        R.func_attr({"num_input": NUMBER})
        s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([n]), R.dtype("float32"))
        Module.copy(x, t)
        return t

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
        n = T.int64()
"""
ASSERTED = 'R.assert_op(n <= T.int64(4), (n,), format="no {}")'
CALL = "z = Module.inner(x, x)"
GUARDED = """c = R.prim_value(n <= T.int64(4))
if c:
    w = Module.inner(x, x)
    z = w
else:
    z = x"""
CLAIMED = 'w = R.call_packed("f", x, ty_args=R.Tensor((4,), "float32"))'


def _text(body: str, *, private: bool = True, number: int = 2) -> str:
    lines = "".join(f"        {line}\n" for line in [*body.splitlines(), "return z"])
    return HEAD.replace("PRIVATE", str(private)).replace("NUMBER", str(number)) + lines


def _overflow(text: str) -> Check:
    (check,) = (c for c in relax_lint.check(load_module(text, "script")).checks if c.rule == "RLX101")
    return check


@pytest.mark.parametrize(
    ("body", "number"),
    [
        (f"{ASSERTED}\n{CALL}", 2),
        (f"{ASSERTED}\n{CALL}\nu = Module.inner(y, y)", 2),
        (GUARDED, 2),
        ('w = R.match_cast(x, R.Tensor((3,), "float32"))\nz = Module.inner(w, w)', 2),
        # What comes after `num_input` is not compared with the symbol that the first one defines.
        (f"{ASSERTED}\n{CLAIMED}\nz = Module.inner(x, w)", 1),
    ],
)
def test_what_all_calls_satisfy_is_fine(body: str, number: int) -> None:
    text = _text(body, number=number)
    check = _overflow(text)
    assert (check.verdict, check.assumes) == (Verdict.ALWAYS_FINE, ())
    assert check.proof.startswith("holds in the ")
    module = load_module(text, "script")
    assert relax_lint.fix(module).same_as(module)


@pytest.mark.parametrize(
    ("body", "private"),
    [
        (CALL, True),
        # The assertion comes too late, or concerns one of two calls.
        (f"{CALL}\n{ASSERTED}", True),
        (f"u = Module.inner(y, y)\n{ASSERTED}\n{CALL}", True),
        (f"{ASSERTED}\n{CALL}", False),
        # Nobody checks the type of what a packed function returns.
        (f"{CLAIMED}\nz = Module.inner(w, w)", True),
    ],
)
def test_what_a_call_may_not_satisfy_needs_its_check(body: str, private: bool) -> None:
    check = _overflow(_text(body, private=private))
    assert (check.verdict, check.safe_when) == (Verdict.NEEDS_RUNTIME_CHECK, "n <= 4")


def test_a_bound_that_a_caller_declares_is_assumed() -> None:
    check = _overflow(_text(f'R.func_attr({{"tir_var_upper_bound": {{"n": 4}}}})\n{CALL}'))
    assert check.verdict is Verdict.ALWAYS_FINE
    assert check.assumes == ("n <= 4 (tir_var_upper_bound, not enforced)",)


def test_a_cast_to_a_known_symbol_is_assumed_to_be_checked() -> None:
    # `CanonicalizeBindings` may take the cast for the definition of the symbol: `w` has the extents of `y` then.
    symbols = (
        'R.assert_op(n <= T.int64(4), (n,), format="no {}")\nw = R.match_cast(y, R.Tensor((n,), "float32"))'
    )
    text = _text(f"{symbols}\nz = Module.inner(w, w)").replace(
        'def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):\n',
        'def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("k",), "float32")):\n        k = T.int64()\n',
    )
    check = _overflow(text)
    assert check.verdict is Verdict.ALWAYS_FINE
    assert check.assumes == ("n == k (match_cast to `w`, which TVM may leave unchecked)",)


def test_an_allocator_fails_where_a_call_leads_to_it() -> None:
    check = _overflow(_text(f'w = R.match_cast(x, R.Tensor((5,), "float32"))\n{CALL.replace("x", "w")}'))
    found = {name: failure.first_failure for name, failure in check.allocators.items()}
    assert found == {"naive": {"n": 5}, "pooled": None}


@pytest.mark.vm
@pytest.mark.parametrize("body", [f"{ASSERTED}\n{CALL}", GUARDED])
def test_the_machine_agrees(body: str) -> None:
    with Machine() as machine:
        for length in (0, 4, 5):
            x = Tensor("float32", (length,))
            run = machine.run(Module(_text(body)), "main", (x, x), allocator="naive")
            stopped = run.error_type == "AssertionError"
            assert stopped == (length == 5 and body != GUARDED)
            assert stopped or run.outcome is Outcome.OK
