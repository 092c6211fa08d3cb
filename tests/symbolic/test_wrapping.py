"""Which conditions on 64-bit integers may mean something else than on integers."""

from __future__ import annotations

import pytest
import sympy
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.functions import BitOr, BitXor, FloorDiv, FloorMod, TruncDiv
from relax_lint.symbolic.wrapping import compared_within_int64, may_wrap
from tests.rules.checking import checks, parse

X, Y, N, M = sympy.symbols("x y n m", integer=True)
FREE = frozenset({X, Y})
SMALL = 2**31
EXTENT = 2**40
MOST = 2**63 - 1


@pytest.mark.parametrize(
    ("condition", "plain", "simplified"),
    [
        (X <= 5, False, False),
        (X + 1 <= 5, True, False),
        (sympy.Le(2 * X, 6, evaluate=False), True, False),
        (sympy.Le((SMALL - 1) * X, 5), True, False),
        (sympy.Le(SMALL * X, 5), True, True),
        (sympy.Le(3 * X, SMALL - 1), True, False),
        (sympy.Le(3 * X, SMALL), True, True),
        (sympy.Le(-3 * X, -SMALL), True, True),
        (sympy.Le(X**2, 9), True, True),
        # The analyzer solves what has the symbol on one side.
        (sympy.Gt(X, 2 * X, evaluate=False), True, True),
        (sympy.Le(X + 1, 2 * X, evaluate=False), True, True),
        (sympy.Le(X + Y, 9), True, True),
        (sympy.Le(X * N, 9), True, True),
        (sympy.Le(X, N), False, False),
        (sympy.Le(X, N * N), True, True),
        (sympy.Le(FloorDiv(X, 2), 9), False, False),
        (sympy.Le(FloorDiv(X, 2) * 2, 9), True, True),
        # The smallest number has no opposite.
        (sympy.Le(FloorDiv(X, -1), 9), True, True),
        (sympy.Le(FloorDiv(X, N), 9), False, False),
        (sympy.Le(FloorDiv(X, Y), 9), True, True),
        (sympy.Le(TruncDiv(X, Y), 9), True, True),
        (sympy.Le(FloorDiv(X, -2), 9), False, False),
        (sympy.Le(FloorMod(X, -1), 9), False, False),
        # 2**40 with a bit of each extent below it is almost 2**41.
        (sympy.Le(X, sympy.Mul(3 * 2**21, BitXor(N, M), evaluate=False)), True, True),
        (sympy.Le(X, sympy.Mul(3 * 2**21, BitOr(N, M), evaluate=False)), True, True),
        (sympy.Le(X, sympy.Mul(3 * 2**21, sympy.Max(N, M), evaluate=False)), False, False),
        (sympy.Le(X, BitXor(Y, N)), False, False),
        (sympy.Le(X, 2**N), True, True),
        (sympy.Le(sympy.Max(X, N), 9), False, False),
        (sympy.Le(sympy.Min(X, N) + 1, 9), True, True),
        (sympy.Le(N + N, 9), False, False),
        (sympy.Le(N**4, 9), False, False),
        (sympy.And(X <= 5, X + 1 >= Y), True, True),
        (sympy.And(X <= 5, N**4 >= 5), False, False),
    ],
    ids=str,
)
def test_what_may_leave_64_bits(condition: sympy.Basic, plain: bool, simplified: bool) -> None:
    assert may_wrap(condition, FREE, EXTENT, simplified=False) is plain
    assert may_wrap(condition, FREE, EXTENT, simplified=True) is simplified


@pytest.mark.parametrize(("extent", "wraps"), [(2**31, False), (2**32, True)])
def test_a_product_of_extents_counts_beside_a_free_symbol(extent: int, wraps: bool) -> None:
    assert may_wrap(sympy.Le(X, N**2), FREE, extent, simplified=False) is wraps
    assert may_wrap(sympy.Le(Y, 5) & sympy.Le(N**2, 7), FREE, extent, simplified=False) is False


@pytest.mark.parametrize(("more", "wraps"), [(0, False), (1, True)])
def test_the_ends_themselves_fit(more: int, wraps: bool) -> None:
    assert may_wrap(sympy.Le(X, N + MOST - EXTENT + more), FREE, EXTENT, simplified=False) is wraps
    low = -(2**63) + EXTENT
    assert may_wrap(sympy.Le(X, low - N - more), FREE, EXTENT, simplified=False) is wraps


PRODUCT = """
@R.function(pure=False)
def main(x: R.Tensor(("n", "m", 0), "float32"), s: R.Shape(["k"])) -> R.Shape(ndim=1):
    n = T.int64()
    m = T.int64()
    k = T.int64()
    R.assert_op(k >= T.OPERATION(n, m) * T.int64(6291456), [n], format="too small")
    t = R.memory.alloc_storage(R.shape([4]), 0, "global", "uint8")
    y = R.memory.alloc_tensor(t, 0, R.shape([k, 0]), "float32")
    return R.shape([k])
"""


@pytest.mark.vm
@pytest.mark.parametrize(
    ("operation", "wraps"), [("bitwise_xor", True), ("bitwise_or", True), ("max", False)]
)
def test_bits_of_two_extents_are_more_than_either(operation: str, wraps: bool) -> None:
    """2**40 and 2**40 - 1 have no bit in common: 2**41 - 1 times 6291456 is no int64, 2**40 times that is one."""
    module = parse(PRODUCT.replace("OPERATION", operation))
    (found,) = (check for check in checks(module, "RLX104") if check.binding == "y")
    assert found.verdict is Verdict.ALWAYS_FINE
    assert bool(found.assumes) is wraps
    machine = relax.VirtualMachine(relax.build(module, "llvm", relax_pipeline="default"), tvm.cpu())
    empty = tvm.runtime.empty((2**40, 2**40 - 1, 0))
    if wraps:
        assert list(machine["main"](empty, tvm.runtime.ShapeTuple([-5]))) == [-5]
    else:
        with pytest.raises(AssertionError, match="too small"):
            machine["main"](empty, tvm.runtime.ShapeTuple([-5]))


@pytest.mark.parametrize(
    ("value", "within"),
    [
        (FloorDiv(X + 1, 3), [X + 1]),
        (FloorDiv(FloorDiv(X, 2) + N, 3), []),
        (FloorDiv(FloorDiv(X, 2) + FloorDiv(Y, 2), 3), []),
        (FloorDiv(FloorDiv(X, 2) + Y, 3), [FloorDiv(X, 2) + Y]),
        (FloorMod(2 * FloorDiv(X, 4) + N, 7), []),
        (FloorMod(8 * FloorDiv(X, 4) + N, 7), [8 * FloorDiv(X, 4) + N]),
    ],
    ids=str,
)
def test_what_is_looked_at_must_not_have_wrapped(value: sympy.Expr, within: list[sympy.Expr]) -> None:
    found = compared_within_int64([value], FREE, EXTENT)
    assert {one.lhs if one.lhs.free_symbols else one.rhs for one in found} == set(within)


COMPARISON = """
@R.function(pure=False)
def main(s: R.Shape(["k"])) -> R.Shape(ndim=1):
    k = T.int64()
    R.assert_op(CONDITION, [k], format="no")
    return R.shape([k])
"""


@pytest.mark.vm
@pytest.mark.parametrize(
    ("condition", "k"),
    [("k > k + k", 2**62), ("k + 1 < 2 * k", -(2**62) - 1), ("k + 5 > 3 + 2 * k", 2**62)],
)
def test_a_symbol_on_both_sides_of_a_comparison_is_computed(condition: str, k: int) -> None:
    """The analyzer does not solve it: it holds of a number of which it does not hold without wrapping around."""
    module = parse(COMPARISON.replace("CONDITION", condition))
    machine = relax.VirtualMachine(relax.build(module, "llvm", relax_pipeline="default"), tvm.cpu())
    assert list(machine["main"](tvm.runtime.ShapeTuple([k]))) == [k]
    assert not eval(condition, {"k": k})
    relation = eval(condition, {"k": X})
    assert may_wrap(relation, FREE, EXTENT, simplified=True)
