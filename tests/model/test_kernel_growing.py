"""Numbers that grow with sizes: quotients of polynomials, which a reader can multiply out."""

from __future__ import annotations

import pytest

from relax_lint.model.kernel_body.growing import Growing, NotOrdered, Whole, divided, growing

N = growing(0, 1)
M = growing(1, 1)


@pytest.mark.parametrize(
    ("quotient", "rest"),
    [(N, 0), (N + 2, 0), (N * N + N * 3, 0), (N * N + N + 5, M - 1), (N * M + N, 0)],
    ids=["one term", "and a number", "two powers", "with a rest below the divisor", "of two sizes"],
)
def test_a_polynomial_is_divided_term_by_term(quotient: Whole, rest: Whole) -> None:
    assert isinstance(M, Growing)
    assert divided(quotient * M + rest, M) == (quotient, quotient)


def test_a_rest_that_may_be_as_large_as_the_divisor_is_not_ordered() -> None:
    with pytest.raises(NotOrdered):
        divided(N * M + N, M)
