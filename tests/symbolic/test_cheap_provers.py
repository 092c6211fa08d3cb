"""What is decided without TVM's analyzer and Z3: a claim that needs them where it did not before is a loss."""

from __future__ import annotations

import pytest

from relax_lint.results.verdict import Prover, Verdict
from relax_lint.symbolic.domain import Domain
from relax_lint.symbolic.prover import ProverChain
from tests.symbolic.test_prover import condition, domain


@pytest.mark.parametrize(
    ("claim", "over", "by"),
    [
        ("Max(n, m) <= n + m", domain("nm"), Prover.INTERVAL),
        ("Min(n, m) <= n", domain("nm"), Prover.INTERVAL),
        ("4*Min(n, m) <= 2*n + 2*m", domain("nm"), Prover.INTERVAL),
        ("4*Max(n, 8) <= 4*n + 32", domain("n"), Prover.INTERVAL),
        ("Max(n, m) >= Min(n, m)", domain("nm"), Prover.INTERVAL),
        ("Max(n, m) <= 9", domain("nm", "n <= 9", "m <= 9"), Prover.INTERVAL),
        ("Max(n - m, 0) <= n", domain("nm"), Prover.INTERVAL),
        ("n*m >= 0", domain("nm"), Prover.POLYNOMIAL),
        ("n*n >= n", domain("n"), Prover.POLYNOMIAL),
        ("2*m <= 2*n*m", domain("nm", "n >= 1"), Prover.POLYNOMIAL),
        ("m + 1 <= n + k", domain("nmk", "m < n"), Prover.POLYNOMIAL),
        ("4*m*k <= 4*n*k", domain("nmk", "m < n"), Prover.POLYNOMIAL),
        ("4*n <= 64", domain("n", "2*n <= 32"), Prover.POLYNOMIAL),
        ("4*((n + 3)//4) >= n", domain("n"), Prover.INTERVAL),
        ("4*((n + 3)//4) <= n + 3", domain("n"), Prover.INTERVAL),
        ("n % 4 + 4*(n//4) <= n", domain("n"), Prover.INTERVAL),
        ("m*(n//m) <= n", domain("nm", "m >= 1"), Prover.INTERVAL),
        ("16*k <= n", domain("nk", "Eq(k, n//16)"), Prover.INTERVAL),
        ("TruncDiv(n, 4) <= n", domain("n"), Prover.INTERVAL),
        ("TruncMod(n, 4) <= 3", domain("n"), Prover.INTERVAL),
        ("3*n*m <= n*n*m", domain("nm", "n*n >= 3*n + 7"), Prover.POLYNOMIAL),
    ],
)
def test_it_is_fine_and_cheap(claim: str, over: Domain, by: Prover) -> None:
    decision = ProverChain().decide(condition(claim), over)
    assert (decision.verdict, decision.proof.by) == (Verdict.ALWAYS_FINE, by)


@pytest.mark.parametrize(
    ("claim", "over"),
    [
        ("Max(n, m) <= n + m", domain("nm", free=True)),
        ("4*Max(n, 8) <= 4*n + 31", domain("n")),
        ("Max(n, m) <= 9", domain("nm", "n <= 9", "m <= 10")),
        ("n*m >= 0", domain("nm", free=True)),
        ("2*m <= 2*n*m", domain("nm")),
        ("m + 1 <= n + k", domain("nmk")),
        ("4*((n + 3)//4) <= n + 2", domain("n")),
        ("m*(n//m) <= n - 1", domain("nm", "m >= 1")),
        ("16*k <= n", domain("nk", "Eq(k, (n + 1)//16)")),
        ("TruncMod(n, 4) <= 2", domain("n")),
        ("6*n*m <= n*n*m", domain("nm", "n*n >= 3*n + 7")),
    ],
)
def test_its_neighbour_is_not_fine(claim: str, over: Domain) -> None:
    decision = ProverChain().decide(condition(claim), over)
    assert decision.verdict is Verdict.NEEDS_RUNTIME_CHECK
    assert decision.fine is not None
    assert decision.wrong is not None
