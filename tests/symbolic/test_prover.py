"""Verdicts, regions, examples and assumptions that can be checked by hand."""

from __future__ import annotations

import pytest
import sympy

from relax_lint.results.verdict import Prover, Verdict
from relax_lint.symbolic.decision import FailureStatus, FirstFailure
from relax_lint.symbolic.domain import Domain, Fact, FactKind
from relax_lint.symbolic.parsing import parse_condition
from relax_lint.symbolic.printing import condition_text
from relax_lint.symbolic.prover import ProverChain
from relax_lint.vm.facts import FactSource

SYMBOLS = {name: sympy.Symbol(name, integer=True) for name in "nmkx"}
FINE, WRONG, CHECK = Verdict.ALWAYS_FINE, Verdict.ALWAYS_WRONG, Verdict.NEEDS_RUNTIME_CHECK


def condition(text: str) -> sympy.Basic:
    return parse_condition(text, SYMBOLS)


def domain(names: str, *facts: str, assumed: tuple[str, ...] = (), free: bool = False) -> Domain:
    """Extents `names` with enforced and assumed facts; free ones may be any int64."""
    known = []
    if not free:
        for name in names:
            known.append(Fact(SYMBOLS[name] >= 0, FactKind.ENFORCED, f"{name} >= 0"))
            known.append(Fact(SYMBOLS[name] <= 2**40, FactKind.GLOBAL, "max-extent"))
    known += [Fact(condition(t), FactKind.ENFORCED, t) for t in facts]
    known += [Fact(condition(t), FactKind.ASSUMED, t) for t in assumed]
    symbols = tuple(SYMBOLS[name] for name in names)
    return Domain(symbols, tuple(known), frozenset(symbols) if free else frozenset())


@pytest.mark.parametrize(
    ("claim", "over", "verdict"),
    [
        ("16 <= 16", domain(""), FINE),
        ("17 <= 16", domain(""), WRONG),
        ("4*m*n <= 4*n*m", domain("mn"), FINE),
        ("4*(m + 1)*n <= 4*m*n + 4*n", domain("mn"), FINE),
        ("4*n <= 16384", domain("n", "n <= 4096"), FINE),
        ("4*n <= 16384", domain("n", "n <= 4097"), CHECK),
        ("n <= 3", domain("n", "n >= 4"), WRONG),
        ("8388608*n <= 2**63 - 1", domain("n"), CHECK),
        ("4194304*n <= 2**63 - 1", domain("n"), FINE),
        ("4*Min(n, 64) <= 256", domain("n"), FINE),
        ("4*Min(n, 64) <= 255", domain("n"), CHECK),
        ("n <= 4096*((n + 4095)//4096)", domain("n"), FINE),
        ("4096*((n + 4095)//4096) <= n + 4095", domain("n"), FINE),
        ("4096*((n + 4095)//4096) <= n + 4094", domain("n"), CHECK),
        ("n % 4 <= 3", domain("n", free=True), FINE),
        ("TruncMod(n, 4) >= 0", domain("n", free=True), CHECK),
        ("TruncMod(n, 4) >= 0", domain("n"), FINE),
        ("4*(n//4) >= n", domain("n", "n % 4 == 0"), FINE),
        ("4*m*k <= 4*n*k", domain("mnk", "m < n"), FINE),
        ("m <= n", domain("mn", "(m < n) | Eq(m, n)"), FINE),
        ("m <= 2047", domain("mn", "m < n", "n <= 2048"), FINE),
        ("n <= 16", domain("kn", "Eq(4*k, n)", "k <= 4"), FINE),
        ("n <= 15", domain("kn", "Eq(4*k, n)", "n <= 18"), CHECK),
        ("n <= 16", domain("kn", "Eq(4*k, n)", "n <= 18"), FINE),
        ("n**2 >= 2*n - 1", domain("n", free=True), FINE),
        ("n**2 <= 2*n - 2", domain("n", free=True), WRONG),
        ("m*(n//m) <= n", domain("nm", "m >= 1"), FINE),
        ("n <= 2**63 - 1", domain("n", free=True), FINE),
    ],
)
def test_verdict(claim: str, over: Domain, verdict: Verdict) -> None:
    decision = ProverChain().decide(condition(claim), over)
    assert decision.reachable
    assert decision.verdict is verdict


@pytest.mark.parametrize(
    ("claim", "over", "prover"),
    [
        ("4*m*n <= 4*n*m", domain("mn"), Prover.CONSTANT),
        ("4*(m + 1)*n <= 4*m*n + 4*n", domain("mn"), Prover.POLYNOMIAL),
        ("n**2 >= 2*n - 1", domain("n", free=True), Prover.POLYNOMIAL),
        ("4*Min(n, 64) <= 256", domain("n"), Prover.INTERVAL),
        ("m <= n", domain("mn", "(m < n) | Eq(m, n)"), Prover.Z3),
    ],
)
def test_the_cheapest_prover_decides_and_is_counted(claim: str, over: Domain, prover: Prover) -> None:
    chain = ProverChain()
    assert chain.decide(condition(claim), over).proof.by is prover
    chain.decide(condition(claim), over)
    assert chain.decisions == {prover: 2}


@pytest.mark.parametrize(
    ("claim", "over", "region"),
    [
        ("4*m <= 16", domain("m"), "m <= 4"),
        ("4*m <= 19", domain("m"), "m <= 4"),
        ("4*m*n <= 16", domain("mn"), "m*n <= 4"),
        ("n - 17 >= 0", domain("n"), "n >= 17"),
        ("(n >= 0) & (n <= 30)", domain("n"), "n <= 30"),
        ("(n >= 17) & (n <= 30)", domain("n"), "(n >= 17) & (n <= 30)"),
        ("n*(n - 10) >= 0", domain("n"), "(n <= 0) | (n >= 10)"),
        ("Ne(n, 5)", domain("n"), "Ne(n, 5)"),
        ("Eq(2*n, 10)", domain("n"), "Eq(n, 5)"),
        ("(4*n + 7)//8 <= 100", domain("n"), "n <= 200"),
        ("64*((n + 15)//16) <= 256", domain("n"), "n <= 64"),
        ("16*m + 4*n <= 256", domain("mn"), "4*m + n <= 64"),
        ("4*m + 4*n + 3 <= 16 + 8*k", domain("mnk"), "m + n <= 2*k + 3"),
        ("(4*m*n <= 16) & (m >= 0)", domain("mn"), "m*n <= 4"),
        ("2*n <= 12", domain("kn", "Eq(4*k, n)"), "n <= 6"),
        # A declared bound may be violated at run time: the region must not lean on it.
        ("(4*n <= 100) & (n <= 50)", domain("n", assumed=("n <= 40",)), "n <= 25"),
    ],
)
def test_safe_region(claim: str, over: Domain, region: str) -> None:
    decision = ProverChain().decide(condition(claim), over)
    assert decision.safe_when is not None
    assert decision.safe_when == condition(region), condition_text(decision.safe_when)


def test_a_bound_that_a_check_has_enforced_is_no_assumption_of_a_mixed_verdict() -> None:
    claim = condition("8*n >= 128")
    believed = ProverChain().decide(claim, domain("n", assumed=("n <= 20",)))
    checked = ProverChain().decide(claim, domain("n", "n < 21", assumed=("n <= 20",)))
    stricter = ProverChain().decide(claim, domain("n", "n <= 24", assumed=("n <= 20",)))
    assert all(decision.mixed for decision in (believed, checked, stricter))
    assert [fact.text for fact in believed.assumptions] == ["n <= 20"]
    assert checked.assumptions == ()
    assert [fact.text for fact in stricter.assumptions] == ["n <= 20"]


def test_a_region_does_not_lean_on_a_declared_bound() -> None:
    over = domain("mn", assumed=("m <= 3",))
    decision = ProverChain().decide(condition("(n <= 7) & (m <= 5)"), over)
    assert decision.safe_when == condition("(n <= 7) & (m <= 5)")


@pytest.mark.parametrize(
    ("claim", "over", "fine", "wrong"),
    [
        ("4*m <= 16", domain("m"), {"m": 4}, {"m": 5}),
        ("n >= 17", domain("n"), {"n": 17}, {"n": 0}),
        ("n >= 17", domain("n", "n <= 99"), {"n": 99}, {"n": 0}),
        ("4*n <= 64", domain("n", "n % 3 == 0"), {"n": 15}, {"n": 18}),
        ("4*n <= 16", domain("kn", "Eq(4*k, n)"), {"k": 1, "n": 4}, {"k": 2, "n": 8}),
        ("m*n <= 4", domain("mn"), {"m": 0, "n": 0}, {"m": 2, "n": 3}),
        ("n >= 0", domain("n", free=True), {"n": 0}, {"n": -1}),
    ],
)
def test_examples(claim: str, over: Domain, fine: dict[str, int], wrong: dict[str, int]) -> None:
    decision = ProverChain().decide(condition(claim), over)
    assert decision.mixed
    assert decision.fine == fine
    assert decision.wrong == wrong
    assert list(decision.fine or ()) == list(fine)


def test_symbols_that_are_not_connected_do_not_occur_in_examples() -> None:
    decision = ProverChain().decide(condition("4*m <= 16"), domain("mnk", "n < k"))
    assert decision.wrong == {"m": 5}


@pytest.mark.parametrize(
    ("claim", "over", "needed"),
    [
        ("4*n <= 400", domain("n", assumed=("n <= 100",)), ["n <= 100"]),
        ("4*n <= 400", domain("n", "n <= 99", assumed=("n <= 100",)), []),
        ("4*n <= 400", domain("n", assumed=("n <= 100", "n <= 50")), ["n <= 50"]),
        ("n + m <= 20", domain("nmk", assumed=("n <= 10", "k <= 3", "m <= 10")), ["n <= 10", "m <= 10"]),
        ("n <= 2**40", domain("n", assumed=("n <= 10",)), []),
        ("n <= 3", domain("n", assumed=("n >= 4", "n <= 9")), ["n >= 4"]),
        ("n <= 5", domain("nm", assumed=("n <= 9", "m <= 9")), ["n <= 9"]),
    ],
)
def test_assumptions(claim: str, over: Domain, needed: list[str]) -> None:
    decision = ProverChain().decide(condition(claim), over)
    assert [fact.text for fact in decision.assumptions] == needed


@pytest.mark.parametrize(
    ("over", "needed"),
    [
        (domain("n", "n >= 5", "n <= 4"), []),
        (domain("nm", "m < n", "n < m"), []),
        (domain("nm", "n % 2 == 1", "Eq(2*m, n)"), []),
        (domain("n", "n >= 5", assumed=("n <= 9", "n <= 4")), ["n <= 4"]),
        (domain("nm", "m >= 5", "m <= 4"), []),
    ],
)
def test_an_empty_domain_is_recognised(over: Domain, needed: list[str]) -> None:
    chain = ProverChain()
    decision = chain.decide(condition("n <= 3"), over)
    assert not decision.reachable
    assert decision.verdict is FINE
    assert [fact.text for fact in decision.assumptions] == needed
    assert chain.is_empty(over)
    assert chain.satisfiable(over) is None


def test_a_member_satisfies_every_fact() -> None:
    over = domain("kn", "Eq(4*k, n)", "n >= 9")
    assert ProverChain().satisfiable(over) == {"k": 3, "n": 12}


def test_a_divisor_that_may_be_zero_leaves_the_claim_undecided() -> None:
    decision = ProverChain().decide(condition("m*(n//m) <= n"), domain("nm"))
    assert decision.verdict is CHECK
    assert decision.proof.by is Prover.UNDECIDED
    assert "zero" in decision.proof.detail


def test_always_wrong_names_a_member() -> None:
    decision = ProverChain().decide(condition("n <= 3"), domain("n", "n >= 4"))
    assert decision.wrong == {"n": 4}


def test_entails() -> None:
    chain = ProverChain()
    over = domain("n", assumed=("n <= 100",))
    assert chain.entails(over, condition("n <= 100"))
    assert not chain.entails(over, condition("n <= 99"))
    assert not chain.entails(over.without(FactKind.ASSUMED), condition("n <= 100"))


FAILS, NEVER = FailureStatus.FAILS, FailureStatus.NEVER


@pytest.mark.parametrize(
    ("claim", "over", "expected"),
    [
        ("4*m <= 16", domain("m"), FirstFailure(FAILS, {"m": 5})),
        ("4*m <= 4096", domain("m"), FirstFailure(FAILS, {"m": 1025})),
        ("4*n <= 400", domain("n", assumed=("n <= 50",)), FirstFailure(FAILS, {"n": 101})),
        ("4*n <= 400", domain("n", "n <= 100"), FirstFailure(NEVER)),
        ("n <= 2**40", domain("n"), FirstFailure(NEVER)),
        ("n >= 0", domain("n", free=True), FirstFailure(NEVER)),
        # 4*m*n > 16 first at the sum 5: (1, 4) is 16, (2, 3) is 24.
        ("4*m*n <= 16", domain("mn"), FirstFailure(FAILS, {"m": 2, "n": 3})),
        # m*n > 2**18 with the smallest sum: 512*512 is not enough; the sum 1025 reaches 512*513 and, first, 490*535.
        ("4*m*n <= 2**20", domain("mn"), FirstFailure(FAILS, {"m": 490, "n": 535})),
        ("n <= 2**20", domain("n", "n % 4096 == 5"), FirstFailure(FAILS, {"n": 2**20 + 5})),
        ("17 <= 16", domain(""), FirstFailure(FAILS, {})),
    ],
)
def test_first_failure(claim: str, over: Domain, expected: FirstFailure) -> None:
    assert ProverChain().first_failure(condition(claim), over) == expected


def _guessing(*conditions: str) -> Domain:
    """Free `n`, with conditions that are only guessed to hold."""
    guesses = (Fact.of(FactSource.WRAPPING, condition(text), text) for text in conditions)
    return domain("n", free=True).with_facts(guesses)


@pytest.mark.parametrize(
    ("guess", "expected"),
    [
        ("n//3 >= 2", FirstFailure(FAILS, {"n": 6})),
        # Only what refutes the guess, if anything, fails.
        ("n <= 0", FirstFailure(FailureStatus.UNKNOWN)),
        # What contradicts itself may refuse every input on the way.
        ("2*n == 1", FirstFailure(FailureStatus.UNKNOWN)),
    ],
)
def test_a_first_failure_keeps_what_is_guessed_of_the_machine(guess: str, expected: FirstFailure) -> None:
    assert ProverChain().first_failure(condition("n <= 0"), _guessing(guess)) == expected


def test_the_page_slack_of_the_pooled_allocator() -> None:
    """Storage of 4*n bytes in pages of 4096, tensor of 8*n bytes: it is too small from n = 513 on."""
    claim = condition("8*n <= 4096*((4*n + 4095)//4096)")
    first = ProverChain().first_failure(claim, domain("n"))
    assert first == FirstFailure(FAILS, {"n": 513})


def test_renamed_questions_are_answered_alike() -> None:
    chain = ProverChain()
    n, m = SYMBOLS["n"], SYMBOLS["m"]
    a = chain.decide(condition("4*n <= 16"), domain("n", assumed=("n <= 9",)))
    b = chain.decide(condition("4*m <= 16"), domain("m", assumed=("m <= 9",)))
    assert (a.fine, b.fine) == ({"n": 4}, {"m": 4})
    assert (a.safe_when, b.safe_when) == (n <= 4, m <= 4)
    assert [fact.text for fact in b.assumptions] == ["m <= 9"]


def test_constants_beyond_64_bits_are_exact() -> None:
    chain = ProverChain()
    over = domain("mn", "m <= n")
    assert chain.decide(condition("m*2**60*2**20 <= n*2**60*2**20"), over).verdict is FINE
    assert chain.decide(condition("m*2**60*2**20 <= n*2**60*2**20 - 1"), over).verdict is CHECK


def test_two_chains_give_the_same_answers() -> None:
    questions = [("4*m*n*k <= 2**31", domain("mnk")), ("m <= n", domain("mn", "(m < n) | Eq(m, n)"))]
    first, second = ProverChain(), ProverChain()
    for claim, over in questions:
        assert first.decide(condition(claim), over) == second.decide(condition(claim), over)


def test_a_constant_fact_that_is_false_empties_the_domain() -> None:
    over = domain("n", assumed=("4 <= 3",))
    decision = ProverChain().decide(condition("n <= 3"), over)
    assert not decision.reachable
    assert [fact.text for fact in decision.assumptions] == ["4 <= 3"]


@pytest.mark.parametrize(
    ("claim", "over", "detail"),
    [
        ("16 <= 16", domain(""), "constants evaluated as integers"),
        ("17 <= 16", domain(""), "constants evaluated as integers"),
        (
            "4*n <= 16384",
            domain("n", "n <= 4096"),
            "4*n <= 16384 always holds: polynomial normal form under the facts",
        ),
        ("n <= 3", domain("n", "n >= 4"), "n <= 3 never holds: polynomial normal form under the facts"),
        ("n <= 3", domain("n"), "evaluated: fine at n = 3, wrong at n = 4"),
        ("n <= 3", domain("n", "n >= 4", "n <= 2"), "no admissible assignment reaches it"),
    ],
)
def test_a_proof_says_how(claim: str, over: Domain, detail: str) -> None:
    assert ProverChain().decide(condition(claim), over).proof.detail == detail


def test_what_no_prover_reads_is_undecided() -> None:
    """It is true of all sizes."""
    decision = ProverChain().decide(sympy.Pow(2, SYMBOLS["n"]) >= 1, domain("n"))
    assert decision.verdict is CHECK
    assert decision.proof.detail == "the condition uses an operation that no prover supports"
